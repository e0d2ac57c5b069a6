"""The administration's first page: what is asked, what came of it, how long it took, what it cost, what is lacking."""

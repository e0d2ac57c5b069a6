"""Sign-in, tokens, limits on guessing either, and streams that end with the access that opened them."""

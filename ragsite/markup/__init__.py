"""Mathematics and code highlighting in answers and documents."""

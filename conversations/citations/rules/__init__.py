"""The rules by which a claim is held against its passages, a family a file. Pure."""

"""Loading question sets and corpora from files."""

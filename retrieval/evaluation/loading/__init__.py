"""Question sets and corpora read from files."""

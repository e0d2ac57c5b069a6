"""Turns elements into chunks, folding small sections and keeping sentences whole. Pure, without Django."""

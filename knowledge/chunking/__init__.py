"""Elements to chunks: sections folded, sentences kept whole. Pure, no Django."""

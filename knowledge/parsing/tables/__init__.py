"""Tables of all formats: their layout, headers, groups of rows, and those of a sheet."""

"""Office files from before 2007, which LibreOffice converts to newer formats."""

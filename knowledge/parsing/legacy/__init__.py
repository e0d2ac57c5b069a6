"""Office files of before 2007: LibreOffice makes them new ones."""

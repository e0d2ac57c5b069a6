"""OpenDocument: texts, workbooks and presentations."""

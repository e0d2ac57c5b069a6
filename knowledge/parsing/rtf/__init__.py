"""Rich text (rtf)."""

"""What the pages of all apps share."""

"""What people may use of the site: questions a day, tokens a month, storage."""

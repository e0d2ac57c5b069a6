"""What the site holds of a person: to take along, and to be gone."""

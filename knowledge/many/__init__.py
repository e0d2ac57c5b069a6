"""Many documents at once: choosing among them, doing one thing to all of them, and uploads of many files."""

"""Makes the bundled models again, and better: see README.md beside this file."""

"""Build and train the bundled models; see README.md in this folder."""

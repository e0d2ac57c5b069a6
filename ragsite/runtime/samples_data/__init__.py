"""The sample documents, and the script that writes them."""

"""What the site remembers of a person beyond one conversation: the facts that they told it to remember."""

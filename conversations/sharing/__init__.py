"""How a chat leaves the site: links, what they leave out, exports."""

"""Pages and sockets of the chat."""

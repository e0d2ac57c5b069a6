"""What a model streams: server-sent events, replies, thinking, broken characters."""

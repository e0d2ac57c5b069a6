"""What a question asks for: what it needs of the conversation, what to do with it, what to search for."""

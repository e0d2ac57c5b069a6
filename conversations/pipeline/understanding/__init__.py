"""Understanding a question: what it needs from the conversation, what to do with it, what to search for."""

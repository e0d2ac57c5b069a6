"""How answers should be written, as assistants, users and chats ask for it."""

"""What a chat is asked of, on its page: the files put into it, and the choice of bases, documents, tags and fields."""

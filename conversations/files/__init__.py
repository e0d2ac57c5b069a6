"""Files that belong to one chat: put in, read, removed, kept in a knowledge base."""

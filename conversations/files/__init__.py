"""Files attached to a chat: adding, processing, removing, and moving them to a knowledge base."""

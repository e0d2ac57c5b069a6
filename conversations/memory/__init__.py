"""What is remembered: facts that people asked to be kept, summaries of conversations, earlier turns like a question."""

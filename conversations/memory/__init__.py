"""Memory: facts that users asked the site to remember, summaries of chats, and earlier turns similar to a question."""

"""Sharing chats: links, exports, and the withholding of unreadable sources."""

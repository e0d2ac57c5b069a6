"""What a chat holds for its owner: an answer that they have not seen, and text that they have not sent."""

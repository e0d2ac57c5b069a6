"""Sign-in, tokens, limits on guessing either, and the closing of streams whose access has been revoked."""

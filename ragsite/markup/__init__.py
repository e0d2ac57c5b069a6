"""What texts hold beside words, in answers and in documents alike: mathematics, and code in colours."""

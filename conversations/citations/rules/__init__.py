"""The rules that compare a claim with its passages, one family per module. Pure."""

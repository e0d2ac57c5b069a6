"""Connecting a model: its address, the choice of models and purposes, a test, and saving the profiles."""

"""Tests of many documents at once."""

"""Tests of assistants: configuration, access, answering, export and import."""

"""Streams under load: a provider, its readers and the web process, each in a separate process on this machine."""

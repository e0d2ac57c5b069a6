"""Streams under load: a provider, its readers and the web process, each in a process of its own on this machine."""

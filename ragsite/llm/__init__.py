"""The ground everything stands on: clients for chat and embedding models. It imports no app."""

"""What a model is sent, and which model: templates and their versions, composing within a window, endpoints."""

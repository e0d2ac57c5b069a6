"""Knowledge bases and documents for programs."""

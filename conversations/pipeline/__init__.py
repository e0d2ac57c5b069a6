"""One question's way through a graph of nodes: `graph` runs them, `state` is what they share."""

"""The pipeline that answers a question: `graph` runs its nodes, `state` holds the data they share."""

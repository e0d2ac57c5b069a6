"""The admin's first page: questions, their outcomes, latency, costs and missing documents."""

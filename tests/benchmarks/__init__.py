"""The benchmarks, an app of the tests that sites don't include."""

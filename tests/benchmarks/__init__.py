"""Benchmarks, an app of the tests': no site ships them."""

"""Commands of the benchmarks."""

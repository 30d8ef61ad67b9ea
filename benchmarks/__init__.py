"""How fast it is, beside others who do the same: `python -m benchmarks [name …]`."""

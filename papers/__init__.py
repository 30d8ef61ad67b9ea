"""The papers' experiments: what they reported as data, beside what we measure; `results/` holds measured figures."""

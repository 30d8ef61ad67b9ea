"""The search for a discrete machine that does what the rounded network does."""

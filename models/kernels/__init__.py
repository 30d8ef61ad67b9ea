"""Whole words at once, with gradients derived by hand: what makes training fast."""

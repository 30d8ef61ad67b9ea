"""The discrete mathematics: pushdown automata as values, and functions on them. numpy only, no torch."""

"""Pure functions from a trace or an automaton to a figure, a table or a page."""

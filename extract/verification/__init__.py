"""Checks of an automaton against its network and what it should do, on words."""

"""Interchange experiments: whether an automaton's states and stack symbols are what a network computes with."""

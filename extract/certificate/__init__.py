"""Certificates: a proof by boxes that the rounded network follows an automaton on words of every length."""

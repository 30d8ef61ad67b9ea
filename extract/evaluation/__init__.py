"""Numbers on words: who is right on which, and what the claims on an automaton rest on."""

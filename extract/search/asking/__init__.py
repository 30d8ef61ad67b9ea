"""Learning an automaton by asking: the network is a black box that answers words (AALpy's learners)."""

"""Learning an automaton from what a rounded network does, with no look at its hidden vectors."""

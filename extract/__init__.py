"""From a network to an automaton: quantise, explore, minimise, verify, report."""

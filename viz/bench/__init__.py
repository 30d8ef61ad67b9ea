"""One word on the workbench, as plain data: what the network does at every step, what it should do, the automaton."""

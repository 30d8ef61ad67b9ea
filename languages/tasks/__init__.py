"""The tasks of the papers: what a network should say after every symbol of a word, and where that counts."""

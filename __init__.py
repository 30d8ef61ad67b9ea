"""Marks the rooms as one package, for tools that read imports; what is installed is `src/stacklens`."""

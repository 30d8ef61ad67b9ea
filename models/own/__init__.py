"""Networks of one's own: any module, or any function, as a network that everything in stacklens takes."""

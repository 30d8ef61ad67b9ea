"""How networks are trained: recipes as data, and loops over many networks at once."""

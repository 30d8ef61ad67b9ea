"""How networks are trained: one loop, the kinds of training that go through it, and recipes as data."""

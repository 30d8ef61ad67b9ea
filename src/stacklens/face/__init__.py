"""The public face: what a day's work with stacklens calls, with names wherever a network, language or task is wanted.

Everything is imported when it is called, so that ``import stacklens`` stays light.
"""

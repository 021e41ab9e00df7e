"""Papertape in Python: papertape.env is its trading environment as Gymnasium environments."""

"""Papertape in Python: papertape.env is its trading environment as Gymnasium environments, papertape.strategy is for
strategies of your own, each a process."""

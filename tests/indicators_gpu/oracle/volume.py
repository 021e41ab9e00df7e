"""Volume: see rows.py for what a family gives."""

ROWS = {}
SPECS = []
FIXTURES = []
ABSOLUTE = {}

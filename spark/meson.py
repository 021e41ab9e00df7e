"""Meson on the folder above, for pyproject.toml: this package is a room of that project."""

import os
import sys

from mesonbuild import mesonmain

HERE = os.path.dirname(os.path.abspath(__file__))

if __name__ == "__main__":
    sys.argv[1:] = [os.path.dirname(HERE) if os.path.abspath(word) == HERE else word for word in sys.argv[1:]]
    sys.exit(mesonmain.main())

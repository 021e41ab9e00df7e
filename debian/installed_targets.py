#!/usr/bin/env python3
"""Of `meson introspect --targets BUILD`, the outputs that are installed, as ninja names them."""
import json
import os
import sys

targets = json.load(sys.stdin)
root = os.path.realpath(sys.argv[1])
for target in targets:
    if target["installed"]:
        for output in target["filename"]:
            print(os.path.relpath(os.path.realpath(output), root))

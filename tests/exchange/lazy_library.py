"""Each function that a lazy_*.c defines is in the library that it names, and no program is linked to that library.
usage: lazy_library.py SOURCE PROGRAM..."""
import ctypes
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
functions = 0

for path in sorted(source.glob("*/**/lazy_*.c")):
    text = path.read_text(encoding="utf-8")
    named = re.search(r'\.file = "(lib.*)"', text)
    if not named:
        continue
    library = ctypes.CDLL(named[1])
    names = re.findall(r"^LAZY(?:_OPTION)?\(\w+, [^,]+, (\w+),", text, re.M) + re.findall(r'lazy_library_function\([^"]*"(\w+)"\)', text)
    assert len(names) > 10, f"{path}: {len(names)} functions"
    absent = [name for name in names if not hasattr(library, name)]
    assert not absent, f"{path}: {named[1]} lacks {', '.join(absent)}"
    functions += len(names)
    for program in sys.argv[2:]:
        dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
        assert "NEEDED" in dynamic and named[1] not in dynamic, f"{program} is linked to {named[1]}"

assert functions > 70, functions
print(f"{functions} functions")

"""What is installed of the documents: all of docs/, byte for byte, and every one that a manual page names. documents.py BUILD
SOURCE_ROOT (standard library only)."""

import pathlib
import re
import subprocess
import sys
import tempfile

BUILD, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", folder, "--tags", "doc"], check=True)
        (there,) = pathlib.Path(folder).rglob("share/doc/papertape")
        files = {path.relative_to(there): path.read_bytes() for path in there.rglob("*") if path.is_file()}
    wanted = [path for path in sorted((ROOT / "docs").rglob("*")) if path.is_file()] + [ROOT / "README.md"]
    wrong = [f"{path}: not installed as it is" for path in wanted if files.get(path.relative_to(ROOT)) != path.read_bytes()]
    named = {(page, name) for page in [*ROOT.glob("*/*.scd"), *ROOT.glob("*/*/*.scd")] for name in re.findall(r"docs/[\w./-]+\.md", page.read_text(encoding="utf-8"))}
    wrong += [f"{page.name}: {name} is not installed" for page, name in sorted(named) if pathlib.Path(name) not in files]
    print("\n".join(wrong) or f"{len(wanted)} files, {len(named)} named by manual pages")
    sys.exit(bool(wrong) or len(wanted) < 30 or len(named) < 5)


main()

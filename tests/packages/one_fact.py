#!/usr/bin/env python3
"""What debian/ repeats of other files is as they have it: the version, the packages that a build and its programs need, the
licence.
usage: one_fact.py SOURCE"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
faults = []

# debhelper brings gcc and libc6-dev; it and what follows are the packages' own.
BROUGHT = {"gcc", "libc6-dev"}
OWN = {"debhelper-compat", "dh-sequence-installsysusers", "dh-sequence-python3", "python3-dev"}
IN_PACKAGE = {"crypto": "libssl"}  # a library that is in another's package


def read(name):
    return (source / name).read_text(encoding="utf-8")


def same(what, **places):
    if len(set(places.values())) != 1:
        faults.append(f"{what}: " + ", ".join(f"{place} has {value}" for place, value in places.items()))


same("version",
     meson_build=re.search(r"^  version: '(.*)',", read("meson.build"), re.M)[1],
     changelog=re.match(r"papertape \((.*)\) ", read("debian/changelog"))[1],
     NEWS=re.search(r"^## ([0-9.]+)", read("NEWS.md"), re.M)[1])

rows = [line.split() for line in read("packages.debian").splitlines() if line and not line.startswith("#")]
needed = {name for name, group in rows if group == "build"} - BROUGHT
paragraph = re.search(r"^Build-Depends:\n((?: .*\n)+)", read("debian/control"), re.M)[1]
depends = {re.match(r"[a-z0-9+.-]+", line.strip())[0] for line in paragraph.splitlines()} - OWN
for name in sorted(needed - depends):
    faults.append(f"debian/control: Build-Depends: {name} is missing, which packages.debian has for a build")
for name in sorted(depends - needed):
    faults.append(f"debian/control: Build-Depends: {name} is not in packages.debian's rows for a build")

# Libraries that are loaded at their first use, which dpkg-shlibdeps therefore does not see.
loaded = set()
for path in source.glob("*/**/lazy_*.c"):
    match = re.search(r'\.file = "lib([a-z]+)\.so\.(\d+)"', path.read_text(encoding="utf-8"))
    if match:
        loaded.add(IN_PACKAGE.get(match[1], f"lib{match[1]}") + match[2])
    elif path.name != "lazy_library.c":
        faults.append(f"{path.name} names no library")
paragraph = re.search(r"^Package: papertape\n(?:.*\n)*?Depends:\n((?: .*\n)+)", read("debian/control"), re.M)[1]
for name in sorted(loaded - {line.strip().rstrip(",") for line in paragraph.splitlines()}):
    faults.append(f"debian/control: papertape: Depends: {name} is missing, which a lazy_*.c loads")
if not loaded:
    faults.append("no lazy_*.c was found")

stanza = read("debian/copyright").split("License: Expat\n")[-1]
same("licence",
     LICENSE=" ".join(read("LICENSE").split("\n\n", 2)[2].split()),
     copyright=" ".join(stanza.replace("\n .\n", "\n").split()))

print("\n".join(faults) or f"{len(needed)} packages, one version, one licence")
sys.exit(bool(faults))

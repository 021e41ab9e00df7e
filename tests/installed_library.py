"""A library of this build as another program has it: installed, found by pkg-config, compiled against as C and as C++,
shared and static. Standard library only."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED", what, file=sys.stderr)


def done(what):
    """Says what was tested, and how it went; the exit status."""
    print(f"{what}, {failures} failures")
    return 1 if failures else 0


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        print(f"FAILED {command}: exit {done.returncode}\n{done.stderr}", file=sys.stderr)
        sys.exit(1)
    return done.stdout


def functions(text):
    """The functions that a header's text declares."""
    return set(re.findall(r"^[a-z][\w *]*?\b(\w+)\((?!\*)[^;]*\);", text, re.M))


def examples(page):
    """The programs of a page of documentation, by name."""
    return dict(re.findall(r"^```c (\w+)\n(.*?)^```$", page.read_text(), re.M | re.S))


def compilers(cc):
    """[(command, language, the oldest standard that headers are for)]: the build's for C, and what there is for C++."""
    others = [path for path in map(shutil.which, ("g++", "clang++-14", "clang++")) if path][:2]
    check(others, "no C++ compiler was found")
    return [(cc, "c", "-std=c99"), *(([path], "c++", "-std=c++11") for path in others)]


def symbols(*command):
    return {line.split()[-1] for line in run(["nm", *command]).splitlines() if len(line.split()) == 3}


class InstalledLibrary:
    """lib{name}, installed into a folder of its own; include, libdir, shared and static are where its parts are."""

    def __init__(self, name, build, folder):
        run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", str(folder), "--tags", "devel,runtime"])
        (pc,) = folder.rglob(f"{name}.pc")
        prefix = re.search(r"^prefix=(.*)$", pc.read_text(), re.M)[1]

        def pkg_config(*arguments):
            return run(
                ["pkg-config", f"--define-variable=prefix={folder}{prefix}", *arguments, name],
                env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"},
            ).split()

        self.name, self.folder = name, folder
        self.cflags, self.libs = pkg_config("--cflags"), pkg_config("--libs")
        self.private = [flag for flag in pkg_config("--static", "--libs") if flag not in self.libs]
        (include,) = (flag[2:] for flag in self.cflags if flag.startswith("-I"))
        (libdir,) = (flag[2:] for flag in self.libs if flag.startswith("-L"))
        self.include, self.libdir = Path(include), Path(libdir)
        self.shared, self.static = self.libdir / f"lib{name}.so", self.libdir / f"lib{name}.a"

    def check_symbols(self, public):
        """Both export nothing but what the headers declare, and the shared one needs nothing but libc and libm."""
        exported = symbols("-D", "--defined-only", self.shared)
        check(exported == public, f"the shared library: {sorted(exported ^ public)}")
        exported = symbols("-g", "--defined-only", self.static)
        check(exported == public, f"the static library: {sorted(exported ^ public)}")
        soname = re.search(r"SONAME.*\[(.*)\]", run(["readelf", "-d", self.shared]))[1]
        check(soname == f"lib{self.name}.so.0" and (self.libdir / soname).exists(), f"soname {soname}")
        needed = re.findall(r"NEEDED.*\[(.*?)\.so", run(["readelf", "-d", self.shared]))
        check(set(needed) <= {"libc", "libm"}, f"the shared library needs {needed}")

    def compile_headers(self, headers, found):
        """Each by itself, by every one of the compilers."""
        for cc, language, standard in found:
            for header in headers:
                none = "void" if language == "c" else ""
                text = f"#include <{header.relative_to(self.include)}>\nint main({none}) {{ return 0; }}\n"
                run([*cc, "-x", language, standard, *STRICT, *self.cflags, "-fsyntax-only", "-"], input=text)

    def programs(self, name, source, found):
        """Compiles an example by every one of the compilers, against the shared and the static library; of each: what
        it is, in words, its path, and the environment to run it in."""
        for cc, language, standard in found:
            for kind, link in (("shared", self.libs), ("static", [str(self.static), *self.private])):
                program = self.folder / f"{name}-{kind}"
                standard = standard if language == "c++" else "-std=c11"
                options = [language, standard, *STRICT, *self.cflags, "-", "-x", "none", "-o", program, *link]
                run([*cc, "-x", *options], input=source)
                environment = {**os.environ, "LD_LIBRARY_PATH": str(self.libdir) if kind == "shared" else ""}
                yield f"{name} as {language} by {cc[-1]}, {kind}", program, environment

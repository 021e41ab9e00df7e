"""Each function that a lazy_*.c defines is called, and is in the library that it names, the one whose header was compiled;
the program is not linked to that library, and one that cannot load it says so in its own way.
usage: lazy_library.py SOURCE COMPILER PAPERTAPE PAPERTAPED"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

source, compiler, (papertape, papertaped) = pathlib.Path(sys.argv[1]), sys.argv[2].split(), sys.argv[3:]
LAZY = [path for path in sorted(source.glob("*/**/lazy_*.c")) if path.name != "lazy_library.c"]
OF_MACROS = {"SSL_ctrl", "SSL_CTX_ctrl", "SSL_want", "CRYPTO_malloc", "CRYPTO_free"}  # which only macros of their header call
ABSENT = re.compile(r"(lib\w+\.so\.\d+) is needed: ")


def dynamic(path, tag):
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", text))


def called():
    """Names followed by an argument list, in all other sources."""
    names = set()
    for path in source.glob("*/**/*.c"):
        if path not in LAZY and path.parts[len(source.parts)] not in ("tests", "build", "bench"):
            names |= set(re.findall(r"\b(\w+)\(", path.read_text(encoding="utf-8")))
    return names


def programs(path):
    """Those that are not linked to it: what cli/ has is papertape's alone."""
    return (papertape,) if path.parent == source / "cli" else (papertape, papertaped)


def check_file(path, calls):
    text = path.read_text(encoding="utf-8")
    named = re.search(r'\.file = "(lib(\w+)\.so\.\d+)"', text)
    assert named, f"{path}: names no library"
    file, library = named[1], ctypes.CDLL(named[1])
    developed = subprocess.run([*compiler, f"-print-file-name=lib{named[2]}.so"], capture_output=True, text=True, check=True)
    assert dynamic(developed.stdout.strip(), "SONAME") == {file}, f"{path}: the header is not of {file}"
    defined = set(re.findall(r"^LAZY(?:_OPTION)?\(\w+, [^,]+, (\w+),", text, re.M))
    by_hand = set(re.findall(r'lazy_library_function\([^"]*"(\w+)"\)', text))
    absent = [name for name in defined | by_hand if not hasattr(library, name)]
    assert not absent, f"{path}: {file} lacks {absent}"
    assert defined <= calls | OF_MACROS, f"{path}: not called: {defined - calls}"
    for program in programs(path):
        needed = dynamic(program, "NEEDED")
        assert needed and file not in needed, f"{program} is linked to {file}"
    return file, len(defined | by_hand)


def run(folder, libraries, *command):
    return subprocess.run(map(str, command), capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": str(libraries), "HOME": str(folder)})


def check_absent(folder):
    """Files that are no libraries stand in their places: each program reports it where it reports all else."""
    libraries = folder / "lib"
    libraries.mkdir()
    for path in (path for path in LAZY if papertaped in programs(path) or path.name == "lazy_archive.c"):
        (libraries / re.search(r'\.file = "(.*)"', path.read_text(encoding="utf-8"))[1]).write_text("no library\n")
    archive, config, state = folder / "a.tar.zst", folder / "papertaped.ini", folder / "state"
    archive.write_text("x")
    config.write_text("[market]\nsymbols = BTCUSDT\n")
    done = run(folder, libraries, papertape, "--state", state, "restore", archive)
    assert done.returncode == 1 and ABSENT.search(done.stderr)[1] == "libarchive.so.13", done
    assert done.stderr.startswith("papertape: restore: ") and done.stderr.count("\n") == 1, done
    done = run(folder, libraries, papertape, "--state", state, "doctor")
    assert re.search(r"^error +network +.*libcurl\.so\.4 is needed: ", done.stdout, re.M), done
    assert re.search(r"^skipped +symbols ", done.stdout, re.M) and not ABSENT.search(done.stderr), done
    done = run(folder, libraries, papertaped, "--config", config, "--state", state)
    assert done.returncode == 2 and ABSENT.search(done.stderr)[1] == "libcurl.so.4", done
    assert done.stderr.count("\n") == 1, done


def check_ends(folder):
    """One whose absence no caller asks about ends the program, as a linked one would: doctor, and each check that it forks."""
    for path in (path for path in LAZY if path.name in ("lazy_crypto.c", "lazy_ssl.c")):
        libraries = folder / path.stem
        libraries.mkdir()
        file = re.search(r'\.file = "(.*)"', path.read_text(encoding="utf-8"))[1]
        (libraries / file).write_text("no library\n")
        done = run(folder, libraries, papertape, "--state", folder / "state", "doctor")
        assert done.returncode == 2 and done.stderr, (file, done)
        assert all(ABSENT.match(line) and f"{libraries / file}: " in line for line in done.stderr.splitlines()), done


everywhere = called()
found = dict(check_file(path, everywhere) for path in LAZY)
assert found
with tempfile.TemporaryDirectory() as scratch:
    check_absent(pathlib.Path(scratch))
    check_ends(pathlib.Path(scratch))
print(", ".join(f"{n} functions of {file}" for file, n in found.items()))

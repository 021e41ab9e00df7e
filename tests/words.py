#!/usr/bin/python3
"""Whether comments, documents and strings are in the field's words: words.py SOURCE_ROOT [--count | --all] (git; standard library only).

The table "Words" of docs/glossary.md has the words that are not written, each in all its forms, and what is written instead. A
line with the mark `word-ok` may have one: an API's own name, a user of the system. Looked at are comments and string literals of
C, CUDA, Python, shell, Meson and SQL, and documents as a whole, except the fenced block after a line `<!-- transcript: … -->`, which is
what a program printed. With --count: how often each is there, a line a word. With --all: each place, not only the first.
"""

import collections
import io
import pathlib
import re
import subprocess
import sys
import tokenize

PAGE = "docs/glossary.md"
MARK = "word-ok"
SHOWN = 40
FROZEN = re.compile(r"db/schema/0\d\d_\w+\.sql")  # migrations: their text is in databases
C = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
SHELL = re.compile(r"#[^\n]*|'''.*?'''|\"(?:\\.|[^\"\\])*\"|'[^']*'", re.S)
SQL = re.compile(r"--[^\n]*|/\*.*?\*/|'[^']*'", re.S)
TRANSCRIPT = re.compile(r"^<!-- transcript: .* -->\n```\w*\n.*?^```$", re.M | re.S)
DOCUMENTS = {".md", ".scd", ".ini", ".in", ".service", ".socket", ".conf", ".toml"}


def table(root):
    """The words in lower case, each with what to write."""
    text = (root / PAGE).read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text.partition("\n## Words\n")[2], re.M)
    return {word.strip().lower(): instead for words, instead in rows[1:] for word in words.split(",")}


def python_parts(text):
    starts = [0]
    for line in text.splitlines(True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield starts[token.start[0] - 1] + token.start[1], token.string


def parts(path, text):
    """What is read of a file, each with its place in the text."""
    if path.suffix in (".c", ".h", ".cu", ".cpp"):
        pattern = C
    elif path.suffix == ".py" or text.startswith("#!/usr/bin/python3"):
        yield from python_parts(text)
        return
    elif path.suffix in DOCUMENTS:
        yield 0, TRANSCRIPT.sub(lambda hit: re.sub(r"[^\n]", " ", hit.group()), text)  # lines keep their numbers
        return
    elif path.suffix == ".sql":
        pattern = SQL
    elif path.suffix in (".sh", ".build") or path.name == "meson_options.txt" or text.startswith("#!"):
        pattern = SHELL
    else:
        return
    for hit in pattern.finditer(text):
        if text[text.rfind("\n", 0, hit.start()) + 1:hit.start()] != "#include ":  # a file's name
            yield hit.start(), hit.group()


def sources(root):
    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        path = root / name
        if path.is_file() and not path.is_symlink() and not FROZEN.fullmatch(name):
            try:
                yield name, path, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def main():
    root = pathlib.Path(sys.argv[1])
    if not (root / ".git").exists():
        print("source/words: skipped: this is no clone, whose list of files is needed")
        sys.exit(77)
    words = table(root)
    pattern = re.compile(r"(?<![\w-])(?:" + "|".join(r"\s+(?:[*#/]+\s+)?".join(map(re.escape, word.split())) for word in words) + r")(?![\w-])", re.I)
    counts, files, marked = collections.Counter(), 0, 0
    for name, path, text in sources(root):
        lines, files = text.splitlines(), files + 1
        for at, part in parts(path, text):
            for hit in pattern.finditer(part):
                row = text.count("\n", 0, at + hit.start())
                word = " ".join(re.sub(r"[*#/]", " ", hit.group().lower()).split())
                if MARK in lines[row]:
                    marked += 1
                elif not (name == PAGE and lines[row].startswith("| ")):
                    counts[word] += 1
                    if "--count" not in sys.argv and (counts.total() <= SHOWN or "--all" in sys.argv):
                        print(f"{name}:{row + 1}: {word}: {words[word].strip()} is the field's word: {lines[row].strip()[:100]}")
    if len(words) < 20 or files < 300:
        sys.exit("words: the table or the sources are not there")
    if "--count" in sys.argv:
        print(*(f"{n:5} {word}" for word, n in counts.most_common()), sep="\n")
    print(f"words: {counts.total()} of {len(words)} words that {PAGE} does not have, {marked} lines with {MARK}")
    sys.exit(bool(counts))


main()

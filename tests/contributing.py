"""Whether what the documents name exists: contributing.py BUILD_ROOT SOURCE_ROOT (standard library only).

In every page the sources, and the targets of links with their headings; in README.md and CONTRIBUTING.md also every path,
and every test and suite of `meson test`, as Meson lists them. And whether docs/tests.md has one row for every test and every fuzzer:
a row's tests are those that its first cell names."""

import collections
import json
import os
import re
import subprocess
import sys

BUILD, ROOT = sys.argv[1], sys.argv[2]
NEWCOMERS = ("README.md", "CONTRIBUTING.md")
PATH = r"(?:\./|\.\./)?[\w.*-]+(?:/[\w.*-]+)*/?"
MADE = ("build", "build-check", ".venv-check", "events")  # by commands that the pages list; the last in the state directory
WITH_VALUE = {"-C", "--suite", "--no-suite", "--timeout-multiplier"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def code(text):
    """What stands between backticks, and the lines of fenced blocks without their comments and output."""
    fenced = [line.split(" #")[0].strip() for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()]
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [" ".join(words.split()) for words in re.findall(r"`([^`]+)`", plain)], fenced


def exists(path, files):
    """Is it a file or folder, or the end of one's path? Of strategy/NAME.c the folder is what counts."""
    parts = path.removeprefix("./").rstrip("/").split("/")
    placeholders = [i for i, part in enumerate(parts) if re.match(r"(NAME|FAMILY|FOLDER)\b", part)]
    if placeholders:
        parts = parts[:placeholders[0]]
    wanted = "/" + "/".join(parts)
    return not parts or parts[0] in MADE or any(f"/{file}".endswith(wanted) or f"{wanted}/" in f"/{file}" for file in files)


def faults_of_commands(page, lines, tests, suites):
    for line in lines:
        if "meson test " not in line:
            continue
        words = line.split("meson test ", 1)[1].split()
        for before, word in zip([""] + words, words):
            if before == "--suite" and word not in suites:
                yield f"{page}: --suite {word}: Meson has no such suite"
            elif not word.startswith("-") and before not in WITH_VALUE and word not in tests:
                yield f"{page}: meson test {word}: Meson has no such test"


def faults_of_paths(page, words, files, tests):
    for word in words:
        if re.fullmatch(PATH, word) and ("/" in word or re.search(r"\.(c|h|py|md|sh|build|ini|scd|txt)$", word)) and not word.startswith("../"):
            if not exists(word, files) and word not in tests:
                yield f"{page}: {word}: no such file, folder or test"


def headings(text):
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    anchors = set(re.findall(r'<a id="([^"]+)">', text))
    return anchors | {re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()).replace(" ", "-") for title in titles}


def faults_of_links(page, text, files):
    for target in re.findall(r"\]\(\s*([^)#\s]*(?:#[^)\s]*)?)\)", text):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if path not in files and not os.path.isdir(os.path.join(ROOT, path)):
            yield f"{page}: link to {target}: no such file"
        elif anchor and path.endswith(".md") and anchor not in headings(read(path)):
            yield f"{page}: link to {target}: no such heading"


def named_in_rows(text):
    """How many rows of tables name each word, in backticks in their first cell."""
    named = collections.Counter()
    for first_cell in re.findall(r"^\|([^|]*)\|", text, re.M):
        named.update(set(re.findall(r"`([^`]+)`", first_cell)))
    return named


def faults_of_rows(what, names, text):
    named = named_in_rows(text)
    return [f"{name}: {named[name]} rows of docs/tests.md name this {what}, and one is right" for name in sorted(names) if named[name] != 1]


def main():
    if not os.path.exists(os.path.join(ROOT, ".git")):
        print("source/contributing: skipped: this is no clone, whose list of files is needed")
        return 77
    files = subprocess.run(["git", "-c", "safe.directory=*", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    with open(os.path.join(BUILD, "meson-info/intro-tests.json"), encoding="utf-8") as file:
        listed = json.load(file)
    tests = {test["name"] for test in listed}
    suites = {suite.split(":")[-1] for test in listed for suite in test["suite"]}
    faults, named = [], 0
    for page in files:
        if not page.endswith(".md") or (page not in NEWCOMERS and not page.startswith("docs/")):
            continue
        text = read(page)
        quoted, fenced = code(text)
        if page in NEWCOMERS:
            words = [word for line in quoted for word in line.split()]
            words += [word for line in fenced for word in line.split() if word.startswith(("./", "tests/"))]
            faults += faults_of_commands(page, quoted + fenced, tests, suites)
        else:
            words = [word for word in quoted if re.fullmatch(r"[a-z0-9_/]+\.c", word)]
        named += len(words)
        faults += faults_of_paths(page, sorted(set(words)), files, tests)
        faults += faults_of_links(page, text, files)
    faults += [f"{test['name']}: its folder's suite is missing: suite: [room, …] in its meson.build" for test in listed
               if test["name"].split("/")[0] not in ("source", "system", "systemd") and not any(s.endswith(":" + test["name"].split("/")[0]) for s in test["suite"])]
    page = read("docs/tests.md")
    faults += faults_of_rows("test", {name for name in tests if not name.startswith("fuzz/")}, page)
    of_fuzzers = re.search(r"^### Fuzzers\n(.*?)^##", page, re.M | re.S)[1]
    fuzzers = {match[1] for path in files if (match := re.fullmatch(r"tests/fuzz/(\w+)_fuzz\.c", path))}
    faults += faults_of_rows("fuzzer", fuzzers, of_fuzzers)
    for fault in faults:
        print("FAILED", fault, file=sys.stderr)
    print(f"contributing: {named} names, {len(tests)} tests, {len(suites)} suites; {len(faults)} failures")
    return 1 if faults or named < 300 or len(tests) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())

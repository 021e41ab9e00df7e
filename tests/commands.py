"""Whether the commands in documents can be typed: commands.py SOURCE_ROOT PROGRAM… (standard library only).

Each command of a PROGRAM in a fence of README.md, CONTRIBUTING.md and docs/, in backticks there, in a manual page's source or
in an example of a page that the rows make: its verb, the action behind it, its options and their values are compared with
`PROGRAM VERB --help`. Nothing else is run; examples.py runs what has its output below it. In backticks a command may be a
pattern (`symbol add|remove [--key K]`) and may leave out values, and a lone name is none.
"""

import pathlib
import re
import shlex
import subprocess
import sys

PAGES = {"papertape": "accounts backtest learning market record trading".split()}
FENCE = re.compile(r"^```[^\n]*\n(.*?)^```$", re.M | re.S)
INLINE = re.compile(r"`([^`]+)`|<!-- form: ([^\n]+) -->")
BOLD = re.compile(r"(?<![\w*])\*([a-z][^*\n]*)\*(?![\w*])")
EXAMPLE = re.compile(r"^\.EX\n(.*?)^\.EE$", re.M | re.S)
OPTION = re.compile(r"^  (?:-(\w), )?--([a-z0-9-]+)( \S)?", re.M)
LEAST = 200
WRONG = ["papertape ordr buy X 1", "papertape order bye X 1", "papertape order buy X 1 --limt 3", "papertape order buy X 1 --limit --tif day",
         "papertape fills --csv=3", "cd x && papertape-trainer trian", "(papertape --stat x &)", "papertape-replay --synthetic 7 --listn x"]


class Program:
    def __init__(self, path):
        self.path, self.name, self.helps = path, pathlib.Path(path).name, {}
        usage = self.help("")
        self.verbs = set(re.findall(r"^  ([a-z-]+) {2,}\S", usage.partition("Verbs:\n")[2], re.M))

    def help(self, verb):
        if verb not in self.helps:
            words = [self.path, *([verb] if verb else []), "--help"]
            self.helps[verb] = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        return self.helps[verb]

    def options(self, verb):
        """Each option, as it is typed, and whether it takes a value."""
        found = {}
        for letter, name, value in OPTION.findall(self.help(verb)):
            found |= {"--" + name: bool(value)} | ({"-" + letter: bool(value)} if letter else {})
        return found

    def actions(self, verb):
        """The words that may follow the verb; none where anything may."""
        usage = self.help(verb).partition("\n\n")[0]
        found = re.findall(rf"^(?:Usage:|      ) {self.name} {verb} (\S+)", usage, re.M)
        words = [word.strip("[]") for word in found]
        if not words or not all(re.fullmatch(r"[a-z][a-z|-]*", word) for word in words):
            return set()
        return {part for word in words for part in word.split("|")}


def faults_of(words, programs, pattern):
    """What is wrong with a command line, whose first word is a program's."""
    program, rest = programs[words[0]], [re.sub(r"^\[+|[\].…]+$", "", word) for word in words[1:]] if pattern else words[1:]
    rest = [word for word in rest if word]
    at, verb = 0, ""
    known = program.options("")
    while at < len(rest) and rest[at].startswith("-"):
        at += 1 + (known.get(rest[at], False) and "=" not in rest[at])
    if at < len(rest) and program.verbs and rest[at] not in ("help", "completion") and rest[at].isascii() and not rest[at].isupper():
        verb = rest.pop(at)
        for one in verb.split("|") if pattern else [verb]:
            if one not in program.verbs:
                yield f"{one}: no verb of {program.name}"
                return
        verb = verb.split("|")[0]
        actions = program.actions(verb)
        if actions and at < len(rest) and not rest[at].startswith("-") and not rest[at].isupper():
            for one in rest[at].split("|") if pattern else [rest[at]]:
                if one not in actions:
                    yield f"{one}: no action of {program.name} {verb}"
    elif at < len(rest) and rest[at] in ("help", "completion"):
        return
    known = program.options(verb) | (program.options("") if not verb else {})
    at = 0
    while at < len(rest):
        word = rest[at]
        at += 1
        if not re.match(r"--?[a-z]", word):
            continue
        for one in word.split("|") if pattern else [word]:
            name, is_given, _ = one.partition("=")
            if name not in known:
                yield f"{name}: no option of {program.name} {verb}"
            elif is_given and not known[name]:
                yield f"{name}: it takes no value"
            elif known[name] and not is_given:
                if not pattern and (at == len(rest) or rest[at].startswith("--")):
                    yield f"{name}: it takes a value"
                at += 0 if pattern and at < len(rest) and rest[at].startswith("-") else 1


def lines_of(fence):
    """A fence's lines as they are typed; of one with "$ ", those alone."""
    text = re.sub(r"\\\n\s*", " ", fence)
    if re.search(r"^\$ ", text, re.M):
        return [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return text.splitlines()


def commands_of(line, programs):
    """The programs' commands in a shell's line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    lexer.whitespace_split, lexer.commenters = True, "#"
    try:
        tokens = list(lexer)
    except ValueError:  # no shell's line
        return
    words, redirected = [], False
    for token in [*tokens, ";"]:
        if set(token) <= set("|&;()"):
            while words and (re.fullmatch(r"\w+=.*", words[0]) or words[0] in ("sudo", "time", "exec", "if", "then", "do")):
                words.pop(0)
            if words and pathlib.Path(words[0]).name in programs:
                yield [pathlib.Path(words[0]).name, *words[1:]]
            words = []
        elif set(token) <= set("<>"):
            redirected = True
        elif redirected:
            redirected = False
        else:
            words.append(token)


def in_text(line):
    """A pattern's words: what stands in brackets and braces is one of them too."""
    return re.sub(r"(?<!\S)[\[{(]+|[\]})]+(?!\S)|\]…|\.\.\.", " ", line).replace("\\", "").split()


def of_page(text, programs, is_manual):
    for fence in FENCE.finditer(text):
        at = text.count("\n", 0, fence.start()) + 1
        for line in lines_of(fence[1]):
            yield from ((at, words, False) for words in commands_of(line, programs))
    plain = FENCE.sub(lambda hit: re.sub(r"[^\n]", " ", hit.group()), text)
    for code in (BOLD if is_manual else INLINE).finditer(plain):
        words = in_text(next(filter(None, code.groups())))
        if len(words) > 1 and words[0] in programs:
            yield text.count("\n", 0, code.start()) + 1, words, True


def main():
    source, programs = pathlib.Path(sys.argv[1]), {}
    for path in sys.argv[2:]:
        programs[pathlib.Path(path).name] = Program(path)
    pages = [source / "README.md", source / "CONTRIBUTING.md", *sorted((source / "docs").rglob("*.md"))]
    manuals = sorted(source.glob("*/*.scd")) + sorted(source.glob("*/*/*.scd"))
    found = []
    for page in pages + manuals:
        for at, words, pattern in of_page(page.read_text(encoding="utf-8"), programs, page.suffix == ".scd"):
            found.append((f"{page.relative_to(source)}:{at}", words, pattern))
    for program in programs.values():
        for name in PAGES.get(program.name, []):
            made = subprocess.run([program.path, "help", "--man", name], capture_output=True, text=True, check=True).stdout.replace("\\-", "-")
            for example in EXAMPLE.findall(made):
                found += [(f"{program.name}-{name}(1)", words, False) for line in example.splitlines() for words in commands_of(line, programs)]
    faults = [f"{place}: {' '.join(words)}: {fault}" for place, words, pattern in found for fault in faults_of(words, programs, pattern)]
    faults += [f"{line}: it passed" for line in WRONG if not any(list(faults_of(words, programs, False)) for words in commands_of(line, programs))]
    print(*faults, sep="\n", end="\n" if faults else "")
    typed = sum(not pattern for _, _, pattern in found)
    print(f"commands: {typed} as they are typed, {len(found) - typed} in sentences; {len(faults)} faults")
    return 1 if faults or len(found) < LEAST or len(manuals) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())

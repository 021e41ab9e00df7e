"""Every verb that the product defines is in its program's list: verbs.py SOURCE_ROOT (standard library only). The list's row alone
brings a verb into the program; without one its file still compiles."""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
FOLDERS = ("cli", "tui/verb", "trainer/command")
LISTS = {"cli/verbs.h": ("CLI_VERBS", "{}"), "trainer/command/args.h": ("TRAINER_VERBS", "trainer_{}_verb")}
BARE = {"tui_dashboard"}  # what is done without a verb


def listed(path, name, form):
    rows = re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", (ROOT / path).read_text(encoding="utf-8"))[1]
    return {form.format(verb) for verb in re.findall(r"X\((\w+)\)", rows)}


def main():
    rows = set().union(*(listed(path, *form) for path, form in LISTS.items())) | BARE
    verbs = {verb: path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.c"))
             for verb in re.findall(r"^const struct option_verb (\w+) = ", path.read_text(encoding="utf-8"), re.M)}
    if len(verbs) < 38:
        sys.exit(f"verbs: only {len(verbs)} are found")
    for verb in sorted(verbs.keys() - rows):
        print(f"{verbs[verb].relative_to(ROOT)}: {verb}: a row of CLI_VERBS (cli/verbs.h) or TRAINER_VERBS (trainer/command/args.h) is needed")
    sys.exit(bool(verbs.keys() - rows))


main()

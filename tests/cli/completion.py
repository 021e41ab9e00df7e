#!/usr/bin/env python3
"""Every option of every verb is in --help, in a manual page, and offered by bash, fish and zsh where they are installed.

usage: completion.py PAPERTAPE

The shells run what `papertape completion SHELL` prints."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
PAGES = "accounts backtest learning market record trading".split()


def papertape(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True).stdout


def options_of(text):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.M))


def in_bash(lines, folder):
    """The candidates for the last word of each line."""
    script = os.path.join(folder, "bash")
    with open(script, "w", encoding="utf-8") as file:
        file.write(papertape("completion", "bash"))
        for line in lines:
            words = " ".join(f"'{word}'" for word in [PROGRAM, *line])
            file.write(f"COMP_WORDS=({words}); COMP_CWORD={len(line)}; _papertape; echo \"${{COMPREPLY[*]}}\"; echo ==\n")
    return split(subprocess.run(["bash", "--norc", script], capture_output=True, text=True, check=True).stdout)


def in_fish(lines, folder):
    script = os.path.join(folder, "fish")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"set -x PATH {os.path.dirname(PROGRAM)} $PATH\n" + papertape("completion", "fish"))
        for line in lines:
            file.write(f"complete -C 'papertape {' '.join(line)}' | string replace -r '\\t.*' ''; echo ==\n")
    return split(subprocess.run(["fish", "--no-config", script], capture_output=True, text=True, check=True).stdout)


def in_zsh(lines, folder):
    """_describe and _files replaced by printing: the widget itself runs on a terminal only (on_terminal)."""
    script = os.path.join(folder, "_papertape")
    with open(script, "w", encoding="utf-8") as file:
        file.write(papertape("completion", "zsh"))
    run = "_describe() { print -rl -- ${found%%:*} }; _files() { }\n"
    for line in lines:
        words = " ".join(f"'{word}'" for word in [PROGRAM, *line])
        run += f"words=({words}); CURRENT={len(line) + 1}; source {script}; print '=='\n"
    return split(subprocess.run(["zsh", "-f", "-c", run], capture_output=True, text=True, check=True).stdout)


def on_terminal(folder):
    """A zsh in tmux completes `papertape symbol ad` when Tab is pressed."""
    socket = os.path.join(folder, "tmux")

    def tmux(*words):
        return subprocess.run(["tmux", "-S", socket, *words], capture_output=True, text=True, check=True).stdout

    def shows(words):
        deadline = time.monotonic() + 60
        while words not in tmux("capture-pane", "-p"):
            assert time.monotonic() < deadline, tmux("capture-pane", "-p")
            time.sleep(0.02)

    tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "20", "zsh -f")
    try:
        tmux("send-keys", f"PS1='> '; path=({os.path.dirname(PROGRAM)} $path) fpath=({folder} $fpath); autoload -U compinit; "
             "compinit -u -D; echo rea''dy", "Enter")
        shows("ready")
        tmux("send-keys", "papertape symbol ad", "Tab")
        shows("> papertape symbol add")
    finally:
        tmux("kill-server")


def split(text):
    return [set(part.split()) for part in text.split("==\n")[:-1]]


def main():
    verbs = re.findall(r"^  ([a-z-]+) {2,}\S", papertape("help").split("Verbs:\n")[1], re.M)
    assert len(verbs) >= 30, verbs
    helps = {verb: options_of(papertape(verb, "--help")) for verb in verbs}
    pages = "".join(papertape("help", "--man", page) for page in PAGES).replace("\\-", "-")
    lines = [[verb, "--"] for verb in verbs] + [["--"], ["symbol", "a"], ["order", "buy", "X", "1", "--tif", ""], ["what-if", "--strategy", "sma"]]
    everywhere = {"--state", "--json", "--help", "--version"}
    for verb, options in helps.items():
        assert everywhere <= options, (verb, options)
        section = pages.split(f".SH {verb}\n")[1].split("\n.SH ")[0] + pages.split(".SH OPTIONS OF ALL VERBS")[-1]
        missing = {option for option in options if not re.search(re.escape(option) + r"\b", section)}
        assert not missing, (verb, missing)
    with tempfile.TemporaryDirectory(prefix="pt-") as folder:
        for shell, complete in {"bash": in_bash, "fish": in_fish, "zsh": in_zsh}.items():
            if not shutil.which(shell):
                print(f"{shell}: not installed")
                continue
            found = complete(lines, folder)
            assert len(found) == len(lines), (shell, found)
            for verb, candidates in zip(verbs, found):
                assert candidates == helps[verb], (shell, verb, candidates ^ helps[verb])
            assert options_of(papertape("--help")) == found[len(verbs)], (shell, found[len(verbs)])
            assert found[len(verbs) + 1] == {"add"} and found[len(verbs) + 2] == {"gtc", "ioc", "fok", "day", "gtd"}, (shell, found[-3:])
            assert "sma-cross" in found[-1] and all(name.startswith("sma") for name in found[-1]), (shell, found[-1])
            if shell == "zsh" and shutil.which("tmux"):
                on_terminal(folder)
            print(f"{shell}: {sum(len(options) for options in helps.values())} options of {len(verbs)} verbs")
    return 0


if __name__ == "__main__":
    sys.exit(main())

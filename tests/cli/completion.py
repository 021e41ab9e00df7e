#!/usr/bin/env python3
"""Every option of every verb of each program is in --help, in a manual page, and offered by bash, fish and zsh where they
are installed.

usage: completion.py PROGRAM...

The shells run what `PROGRAM completion SHELL` prints."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

PAGES = {"papertape": "accounts backtest learning market record trading".split()}
EVERYWHERE = {"papertape": {"--state", "--json"}}
# Lines with what they complete to, and the beginning of the page's OPTIONS.
MORE = {
    "papertape": {
        ("symbol", "a"): {"add"},
        ("order", "buy", "X", "1", "--tif", ""): {"gtc", "ioc", "fok", "day", "gtd", "opg", "cls"},
        ("order", "buy", "X", "1", "--tif=g"): {"--tif=gtc", "--tif=gtd"},
        ("sweep", "--strategy", "sma-cross", "--grid", "fa"): {"fast="},
        ("backtest", "--strategy=sma-cross:slow=9", "--set", "s"): {"slow="},
        ("backtest", "--risk", "exposure"): {"exposure_account=", "exposure_symbol="},
        ("backtest", "--fees", "vip1"): {"vip1"},
        ("sweep", "--metric", "so"): {"sortino"},
        ("bars", "BTCUSDT", "15"): {"15m"},
        ("symbol", "add", "X", "--venue", "binance"): {"binance", "binance-us"},
    },
    "papertaped": {("--clock", ""): {"wall", "feed"}},
    "papertape-trainer": {("gr",): {"grad-check"}, ("sample", "--sampler", ""): {"tpe", "random", "grid", "mcmc"}},
    "papertape-replay": {("--venue", "a"): {"alpaca"}, ("--recording", "a", "--plan", ""): {"free", "unlimited", "plus"}},
}


def output(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def choices_of(text):
    """Of the help: options with a list of words, and that list."""
    return {name: set(words.split("|")) for name, words in re.findall(r"^  (?:-\w, )?(--[a-z-]+) ([a-z-]+(?:\|[a-z-]+)+)(?: |$)", text, re.M)}


def options_of(text):
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.M))


def in_bash(program, lines, folder):
    """The candidates for the last word of each line."""
    script = os.path.join(folder, "bash")
    with open(script, "w", encoding="utf-8") as file:
        file.write(output(program, "completion", "bash"))
        for line in lines:
            parts = [part for word in line for part in re.split("([=:]+)", word) if part or not word]  # as bash divides words
            words = " ".join(f"'{word}'" for word in [program, *parts])
            file.write(f"COMP_WORDS=({words}); COMP_CWORD={len(parts)}; _{name(program).replace('-', '_')}; echo \"${{COMPREPLY[*]}}\"; echo ==\n")
    found = split(subprocess.run(["bash", "--norc", script], capture_output=True, text=True, check=True).stdout)
    behind = [re.match("(?:.*[=:])?", line[-1])[0] for line in lines]  # what bash leaves as it is
    return [{before + word for word in words} for before, words in zip(behind, found, strict=True)]


def in_fish(program, lines, folder):
    script = os.path.join(folder, "fish")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"set -x PATH {os.path.dirname(program)} $PATH\n" + output(program, "completion", "fish"))
        for line in lines:
            file.write(f"complete -C '{name(program)} {' '.join(line)}' | string replace -r '\\t.*' ''; echo ==\n")
    return split(subprocess.run(["fish", "--no-config", script], capture_output=True, text=True, check=True).stdout)


def in_zsh(program, lines, folder):
    """_describe and _files replaced by printing: the widget itself runs on a terminal only (on_terminal)."""
    script = os.path.join(folder, "_" + name(program))
    with open(script, "w", encoding="utf-8") as file:
        file.write(output(program, "completion", "zsh"))
    run = "_describe() { print -rl -- ${found%%:*} }; _files() { }\n"
    for line in lines:
        words = " ".join(f"'{word}'" for word in [program, *line])
        run += f"words=({words}); CURRENT={len(line) + 1}; source {script}; print '=='\n"
    return split(subprocess.run(["zsh", "-f", "-c", run], capture_output=True, text=True, check=True).stdout)


def on_terminal(program, folder):
    """A zsh in tmux completes `papertape symbol ad` when Tab is pressed."""
    socket = os.path.join(folder, "tmux")

    def tmux(*words):
        return subprocess.run(["tmux", "-S", socket, *words], capture_output=True, text=True, check=True).stdout

    def shows(words):
        deadline = time.monotonic() + 300
        while words not in tmux("capture-pane", "-p"):
            assert time.monotonic() < deadline, tmux("capture-pane", "-p")
            time.sleep(0.02)

    tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "20", "zsh -f")
    try:
        tmux("send-keys", f"PS1='> '; path=({os.path.dirname(program)} $path) fpath=({folder} $fpath); autoload -U compinit; "
             "compinit -u -D; echo rea''dy", "Enter")
        shows("ready")
        tmux("send-keys", "papertape symbol ad", "Tab")
        shows("> papertape symbol add")
    finally:
        tmux("kill-server")


def split(text):
    return [set(part.split()) for part in text.split("==\n")[:-1]]


def name(program):
    return os.path.basename(program)


def pages_of(program):
    """All pages that the rows make, by their headings."""
    pages = [output(program, "help", "--man", page) for page in [name(program), *PAGES.get(name(program), [])]]
    text = "\n".join(pages).replace("\\-", "-")
    return {part.split("\n")[0]: part for part in re.split(r"^[.]S[HS] ", ".SH bare\n" + text, flags=re.M)}, text


def check_pages(program, helps):
    sections, text = pages_of(program)
    for page in PAGES.get(name(program), []):
        assert re.search(rf"^[.]SH EXAMPLES\n[.]PP\n[.]EX\n{name(program)} ", text.split(f".TH {name(program)}-{page} ")[1].split(".TH ")[0], re.M), page
    everywhere = "".join(text.split(".SH OPTIONS OF ALL VERBS")[1:]) or sections["bare"]
    for verb, options in helps.items():
        missing = {option for option in options if not re.search(re.escape(option) + r"\b", sections[verb or "bare"] + everywhere)}
        assert not missing, (program, verb, missing)


def check_installed(program, page, helps):
    """The page that is built: the rows below the headings of the .scd."""
    with open(page, encoding="utf-8") as file:
        text = file.read().replace("\\-", "-")
    for heading in ("OPTIONS", "EXIT STATUS"):
        assert text.count(f"\n.SH {heading}\n") == 1, (page, heading)
    section = text.split("\n.SH OPTIONS\n")[1]
    assert all(option in section for option in helps[""]), (page, helps[""])
    status = re.search(r"^Exit status: (.*)[.]$", output(program, "--help"), re.M)[1]
    assert status in text.split("\n.SH EXIT STATUS\n")[1], (page, status)


def check_program(program, folder):
    usage = output(program, "--help")
    words = dict(re.findall(r"^  ([a-z-]+) {2,}(\S.*)", usage.split("Verbs:\n")[1], re.M)) if "Verbs:\n" in usage else {}
    for verb, does in words.items():  # the page's NAME line has "VERB: what it does"
        assert not re.search(rf"\b{verb.rstrip('s')}s?\b", does, re.I), (verb, does)
    verbs = list(words)
    texts = {verb: output(program, verb, "--help") for verb in verbs} | {"": usage}
    helps = {verb: options_of(text) for verb, text in texts.items()}
    for verb, options in helps.items():
        assert {"--help", "--version"} | (EVERYWHERE.get(name(program), set()) if verb else set()) <= options or not options, (verb, options)
    check_pages(program, helps)
    if os.path.exists(name(program) + ".1"):
        check_installed(program, name(program) + ".1", helps)
    more = MORE[name(program)] | {
        tuple(filter(bool, (verb, option))) + ("",): words for verb, text in texts.items() for option, words in choices_of(text).items()
    }
    lines = [[verb, "--"] if verb else ["--"] for verb in helps] + [list(line) for line in more]
    for shell, complete in {"bash": in_bash, "fish": in_fish, "zsh": in_zsh}.items():
        if not shutil.which(shell):
            print(f"{shell}: not installed")
            continue
        found = complete(program, lines, folder)
        for line, candidates, wanted in zip(lines, found, [*helps.values(), *more.values()], strict=True):
            assert candidates == wanted, (shell, line, candidates ^ wanted)
        print(f"{name(program)}, {shell}: {sum(len(options) for options in helps.values())} options of {len(verbs)} verbs")
    return verbs


def saved_state(program, folder):
    """A state directory with the symbol and the account of a backtest."""
    bars, state = os.path.join(folder, "BTCUSDT_1m.csv"), os.path.join(folder, "state")
    with open(bars, "w", encoding="utf-8") as file:
        file.write("open_time,open,high,low,close,volume\n" + "".join(f"{1704067200000 + i * 60000},1,1,1,1,1\n" for i in range(99)))
    output(program, "backtest", "--strategy", "sma-cross-rsi", "--bars", bars, "--no-cache", "--json", "--save", state)
    return state


def check_names(program, folder):
    """What a state has, in each shell: --state is read from the line."""
    state = saved_state(program, folder)
    lines = {("what-if", "--strategy", "sma"): {"sma-cross", "sma-cross-rsi", "sma-cross-rsi-risk"},
             ("--state", state, "what-if", "--account", ""): {"sma-cross-rsi"},
             ("bars", "--state", state, "B"): {"BTCUSDT"}, ("bars", f"--state={state}", "B"): {"BTCUSDT"},
             (f"--state={state}", "what-if", "--account", ""): {"sma-cross-rsi"}, (f"--state={state}", "what-if", "--account=s"): {"--account=sma-cross-rsi"}}
    for shell, complete in {"bash": in_bash, "fish": in_fish, "zsh": in_zsh}.items():
        if shutil.which(shell):
            found = complete(program, [list(line) for line in lines], folder)
            assert found == list(lines.values()), (shell, found)
    if shutil.which("zsh") and shutil.which("tmux"):
        on_terminal(program, folder)


def main():
    programs = [os.path.abspath(path) for path in sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="pt-") as folder:
        verbs = {name(program): check_program(program, folder) for program in programs}
        check_names(programs[0], folder)
    assert len(verbs["papertape"]) >= 30 and len(verbs["papertape-trainer"]) >= 9 and len(verbs) == 4, verbs
    return 0


if __name__ == "__main__":
    sys.exit(main())

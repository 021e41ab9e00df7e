#!/usr/bin/env python3
"""What a user keeps of the dashboard, in tmux, on papertaped and the synthetic market: keys of [keys] and those that F2 changes do
what their actions say, its effect read back from the daemon; colours, glyphs, zone and interval of F2; a saved view is opened by key,
line and option; both also after a restart; what is wrong in either file is said."""

import os
import re
import subprocess

import dashboard
import dashboard_command
import harness

show = dashboard_command.show


def leave(tmux, key):
    tmux.keys(key)
    dashboard.wait("the terminal as it was", lambda: tmux.terminal() == "0 1", tmux.terminal)


def trading(daemon, state):
    daemon.wait_status(lambda s: s["trading"] == state, f"trading {state}")


def keys(tmux, daemon, ini):
    """X pauses, p no longer does; q is the help, and F10 quits."""
    with open(ini, "w", encoding="utf-8") as file:
        file.write("[keys]\npause = X\nquit = F10\nhelp = q\n")
    show(tmux, daemon)
    dashboard.expect(tmux, "q=help", "X pause", "F10 quit")
    tmux.keys("p", "X")
    trading(daemon, "paused")
    dashboard.expect(tmux, "pause done", "TRADING paused")  # the key undoes what is shown, once the answer has come
    tmux.keys("Escape", "p", "X")
    trading(daemon, "on")
    tmux.keys("q")
    dashboard.expect(tmux, " Help ", "F10         quit", "X           pause trading")
    tmux.keys("Escape")
    tmux.keys("F2")
    dashboard.expect(tmux, "Set-up", "K keys")
    tmux.keys("K")
    dashboard.expect(tmux, "─ Keys ─", "overview")
    tmux.keys("Down", "Enter")  # of the study's tab
    dashboard.expect(tmux, "press the new key")
    tmux.keys("X")
    dashboard.expect(tmux, "X is the key of pause")
    tmux.keys("Enter", "Q")
    dashboard.expect(tmux, "[x] study", "changed, not saved: ")
    tmux.keys("s")
    dashboard.expect(tmux, "set-up done  saved in")
    with open(ini, encoding="utf-8") as file:
        kept = file.read()
    assert kept.endswith("[keys]\nstudy = Q\nquit = F10\nhelp = q\npause = X\n"), kept
    tmux.keys("Escape", "Q")
    dashboard.expect(tmux, "[Q]Study")
    leave(tmux, "F10")
    with open(ini, "w", encoding="utf-8") as file:
        file.write("[keys]\npause = z\nflaten = X\n")
    show(tmux, daemon)
    tmux.keys("F2")
    words = lambda: " ".join(" ".join(re.findall("│(.*)│", tmux.screen())).split())  # noqa: E731
    dashboard.wait("both wrong lines", lambda: all(text in words() for text in (
        ":2: [keys] pause: z is the key of zoom", ":3: [keys] flaten: no such action")), tmux.screen)
    tmux.keys("Escape")
    dashboard.expect(tmux, "TRADING on")  # the daemon has answered: a key before that is refused
    tmux.keys("p")  # its usual one
    trading(daemon, "paused")
    dashboard.expect(tmux, "pause done", "TRADING paused")
    tmux.keys("p")
    trading(daemon, "on")
    leave(tmux, "q")
    os.remove(ini)


def views(tmux, daemon, folder):
    show(tmux, daemon)
    tmux.keys("4", "L", "z", ":")
    tmux.type("view save chart")
    tmux.keys("Enter")
    dashboard.expect(tmux, "view chart saved; V lists them")
    tmux.keys("z", "L", "1", ":")
    tmux.type("view ch")
    tmux.keys("Tab", "Enter")
    dashboard.expect(tmux, "[4]Mkt", "view done  chart")
    tmux.keys("1", "V")
    dashboard.expect(tmux, "Saved views", "chart")
    tmux.keys("1")
    dashboard.expect(tmux, "[4]Mkt")
    leave(tmux, "q")
    show(tmux, daemon, "--view chart")
    dashboard.expect(tmux, "[4]Mkt")
    leave(tmux, "q")

    environment = {**os.environ, "XDG_CONFIG_HOME": folder}
    run = lambda *words: subprocess.run([harness.PAPERTAPE, "--state", daemon.state, *words], env=environment, text=True,  # noqa: E731
                                        capture_output=True, timeout=60, check=False)
    done = run("--view", "chart", "--dump-screen", "80x24")
    assert done.returncode == 0 and "[4]Mkt" in done.stdout and not done.stderr, done
    done = run("--view", "cahrt", "--dump-screen", "80x24")
    assert done.returncode == 2 and "no view is saved as cahrt" in done.stderr and "chart" in done.stderr, done
    for words in (["--json"], []):  # what has no screen
        done = run("--view", "chart", *words)
        assert done.returncode == 2 and "--view" in done.stderr and not done.stdout, done
    path = os.path.join(folder, "papertape/views/chart.ini")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("symbol = ", "symbol = GONEUSDT"))
    done = run("--view", "chart", "--dump-screen", "80x24")
    assert done.returncode == 0 and "gone: symbol GONEUSDT" in done.stderr, done
    show(tmux, daemon, "--view chart")
    dashboard.expect(tmux, "view gone: symbol GONEUSDT")
    tmux.keys("Escape", ":")
    tmux.type("view remove chart")
    tmux.keys("Enter")
    dashboard.expect(tmux, "view chart removed")
    assert os.listdir(os.path.dirname(path)) == []
    leave(tmux, "q")


def boxes(tmux, daemon, ini):
    """From F2 to the columns of a list and to the saved views, and back; what is chosen is kept."""
    show(tmux, daemon)
    tmux.keys("3", "F2")
    dashboard.expect(tmux, "Set-up", ">scheme", "columns    orders")
    tmux.keys(*["Down"] * 6)
    dashboard.expect(tmux, ">columns")
    tmux.keys("l", "Enter")
    dashboard.expect(tmux, "Columns of the fills", "auto")
    tmux.keys("Space")
    dashboard.expect(tmux, "changed, not saved: fills_columns")
    tmux.keys("Escape")
    dashboard.expect(tmux, "Set-up", ">columns    fills")
    tmux.keys(*["Down"] * 3)
    tmux.keys("Enter")
    dashboard.expect(tmux, "Saved views", "no view is saved")
    tmux.keys("Escape")
    dashboard.expect(tmux, "Set-up", ">views      0 saved")
    tmux.keys("s")
    dashboard.expect(tmux, "set-up done  saved in")
    with open(ini, encoding="utf-8") as file:
        kept = file.read()
    assert "\nfills_columns = " in kept and "\nfills_columns = auto\n" not in kept, kept
    leave(tmux, "q")
    os.remove(ini)


def coloured(tmux):
    """Does the screen have a colour, as tmux has it?"""
    return re.search(r"\x1b\[(?:\d+;)*(?:[34][0-7]|9[0-7]|[34]8;[25];)", tmux.run("capture-pane", "-e", "-p")) is not None


def clock(tmux):
    """The minutes of the day in the second line, and its zone."""
    found = re.search(r"(\d\d):(\d\d):\d\d(\S*) +\d", tmux.screen().splitlines()[1])
    return (int(found[1]) * 60 + int(found[2]), found[3]) if found else (None, None)


def at_the_clock(tmux, daemon, east):
    """The time is the daemon's, so many minutes east of UTC."""
    wanted = lambda: (daemon.status_object()["now_ns"] // (60 * 10**9) + east) % 1440  # noqa: E731
    dashboard.wait(f"a time {east} minutes east", lambda: clock(tmux)[0] == wanted(), tmux.screen)


def chosen(tmux):
    """The chosen row of the box: its name, and its value."""
    found = re.search(r">(\w+) +(\S+)", tmux.screen().partition("Set-up")[2])
    return found and found.groups()


def settings(tmux, daemon, ini):
    """Scheme, glyphs, zone and interval by F2: seen at once, saved, and seen after a restart, where the usual ones were before."""
    east = 5 * 60 + 45  # Nepal
    tmux.type("export TZ=NPT-05:45")
    tmux.keys("Enter")
    show(tmux, daemon)
    dashboard.expect(tmux, "1.0s  ?=help")
    assert coloured(tmux) and not tmux.screen().isascii(), tmux.screen()
    at_the_clock(tmux, daemon, 0)
    tmux.keys("F2")
    dashboard.expect(tmux, ">scheme")
    rows = ("scheme", "mono"), ("glyphs", "ascii"), ("times", "local"), ("interval", "2")
    for name, value in rows:
        while (before := chosen(tmux))[0] != name:
            tmux.keys("Down")
            dashboard.wait("the next row", lambda before=before: chosen(tmux) not in (None, before), tmux.screen)
        while (before := chosen(tmux))[1] != value:
            tmux.keys("l")
            dashboard.wait("the next value", lambda before=before: chosen(tmux) not in (None, before), tmux.screen)
    tmux.keys("s")
    dashboard.expect(tmux, "set-up done  saved in")
    with open(ini, encoding="utf-8") as file:
        kept = file.read().splitlines()
    assert all(f"{name} = {value}" in kept for name, value in rows), kept
    for when in ("at once", "after a restart"):
        tmux.keys("Escape")
        dashboard.expect(tmux, "2.0s  ?=help")
        at_the_clock(tmux, daemon, east)
        dashboard.wait(f"ASCII {when}", lambda: tmux.screen().isascii(), tmux.screen)
        assert not coloured(tmux), (when, tmux.run("capture-pane", "-e", "-p"))
        leave(tmux, "q")
        if when == "at once":
            show(tmux, daemon)
    os.remove(ini)


def main():
    with dashboard_command.terminal() as (tmux, daemon, kept):
        os.makedirs(os.path.join(kept, "papertape"))
        keys(tmux, daemon, os.path.join(kept, "papertape/dashboard.ini"))
        views(tmux, daemon, kept)
        boxes(tmux, daemon, os.path.join(kept, "papertape/dashboard.ini"))
        settings(tmux, daemon, os.path.join(kept, "papertape/dashboard.ini"))
    print("system/dashboard_kept: keys, views, boxes and settings")


if __name__ == "__main__":
    main()

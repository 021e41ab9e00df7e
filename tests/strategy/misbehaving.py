"""A strategy's process that misbehaves, for tests/strategy/process.c: misbehaving.py MODE,... [ARGUMENT] (standard library only).

It describes itself, gets ready, and answers each bar with an entry whose `why` says what it has seen: the bars of
history, and its state; except at bars whose close is 2, 3, ..., where the first, second, ... MODE says what it does.
"""

import fcntl
import json
import os
import signal
import sys

MODES, ARGUMENT = sys.argv[1].split(","), sys.argv[2] if len(sys.argv) > 2 else None
DESCRIPTION = {
    "type": "strategy",
    "protocol": 1,
    "name": "misbehaving",
    "summary": "for a test",
    "params": [
        {"name": "fast", "summary": "bars", "default": 10, "min": 1, "max": 1000, "integer": True},
        {"name": "share", "summary": "of equity", "default": 0.5, "min": 0, "max": 1, "integer": False},
        {"name": "average", "default": "sma", "words": ["sma", "ema"]},
    ],
    "history": 3,
}


def say(value):
    text = value if isinstance(value, str) else json.dumps(value)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def wait_for_release():
    with open(ARGUMENT, "rb") as gate:  # a FIFO: opens when the test opens it
        gate.read()


def first_time():
    """Is this the first process of the test?"""
    try:
        os.close(os.open(ARGUMENT, os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False


def misbehave(mode, answer):
    """True: that was the answer."""
    if mode == "hang":
        wait_for_release()
    elif mode == "long":
        say("x" * (10 << 20))
    elif mode == "garbage":
        say("\x00\x01garbage")
        return True
    elif mode == "half":
        sys.stdout.write('{"type":"intents",')
        sys.stdout.flush()
        return True
    elif mode == "nan":
        say({**answer, "intents": [{"kind": "enter", "fraction": float("nan")}]})
        return True
    elif mode == "kind":
        say({**answer, "intents": [{"kind": "buy", "fraction": 1}]})
        return True
    elif mode == "many":
        say({**answer, "intents": [{"kind": "exit"}] * 20})
        return True
    elif mode == "other":
        say({**answer, "bar": answer["bar"] + 1})
        return True
    elif mode == "error":
        say({"type": "error", "bar": answer["bar"], "symbol": answer["symbol"], "text": "NameError: x"})
        return True
    elif mode == "exit" and first_time():
        print("some words\nThe last words", file=sys.stderr)
        os._exit(3)
    elif mode == "die" and first_time():
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "close":
        os.close(1)
        signal.pause()
    elif mode == "fork" and first_time():
        ready, locked = os.pipe()
        if os.fork() == 0:  # holds the pipes and the lock, and is deaf
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            with open(ARGUMENT, "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                os.write(locked, b"1")
                while True:
                    signal.pause()
        os.read(ready, 1)
        os._exit(0)
    elif mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    elif mode == "state":
        say({**answer, "state": "x" * 70000})
        return True
    return False


def main():
    history, states = 0, {}
    for text in sys.stdin:
        line = json.loads(text)
        if line["type"] == "describe":
            say(DESCRIPTION)
        elif line["type"] == "hello":
            params = line["params"]
            states = dict(zip((symbol["symbol"] for symbol in line["symbols"]), line["states"]))
            if MODES == ["ready"]:
                say(ARGUMENT)
                continue
            if params["fast"] == 13:
                say({"type": "error", "text": "fast: not 13"})
                continue
            ready = json.dumps({"type": "ready", "indicators": [f"{params['average']}:{params['fast']}"]})
            if MODES == ["early"] and line["mode"] != "check":  # both at once
                ready += '\n{"type":"intents","bar":0,"symbol":"BTCUSDT","intents":[]}'
            say(ready)
        else:
            history += line.get("history", False)
            seen = states.get(line["symbol"])
            answer = {"type": "intents", "bar": line["time"], "symbol": line["symbol"], "state": {"closed": line["close"]}}
            answer["intents"] = [{"kind": "enter", "fraction": 0.5, "why": f"{history} {json.dumps(seen)}"}]
            states[line["symbol"]] = answer.get("state")
            place = int(line["close"]) - 2
            if 0 <= place < len(MODES) and not line.get("history") and misbehave(MODES[place], answer):
                continue
            say(answer)


main()

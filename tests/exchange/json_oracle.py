"""What the JSON reader accepts against Python's json, over a generated corpus of sound and damaged texts.

The reader's documented limits apply: 64 containers deep; bytes of strings are handed out as they stand, so UTF-8
is not looked at (the corpus is ASCII)."""
import json
import os
import random
import subprocess
import sys

seed = int(os.environ.get("PAPERTAPE_SEED", "20261121"), 0)
print(f"PAPERTAPE_SEED={seed}")
rng = random.Random(seed)
CASES = 40000
DEPTH_MAX = 64


def refuse(word):
    raise ValueError(word)


def value(depth):
    kind = rng.randint(0, 9 if depth < 5 else 6)
    if kind < 2:
        return str(rng.choice([0, -0.0, 1, -17, 1.5, 1e-7, 6.02e23, rng.getrandbits(80), rng.random()]))
    if kind < 4:
        return json.dumps("".join(rng.choice('aZ"\\/\n\t\u00e9\U0001f600 {}[]:,0') for _ in range(rng.randint(0, 6))))
    if kind < 7:
        return rng.choice(["true", "false", "null", "{}", "[]", '""', "0"])
    space = rng.choice(["", "", " ", "\n\t\r "])
    items = [value(depth + 1) for _ in range(rng.randint(0, 4))]
    if kind == 7:
        return "[" + space + ("," + space).join(items) + space + "]"
    return "{" + space + ("," + space).join(f'"{rng.choice("abesk")}"{space}:{space}{item}' for item in items) + "}"


def damaged(text):
    text = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(text))
        what = rng.random()
        if what < 0.4 and at < len(text):
            del text[at]
        elif what < 0.7:
            text.insert(at, rng.choice('{}[]",:0123456789.eE+-\\ tfnul\x00\x1f\x7f'))
        elif at < len(text):
            text[at] = rng.choice('{}[]",:0123456789.eE+-\\ tfnul\x00\x1f\x7f')
    return "".join(text)


def depth_of(parsed):
    if isinstance(parsed, list):
        return 1 + max(map(depth_of, parsed), default=0)
    if isinstance(parsed, list_of_pairs):
        return 1 + max((depth_of(v) for _, v in parsed.pairs), default=0)
    return 0


class list_of_pairs:  # an object with its double keys, which a dict would swallow
    def __init__(self, pairs):
        self.pairs = pairs


def accepted(text):
    try:
        parsed = json.loads(text, parse_constant=refuse, object_pairs_hook=list_of_pairs, parse_int=float)
    except ValueError:
        return "0"
    return "1" if depth_of(parsed) <= DEPTH_MAX else "0"


texts = []
for _ in range(CASES):
    text = value(0)
    texts.append(text)
    texts.append(damaged(text))
for depth in (63, 64, 65, 66):
    texts += ["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth]
run = subprocess.run([sys.argv[1], "json"], input="".join(t.encode("ascii").hex() + "\n" for t in texts),
                     capture_output=True, text=True, check=True)
got = run.stdout.splitlines()
expected = [accepted(text) for text in texts]
wrong = [(t, e, g) for t, e, g in zip(texts, expected, got) if e != g]
for text, want, answer in wrong[:20]:
    print(f"{text!r}: {answer}, Python says {want}")
refused = expected.count("0")
print(f"{len(texts)} texts, {refused} of them not JSON, {len(wrong)} judged otherwise")
sys.exit(bool(wrong) or len(got) != len(texts) or not CASES // 4 < refused < CASES)

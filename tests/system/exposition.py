"""Prometheus' text format 0.0.4, read strictly; and what docs/prometheus.md says that each metric is."""

import json
import math
import os
import re

import harness

NAME = r"[a-z][a-z0-9_]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:{NAME}="(?:[^"\\\n]|\\["\\n])*",?)*)\}})? (\S+)')
LABEL = re.compile(rf'({NAME})="((?:[^"\\\n]|\\["\\n])*)"')
NUMBER = re.compile(r"-?(\d+(\.\d+)?(e[-+]\d+)?)")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}


class Family:
    def __init__(self, name, text):
        self.name, self.help, self.kind, self.samples = name, text, None, {}


def unescaped(text):
    return re.sub(r'\\(["\\n])', lambda found: {"n": "\n"}.get(found[1], found[1]), text)


def labels_of(text):
    labels = LABEL.findall(text or "")
    assert ",".join(f'{name}="{value}"' for name, value in labels) == (text or ""), text
    assert len({name for name, _ in labels}) == len(labels), text
    return tuple((name, unescaped(value)) for name, value in labels)


def add(family, line):
    found = SAMPLE.fullmatch(line)
    assert found, line
    name, labels, number = found.groups()
    assert NUMBER.fullmatch(number), line
    assert name in [family.name + suffix for suffix in SUFFIXES.get(family.kind, ("",))], (line, family.name)
    key = (name, labels_of(labels))
    assert key not in family.samples, f"twice: {line}"
    family.samples[key] = float(number)


def histogram(family):
    """Buckets go up, and the last one has all."""
    buckets = [(float(dict(labels)["le"]), value) for (name, labels), value in family.samples.items() if name.endswith("_bucket")]
    assert buckets and buckets == sorted(buckets) and [v for _, v in buckets] == sorted(v for _, v in buckets), family.name
    assert math.isinf(buckets[-1][0]) and buckets[-1][1] == family.samples[(family.name + "_count", ())]


def parse(text):
    """{name: Family}; the text is whole, each family has HELP, then TYPE, then its samples, and once."""
    families, family = {}, None
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        head = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.+)", line)
        if not head:
            assert family and family.kind, line
            add(family, line)
            continue
        word, name, rest = head.groups()
        if word == "HELP":
            assert name not in families and (family is None or family.kind), line
            family = families[name] = Family(name, rest)
        else:
            assert family.name == name and family.kind is None and rest in ("counter", "gauge", "histogram"), line
            assert (rest == "counter") == name.endswith("_total"), line
            family.kind = rest
    for family in families.values():
        assert family.name.startswith(("papertape_", "process_")), family.name
        if family.kind == "histogram":
            histogram(family)
    return families


# ---- the page's table ----

UNITS = (("_seconds", "_ms", 1e-3), ("_seconds", "_ns", 1e-9), ("_ratio", "_pct", 1e-2), ("_bytes", "_mib", 1 << 20),
         ("_hertz", "_mhz", 1e6))


class Row:
    def __init__(self, name, kind, labels, text, place):
        self.name, self.kind, self.labels, self.text = name.strip("`"), kind, labels.split(), text
        before, _, within = place.strip("`").partition("[].")
        self.path = f"{before}.{within}".strip(".").split(".") if place else []
        self.depth = len(before.split(".")) if within else len(self.path) - 1  # of the list, or of the object of the value
        self.each = "[]" in place
        self.factor = next((factor for of, end, factor in UNITS if self.name.endswith(of) and place.strip("`").endswith(end)), 1)


def rows():
    with open(os.path.join(harness.SOURCE, "docs/prometheus.md"), encoding="utf-8") as file:
        table = file.read().partition("| metric | ")[2].split("\n")[2:]
    return [Row(*(cell.strip() for cell in line[1:-1].split(" | "))) for line in table if line]


def values(row, status):
    """{labels: number} that the status gives for a row of the table."""
    at = status
    for part in row.path[:row.depth]:
        at = (at or {}).get(part)
    found = {}
    for element in (at or []) if row.each else [at]:
        value = element
        for part in row.path[row.depth:]:
            value = (value or {}).get(part)
        labels = tuple((name, (element or {}).get(name) or "") for name in row.labels if name in (element or {}) and name != "state")
        if "state" in row.labels:
            found[labels] = value
        elif "reason" in row.labels:
            found |= {labels + (("reason", reason),): n for reason, n in (value or {}).items()}
        elif isinstance(value, list):
            found[labels] = len(value)
        elif value is not None:
            found[labels] = float(value) * row.factor
    return found


def dashboard():
    """Each expression of the dashboard, by its panel."""
    with open(os.path.join(harness.SOURCE, "docs/grafana-dashboard.json"), encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", [])]

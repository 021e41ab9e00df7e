"""Adds up what ./check ran and prints it: slow tests, counts, skips and failures with their reasons, and as the
last line "N passed, N failed, N skipped". Exit status 1 if a test failed or none passed.

usage: report.py --steps STEPS.tsv [BUILD=TESTLOG.json ...]
       report.py --failed BUILD=TESTLOG.json ...   prints what failed and may have been late, "BUILD NAME" a line

STEPS.tsv has a line for each step outside Meson: PASS or FAIL, name, reason. A TESTLOG.json is Meson's: one JSON object a
line. A test that failed and passes in a later log of its build is unsteady: named, and no failure. A test says why it skips in its last line; one whose counts --long raises prints them after "counts: ".
"""
import argparse
import collections
import json
import re
import sys

KINDS = {
    "OK": "passed",
    "EXPECTEDFAIL": "passed",
    "SKIP": "skipped",
}  # everything else Meson knows (FAIL, ERROR, TIMEOUT, INTERRUPT, UNEXPECTEDPASS) is a failure

REASON_MAX = 400  # characters of it that are shown; the log has all

Outcome = collections.namedtuple("Outcome", "kind name reason seconds counts late", defaults=[False])


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def read_steps(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            result, name, reason = line.rstrip("\n").split("\t")
            yield Outcome("passed" if result == "PASS" else "failed", name, reason, 0.0, [])


def was_late(test):
    """Was a whole program perhaps only slow? One that a sanitizer reports, or a signal ended, was not."""
    suites = test["name"].split(" / ", 1)[0].split(":")[-1].split("+")
    output = (test.get("stdout") or "") + (test.get("stderr") or "")
    ended = test["result"] == "TIMEOUT" or (test["result"] == "FAIL" and test["returncode"] >= 0)
    return "system" in suites and ended and not re.search(r"Sanitizer|runtime error:", output)


def read_log(build, path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            test = json.loads(line)
            output, errors = test.get("stdout") or "", test.get("stderr") or ""
            kind = KINDS.get(test["result"], "failed")
            reason = last_line(output) or last_line(errors)
            if kind == "failed":
                reason = f"{test['result'].lower()}, status {test['returncode']}: {last_line(errors) or last_line(output)}"
            counts = [text for text in (output + "\n" + errors).splitlines() if text.startswith(("reduced: ", "counts: "))]
            name = test["name"].split(" / ", 1)[-1]
            yield Outcome(kind, f"{build} {name}", reason, test["duration"], counts, was_late(test))


def read_logs(logs):
    """What came of each test: a later log's outcome takes the place of a failure."""
    outcomes = {}
    for log in logs:
        build, _, path = log.partition("=")
        for outcome in read_log(build, path):
            former = outcomes.get(outcome.name)
            if former and former.kind == "failed" and outcome.kind == "passed":
                outcome = former._replace(kind="unsteady", reason=f"passed alone; beside others: {former.reason}")
            outcomes[outcome.name] = outcome
    return list(outcomes.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--steps")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("logs", nargs="*", metavar="BUILD=TESTLOG.json")
    args = parser.parse_args()

    outcomes = read_logs(args.logs)
    if args.failed:
        print(*(outcome.name for outcome in outcomes if outcome.kind == "failed" and outcome.late), sep="\n")
        return 0
    outcomes = list(read_steps(args.steps)) + outcomes
    count = collections.Counter(outcome.kind for outcome in outcomes)

    for outcome in sorted(outcomes, key=lambda o: -o.seconds)[:5]:
        if outcome.seconds >= 10:
            print(f"slow: {outcome.seconds:.0f} s {outcome.name}")
    for outcome in outcomes:
        for line in outcome.counts:
            print(f"{line} ({outcome.name})")
    for kind in "skipped", "unsteady", "failed":
        for outcome in outcomes:
            if outcome.kind == kind:
                print(f"{kind}: {outcome.name}: {outcome.reason[:REASON_MAX] or 'no reason given'}")
    passed = count["passed"] + count["unsteady"]
    print(f"{passed} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

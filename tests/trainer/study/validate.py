"""`papertape-trainer validate`: its JSON, its page, and what it refuses: python3 validate.py PAPERTAPE_TRAINER MAKE_STUDY

The page must be well-formed XML and HTML that loads nothing, its figures the JSON's, its curves those of the returns.
"""
import html.parser
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../program"))
from program import Trainer, check, done  # noqa: E402

DAY = 86400
ODD = "<b>&amp; \"x\" 'y' \x01é"  # a name that must be escaped


def write(folder, name, columns, rows=400, times=True):
    """Columns {name: (mean, level)}; the returns by name."""
    draw = random.Random(name)
    data = {key: [mean + 0.01 * draw.gauss(0, 1) for _ in range(rows)] for key, mean in columns.items()}
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        heads = ['"' + key.replace('"', '""') + '"' for key in data]
        file.write(",".join((["timestamp_ns"] if times else []) + heads) + "\n")
        for i in range(rows):
            cells = [str((1704067200 + i * DAY) * 10**9)] if times else []
            file.write(",".join(cells + [repr(data[key][i]) for key in data]) + "\n")
    return path, data


def equity(returns):
    value = 1.0
    for r in returns:
        value *= 1 + r
    return value


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes


def numbers(value):
    """All that are in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [float(value)] if isinstance(value, (int, float)) else []


def test_json(out, data, periods):
    names = [key for key in data if key not in ("holding", "equal_weight")]
    check(out["schema"] == "papertape.validation/1" and out["trials"] == len(names) and out["rows"] == 400, f"head: {out['schema']}")
    check(out["splits"] == 3432 and out["blocks"] == 14 and out["dropped_rows"] == 400 % 14, f"splits: {out['splits']}")
    check(sorted(column["name"] for column in out["columns"]) == sorted(name.replace("\x01", "\x01") for name in names), "names")
    scale = math.sqrt(periods or 1)
    for column in [*out["columns"], out["holding"], out["equal_weight"]]:
        if column is None:
            continue
        returns = data[column.get("name", "holding" if column is out["holding"] else "equal_weight")]
        sharpe = statistics.mean(returns) / statistics.stdev(returns) * scale
        check(abs(column["sharpe"] - sharpe) < 1e-11 and abs(column["return_pct"] - 100 * (equity(returns) - 1)) < 1e-9, f"figures: {column}")
    check([c["sharpe"] for c in out["columns"]] == sorted((c["sharpe"] for c in out["columns"]), reverse=True), "columns: the best first")
    check(out["best"] == out["columns"][0] and out["median"] == out["columns"][(len(names) - 1) // 2], "best and median")
    check(abs(sum(c["chosen_pct"] for c in out["columns"]) - 100) < 1e-9, "chosen: 100 % in all")
    counts = out["lambda"]["counts"]
    check(sum(counts) == 3432 and sum(counts[: len(counts) // 2]) / 3432 == out["pbo"], f"lambda: {sum(counts)}")
    check(len(out["points"]) == 3432, f"points: {len(out['points'])}")
    check(abs(sum(y < 0 for _, y in out["points"]) / 3432 - out["probability_of_loss"]) < 1e-12, "probability of loss")
    check(out["deflated"]["deflated_sharpe"] <= out["deflated"]["deflated_capped"] <= out["deflated"]["probabilistic_sharpe"], "deflated")
    test_deflated(out, data, names, scale)


def deflated(returns, variance, trials):
    """Probability that its Sharpe is above the best that chance shows, and that."""
    n, mean, normal = len(returns), statistics.mean(returns), statistics.NormalDist()
    moments = [sum((r - mean) ** k for r in returns) / n for k in (2, 3, 4)]
    sharpe, skew, kurtosis = mean / statistics.stdev(returns), moments[1] / moments[0] ** 1.5, moments[2] / moments[0] ** 2
    gamma = 0.5772156649015329
    luck = math.sqrt(variance) * ((1 - gamma) * normal.inv_cdf(1 - 1 / trials) + gamma * normal.inv_cdf(1 - 1 / (trials * math.e)))
    return normal.cdf((sharpe - luck) * math.sqrt(n - 1) / math.sqrt(1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe**2)), luck


def test_deflated(out, data, names, scale):
    series, best, found = [data[name] for name in names], data[out["best"]["name"]], out["deflated"]
    check(found == out["deflated_best"] and out["proposed"] is None and found["name"] == out["best"]["name"], "without a proposal it is of the best")
    check(found["column"] == out["best"]["column"], f"deflated: column {found['column']}")
    rows = len(best)

    def sharpe(returns):
        return statistics.mean(returns) / statistics.stdev(returns)
    variance = statistics.variance([sharpe(returns) for returns in series])
    papers, expected = deflated(best, variance, len(names))
    capped, luck = deflated(best, min(variance, 1 / (rows - 1)), len(names))
    right = {"deflated_sharpe": papers, "expected_sharpe": expected * scale, "deflated_capped": capped, "expected_capped": luck * scale,
             "sharpe": sharpe(best) * scale, "sharpe_deviation": math.sqrt(variance) * scale, "skill": capped}
    if "holding" in data:
        held = data["holding"]
        beyond = {}
        for name in names:
            beta = statistics.covariance(data[name], held) / statistics.variance(held)
            beyond[name] = [r - beta * h for r, h in zip(data[name], held)]
        variance = statistics.variance([sharpe(returns) for returns in beyond.values()])
        right["deflated_beyond_holding"] = deflated(beyond[out["best"]["name"]], min(variance, 1 / (rows - 1)), len(names))[0]
        right["skill"] = min(capped, right["deflated_beyond_holding"])
    else:
        check(found["deflated_beyond_holding"] is None, "nothing is beyond holding that is not known")
    for key, value in right.items():
        check(abs(found[key] - value) < 1e-8, f"{key} is {found[key]}, not {value}")


def test_page(path, out, data, title):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    tags = Tags()
    tags.feed(text)
    tags.close()
    check(not {"script", "link", "img", "iframe", "object", "a"} & set(tags.tags), f"it loads nothing: {sorted(set(tags.tags))}")
    check(not any(key in ("src", "href", "style") or key.startswith("on") for key, _ in tags.attributes), "no attribute loads or runs")
    check(not any(word in text for word in ("url(", "@import", "<b>", "http", "<script")), "nothing is loaded, names are escaped")
    check("prefers-color-scheme: dark" in text, "dark")
    root = xml.etree.ElementTree.fromstring(text)
    check(root.find(".//h1").text == title, f"title: {root.find(f'.//h1').text}")
    svgs = root.findall(".//svg")
    if not check(len(svgs) == 3, f"{len(svgs)} pictures"):
        return
    for svg in svgs:
        _, _, width, height = map(float, svg.get("viewBox").split())
        check(svg.find("title").text, "a title for screen readers")
        for item in svg.iter():
            places = [place.split(",") for place in item.get("points", "").split()]
            places += [(item.get(x), item.get(y)) for x, y in (("x", "y"), ("x1", "y1"), ("x2", "y2"), ("cx", "cy")) if item.get(x)]
            check(all(0 <= float(x) <= width and 0 <= float(y) <= height for x, y in places), f"outside of the picture: {item.attrib}"[:200])
    known = numbers(out)
    figures = [(float(data.get("value")), float(data.text)) for data in root.iter("data")]
    for value, said in figures:
        check(value in known and abs(said - value) <= 5e-4 * abs(value), f"the page says {said} of {value}")
    wanted = [out["pbo"], out["probability_of_loss"], out["slope"], out["intercept"], out["r2"], *numbers(out["deflated"])]
    for value in [*wanted[:5], out["deflated"]["deflated_sharpe"], out["deflated"]["skill"], *(c["sharpe"] for c in out["columns"])]:
        check(value in [figure for figure, _ in figures], f"{value} is not on the page")
    rows = [row.find("td").text for row in root.findall(".//table")[-1] if row.find("td") is not None]
    check(rows[: len(out["columns"])] == [c["name"].replace("\x01", "?") for c in out["columns"]], f"rows: {rows}")
    test_curves(svgs[0], out, data)
    bars = [float(rect.get("height")) for rect in svgs[1].findall("rect")]
    counts = out["lambda"]["counts"]
    scale = max(bars) / max(counts)
    check(len(bars) == len(counts) and all(abs(bar - scale * count) < 0.011 for bar, count in zip(bars, counts)), "bars")
    check([rect.get("class") for rect in svgs[1].findall("rect")] == ["c1"] * 12 + ["c0"] * 12, "bars' colours")
    check(len(svgs[2].findall(".//circle")) == len(out["points"]), "points")
    fit, = [line for line in svgs[2].findall("line") if line.get("class") == "fit"]
    rises = float(fit.get("y2")) < float(fit.get("y1"))
    check(rises == (out["slope"] > 0), "the line goes the slope's way")


def test_curves(svg, out, data):
    """Curves end where the equity does: as high above each other as the numbers say."""
    curves = {line.get("class"): line.get("points").split()[-1].split(",") for line in svg.findall("polyline")}
    names = [out["best"]["name"], out["median"]["name"], "holding", "equal_weight"]
    names = [name for name in names if name in data]
    check(sorted(curves) == [f"c{i}" for i in range(len(names))], f"curves: {sorted(curves)}")
    ends = [equity(data[name]) for name in names]
    heights = [-float(curves[f"c{i}"][1]) for i in range(len(names))]
    check(len({curves[f"c{i}"][0] for i in range(len(names))}) == 1, "curves end at one place")
    pixels = (heights[0] - heights[1]) / (ends[0] - ends[1])
    for i in range(len(names)):
        check(abs(heights[i] - heights[0] - pixels * (ends[i] - ends[0])) < 0.05, f"curve {i} ends at {heights[i]}")


def test_refused(trainer, folder, path):
    for words, said, status in (((), "--study STUDY is needed", 2), (("--returns", path, "--study", "x"), "one of --returns FILE, --study STUDY is right", 2),
                                (("--returns",), "needs a value", 2), ((path,), "no argument is expected", 2), (("--returns", path, "--block", "x"), "--blocks", 2),
                                (("--returns", path, "--blocks", "3"), "an even number", 2), (("--returns", path, "--blocks", "22"), "from 2 to 20", 2),
                                (("--returns", path, "--periods", "0"), "--periods: \"0\"", 2), (("--returns", path, "--periods", "x"), "--periods: \"x\"", 2),
                                (("--returns", "none.csv"), "none.csv: cannot be read", 1),
                                (("--returns", write(folder, "one.csv", {"a": 0})[0]), "1 trials: 2 or more", 1),
                                (("--returns", write(folder, "few.csv", {"a": 0, "b": 0}, rows=20)[0]), "at least 28 rows", 1),
                                (("--returns", path, "--report", "none/r.html"), "none/r.html: cannot be written", 1)):
        ran = trainer.run("validate", *words)
        check(ran.returncode == status and said in ran.stderr and ran.stderr.count("\n") == 1 and not ran.stdout, f"validate {words}: {ran.returncode} {ran.stderr}")
    with open(os.path.join(folder, "bad.csv"), "w") as file:
        file.write("a,b\n0.1,0.2\n0.1,o.2\n")
    ran = trainer.run("validate", "--returns", "bad.csv", "--report", "bad.html")
    check(ran.returncode == 1 and re.search(r'bad\.csv:3: column 2 "b": o\.2: a finite number is right', ran.stderr), f"bad: {ran.stderr}")
    check(not os.path.exists(os.path.join(folder, "bad.html")), "no page of what was refused")
    ran = trainer.run("validate", "--help")
    check(ran.returncode == 0 and "--returns" in ran.stdout, "help")


def write_study(make_study, path, folder, name, states, attribute):
    """A study in a file, and its trials' returns in folder."""
    subprocess.run([make_study, path, name, folder if attribute else "-", *states], check=True)
    for number in range(len(states)):
        os.makedirs(os.path.join(folder, str(number)))
        write(os.path.join(folder, str(number)), "returns.csv", {f"path_{number}": 0, "b": 0.001 * number, "holding": 0}, rows=401 if number == 4 else 200)


def test_study(trainer, make_study, folder):
    """Complete trials count, and those that were pruned as tried; by STATE, by --storage, by the study's own folder."""
    states = ["COMPLETE", "PRUNED", "COMPLETE", "FAIL", "COMPLETE", "COMPLETE", "RUNNING"]
    state, other = os.path.join(folder, "state-1"), os.path.join(folder, "elsewhere")
    os.makedirs(state)
    write_study(make_study, os.path.join(state, "studies.db"), os.path.join(state, "studies", "mine"), "mine", states, False)
    write_study(make_study, os.path.join(folder, "other.db"), other, "mine", states, True)
    outs = []
    for words in (("--state", state), ("--storage", f"sqlite:///{folder}/other.db"), ("--storage", f"{folder}/other.db", "--state", state)):
        ran = trainer.run("validate", "--study", "mine", "--report", "s.html", *words)
        if not check(ran.returncode == 0 and not ran.stderr, f"study {words}: {ran.stderr}"):
            continue
        outs.append(json.loads(ran.stdout))
        check(outs[-1] == outs[0], f"study {words}: the same")
        out = outs[-1]
        check((out["study"], out["trials"], out["left_out"], out["deflated"]["trials"], out["rows"]) == ("mine", 3, 1, 5, 200), f"study: {out['trials']}")
        check(sorted(c["name"] for c in out["columns"]) == ["trial 0", "trial 2", "trial 5"], "study: names")
        check(out["deflated"]["name"] == out["proposed"]["name"] == "trial 0", f"study: its best: {out['deflated']}")
        check(out["deflated_best"]["name"] == out["best"]["name"] == "trial 5", f"study: the best by Sharpe: {out['deflated_best']}")
        check(abs(out["deflated"]["sharpe"] - out["proposed"]["sharpe"]) < 1e-9, f"study: its own Sharpe: {out['proposed']}")
        check(out["deflated"]["sharpe"] < out["deflated_best"]["sharpe"], "study: the best by Sharpe has more of it")
    for words, status, said in ((("--study", "mien", "--state", state), 1, "mine"), (("--study", "mine", "--state", other), 1, "studies.db"),
                                (("--study", "mine", "--storage", "mysql://x/y"), 2, "sqlite")):
        ran = trainer.run("validate", *words)
        check(ran.returncode == status and said in ran.stderr and ran.stderr.count("\n") == 1, f"validate {words}: {ran.stderr}")
    check(not os.path.exists(os.path.join(other, "studies.db")), "reading makes no file")


def test_search(trainer, make_study, folder):
    """NAME is all of its workers NAME_1, NAME_2 …, whose trials count as tried, and are compared where their rows are the same."""
    state = os.path.join(folder, "state-2")
    os.makedirs(state)
    for name, states in (("hunt_1", ["FAIL", "COMPLETE", "COMPLETE", "PRUNED"]), ("hunt_2", ["COMPLETE", "PRUNED", "COMPLETE", "COMPLETE", "COMPLETE"]),
                         ("hunting_1", ["COMPLETE", "COMPLETE"]), ("hunt_2_1", ["COMPLETE"] * 3)):
        write_study(make_study, os.path.join(state, "studies.db"), os.path.join(state, "studies", name), name, states, False)
    for name, columns, tried, left, proposed in (
            ("hunt", ["hunt_1 trial 1", "hunt_1 trial 2", "hunt_2 trial 0", "hunt_2 trial 2", "hunt_2 trial 3"], 8, 1, "hunt_2 trial 0"),
            ("hunt_1", ["trial 1", "trial 2"], 3, 0, "trial 1"),
            ("hunt_2", ["hunt_2 trial 0", "hunt_2 trial 2", "hunt_2 trial 3", *(f"hunt_2_1 trial {i}" for i in range(3))], 8, 1, None)):
        ran = trainer.run("validate", "--study", name, "--state", state)
        if not check(ran.returncode == 0 and not ran.stderr, f"{name}: {ran.stderr}"):
            continue
        out = json.loads(ran.stdout)
        check(sorted(c["name"] for c in out["columns"]) == columns, f"{name}: {[c['name'] for c in out['columns']]}")
        check((out["deflated"]["trials"], out["left_out"]) == (tried, left), f"{name}: {out['deflated']['trials']} tried, {out['left_out']} left out")
        check(proposed is None or out["deflated"]["name"] == out["proposed"]["name"] == proposed, f"{name}: {out['deflated']}")


def main(program, make_study):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        columns = {"trial 1": 0.0004, ODD: 0.002, "trial 3": -0.001, "c": 0, "d": 0.0002}
        cases = {"all.csv": ({**columns, "holding": 0.0005, "equal_weight": 0}, True, (), 365.0),
                 "alone.csv": (columns, False, (), None), "given.csv": (columns, False, ("--periods", "8760"), 8760.0)}
        for name, (these, times, words, periods) in cases.items():
            path, data = write(folder, name, these, times=times)
            page = os.path.join(folder, name + ".html")
            ran = trainer.run("validate", "--returns", path, "--report", page, *words, "--json")
            if not check(ran.returncode == 0 and not ran.stderr, f"{name}: {ran.stderr}"):
                continue
            out = json.loads(ran.stdout, parse_constant=lambda word: check(False, f"{word} is no JSON"))
            check(out["periods_per_year"] == periods and (out["first_ns"] is not None) == times, f"{name}: periods {out['periods_per_year']}")
            check((out["holding"] is not None) == ("holding" in these), f"{name}: holding")
            test_json(out, data, periods)
            test_page(page, out, data, f"Validation of {path}")
        test_refused(trainer, folder, path)
        test_study(trainer, os.path.abspath(make_study), folder)
        test_search(trainer, os.path.abspath(make_study), folder)
    done("trainer/validate")


if __name__ == "__main__":
    main(*sys.argv[1:3])

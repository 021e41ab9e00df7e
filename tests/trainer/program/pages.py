#!/usr/bin/env python3
"""The pages of `papertape-trainer eval --report`: pages.py PAPERTAPE-TRAINER (standard library only).

Each page passes tests/report/strict.py. Its figures are those of the JSON, its curves and trades those of the files that
--steps and --trades write; names are escaped; a page that cannot be written is refused in words."""
import collections
import csv
import json
import os
import shutil
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../report"))
from program import Trainer, check, config, done, write_market  # noqa: E402
import strict  # noqa: E402

MARKET = {"training": {"world": "market", "total_steps": 4096, "checkpoint_every": 0},
          "environment": {"lookback": 3, "initial_capital": 5000, "buy_cost_pct": 0.001, "sell_cost_pct": 0.001, "trailing_stop_pct": 0.02,
                          "norm_action": 2, "random_start": "true", "episode_bars": 100}}
ODD = "a <b>&\"'é.safetensors"


def page_of(path):
    """Its root; every fault of it is a failure."""
    strict.faults.clear()
    root = strict.check_page(path)
    check(not strict.faults, f"{path}: {strict.faults[:3]}")
    return root


def charts(root):
    return {svg.find("title").text: svg for svg in root.iter("svg")}


def facts(root):
    """By name: the number, or the words."""
    found = {}
    for table in root.iter("table"):
        for row in table.findall("tr"):
            cells = row.findall("td")
            if cells:
                number = cells[1].find("data")
                found[cells[0].text] = float(number.get("value")) if number is not None else cells[1].text
    return found


def near(what, got, right, digits=1e-9):
    check(isinstance(got, float) and abs(got - right) <= digits * max(1.0, abs(right)), f"{what}: {got}, not {right}")


def scale(svg):
    """From a height in the picture to a number, by two of the y axis' texts."""
    ticks = [(float(text.get("y")) - 4, float(text.text)) for text in svg.iter("text") if text.get("text-anchor") == "end"]
    (y0, low), (y1, high) = ticks[0], ticks[-1]
    return lambda y: low + (y - y0) / (y1 - y0) * (high - low), abs((high - low) / (y1 - y0)) * 0.01


def curve(svg, name):
    """The numbers of all points of a class, over its runs."""
    number, _ = scale(svg)
    runs = [line.get("points").split() for line in svg.findall("polyline") if line.get("class") == name]
    return [number(float(place.split(",")[1])) for run in runs for place in run]


def test_curves(root, steps, capital, whole):
    svgs = charts(root)
    with open(steps) as file:
        rows = list(csv.DictReader(file))
    for name, column, start in (("c0", "equity", [capital]), ("c2", "equity_benchmark", [])):
        right, drawn = start + [float(row[column]) for row in rows], curve(svgs["Equity"], name)
        _, grain = scale(svgs["Equity"])
        for what, pick in (("least", min), ("highest", max), ("last", lambda values: values[-1])):
            check(abs(pick(drawn) - pick(right)) <= 2 * grain, f"equity: {column}: the {what} is drawn at {pick(drawn)}, not {pick(right)}")
    _, grain = scale(svgs["Drawdown"])
    check(abs(min(curve(svgs["Drawdown"], "c4")) - whole["max_drawdown_pct"]) <= 2 * grain, f"drawdown: {whole['max_drawdown_pct']}")
    exposure = curve(svgs["Exposure"], "c0")
    check(min(exposure) >= -0.5 and max(exposure) <= 101, f"exposure: {min(exposure)} to {max(exposure)}")
    actions = [float(row["action_AAAUSDT"]) for row in rows]
    bars = [float(rect.get("height")) for rect in svgs["Actions: AAAUSDT"].findall("rect")]
    low, high = min(actions), max(actions)
    counts = collections.Counter(min(39, int((action - low) / (high - low) * 40)) for action in actions)
    check(len(bars) == 40 and abs(max(bars) / max(counts.values()) * counts[0] - bars[0]) < 0.5 + max(bars) / max(counts.values()), f"histogram: {bars[0]}")


def round_trips(path):
    """Profits from flat to flat, by symbol; of long positions."""
    found, open_trades = [], {}
    with open(path) as file:
        for row in csv.DictReader(file):
            qty = float(row["qty"]) * (1 if row["side"] == "BUY" else -1)
            held, profit, first = open_trades.get(row["symbol"], (0, 0, int(row["ts_ns"])))
            held, profit = held + qty, profit - qty * float(row["price"]) - float(row["fee"])
            open_trades[row["symbol"]] = held, profit, first
            if abs(held) < 1e-9:
                found.append((profit, row["symbol"]))
                del open_trades[row["symbol"]]
    return sorted(found, reverse=True)


def test_trades(root, path, whole):
    tables = [table for table in root.iter("table") if [cell.text for cell in table.iter("th")][:2] == ["symbol", "side"]]
    trips = round_trips(path)
    check(len(trips) == whole["trades"] > 2, f"{len(trips)} trades, {whole['trades']}")
    wins, losses = [t for t in trips if t[0] > 0][:8], [t for t in trips[::-1] if t[0] < 0][:8]
    for right, table in zip([listed for listed in (wins, losses) if listed], tables):
        rows = [row.findall("td") for row in table.findall("tr")[1:]]
        got = [(float(cells[6].find("data").get("value")), cells[0].text) for cells in rows]
        check(len(got) == len(right) and all(abs(a[0] - b[0]) < 1e-6 * 5000 and a[1] == b[1] for a, b in zip(got, right)), f"trades: {got} are not {right}")
    marks = {svg.find("title").text: [path.get("d").count("M") for path in svg.findall("path")] for svg in root.iter("svg") if "Fills" in svg.find("title").text}
    check(len(marks) == 2 and all(2 < sum(each) <= whole["buys"] + whole["sells"] + 4 for each in marks.values()), f"marks: {marks}")
    said = " ".join(caption.findall("strong")[0].tail for caption in root.iter("figcaption"))
    words = [word.split() for word in said.split("at their prices ")[1:]]
    check(sum(int(each[0]) for each in words) == whole["buys"] and sum(int(each[3]) for each in words) == whole["sells"], f"fills: {words}")


def test_figures(root, out):
    whole, figures, found = out["whole"], out["verdict_figures"], facts(root)
    check(root.find(".//p[1]").text == out["verdict_text"], f"the sentence: {root.find('.//p').text}")
    for name, value in (("Return", figures["return_pct"]), ("Holding", figures["benchmark_return_pct"]), ("Excess", figures["excess_points"]),
                        ("p", figures["p"]), ("Gain before fees", figures["gain"]), ("Fees", whole["fees"]), ("Turnover", whole["turnover"]),
                        ("Fills", whole["buys"] + whole["sells"]), ("Trades", whole["trades"]), ("Exposed, %", whole["exposure_pct"]),
                        ("Invested, %", whole["invested_pct"]), ("Sharpe ratio", whole["sharpe"]), ("Largest drawdown, %", whole["max_drawdown_pct"])):
        if value is not None:
            near(name, found.get(name), float(value))
    for name, value in (("Symbols", "AAAUSDT, BBBUSDT"), ("Interval", "1h"), ("buy_cost_pct", "0.001"), ("Id", out["id"]), ("Missing bars", "0")):
        check(found.get(name) == value, f"{name}: {found.get(name)}")
    check(found["Evaluated"].startswith("2024-01-22 "), f"rows: {found['Evaluated']}")


def test_eval(trainer, folder, bars):
    policy = os.path.join(folder, ODD)
    shutil.copy(os.path.join(folder, "out", "small.safetensors"), policy)
    page, steps, trades = (os.path.join(folder, name) for name in ("p<&>.html", "steps.csv", "trades.csv"))
    words = ("eval", policy, "--bars", *bars, "--from", "2024-01-22")
    ran = trainer.run(*words, "--report", page, "--steps", steps, "--trades", trades)
    if not check(ran.returncode == 0, f"eval: {ran.stderr}"):
        return
    out, root = json.loads(ran.stdout), page_of(page)
    check(json.loads(trainer.run(*words).stdout) == out, "--report changes no figure")
    check(root.find(".//h1").text == f"Evaluation of {ODD}", f"title: {root.find('.//h1').text}")
    test_figures(root, out)
    test_curves(root, steps, out["whole"]["capital"], out["whole"])
    test_trades(root, trades, out["whole"])
    with open(page, "rb") as file:
        first = file.read()
    trainer.run(*words, "--report", page)
    with open(page, "rb") as file:
        check(file.read() == first, "the same page again, byte for byte")
    for path, said in ((os.path.join("none", "p.html"), "none/p.html: a file in a writable folder"), (folder, f"cannot write: {folder}: "), ("", "--report")):
        ran = trainer.run(*words, "--report", path)
        check(ran.returncode in (1, 2) and said in ran.stderr and ran.stderr.count("\n") == 1 and not ran.stdout, f"eval --report {path!r}: {ran.stderr}")


def test_gaps(trainer, folder, bars):
    """Sixty hours without any bar are a gap of every curve; of one symbol alone, a gap of its price."""
    holes = []
    for number, path in enumerate(bars):
        holes.append(os.path.join(folder, "holes", os.path.basename(path)))
        os.makedirs(os.path.dirname(holes[-1]), exist_ok=True)
        with open(path) as file, open(holes[-1], "w") as out:
            out.writelines(line for i, line in enumerate(file) if not 650 < i <= 710 and not (number == 0 and 800 < i <= 830))
    page = os.path.join(folder, "gaps.html")
    ran = trainer.run("eval", os.path.join(folder, "out", "small.safetensors"), "--bars", *holes, "--from", "2024-01-22", "--report", page)
    if check(ran.returncode == 0, f"gaps: {ran.stderr}"):
        root = page_of(page)
        runs = {title: collections.Counter(line.get("class") for line in svg.findall("polyline")) for title, svg in charts(root).items()}
        check(runs["Equity"] == {"c0": 2, "c2": 2} and runs["Drawdown"] == {"c4": 2, "c2": 2}, f"gaps: {runs}")
        check(runs["Fills of AAAUSDT"] == {"c2": 3} and runs["Fills of BBBUSDT"] == {"c2": 2}, f"gaps of prices: {runs}")
        check(facts(root)["Missing bars"] == "150", f"missing: {facts(root)['Missing bars']}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        bars = write_market(folder)
        config(os.path.join(folder, "small.ini"), MARKET, {"data": {"bars": ",".join(bars), "train_to": "2024-01-20", "test_from": "2024-01-22"}})
        ran = trainer.run("train", "--config", "small.ini")
        if check(ran.returncode == 0, f"train: {ran.stderr}"):
            test_eval(trainer, folder, bars)
            test_gaps(trainer, folder, bars)
    done("trainer/program/pages")


if __name__ == "__main__":
    main(*sys.argv[1:2])

#!/usr/bin/env python3
"""The pages of `papertape-trainer train --report` and `eval --report`: pages.py PAPERTAPE-TRAINER (standard library only).

Each page passes tests/report/strict.py. Its figures are those of the JSON, its curves and trades those of the files that
--steps and --trades write; names are escaped; a page that cannot be written is refused in words."""
import collections
import csv
import json
import os
import shutil
import signal
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../report"))
from program import Trainer, check, config, done, events, lines, write_market  # noqa: E402
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


def without_times(seen):
    """Events as they are again when a training is done again."""
    kept = [line for line in seen if line["event"] in ("update", "evaluation")]
    return [{key: value for key, value in line.items() if "second" not in key and "bytes" not in key and "utilisation" not in key} for line in kept]


def test_learning(root, seen):
    """Each curve's first and last point, and how many there are, are those of the events."""
    updates, judged = events(seen, "update"), [line for line in events(seen, "evaluation") if line["range"] == "validation"]
    svgs = charts(root)
    for title, key in (("Reward", "reward"), ("Return of an episode", "episode_return"), ("KL", "kl"), ("Explained variance", "explained_variance"),
                       ("Gradient norm", "grad_norm"), ("Deviation of actions", "std")):
        right, drawn = [line[key] for line in updates if line[key] is not None], curve(svgs[title], "c0")
        _, grain = scale(svgs[title])
        check(len(drawn) == len(right) > 1 and all(abs(a - b) <= 2 * grain for a, b in zip(drawn, right)), f"{title}: {drawn[:3]} are not {right[:3]}")
    for name, key in (("c0", "return"), ("c2", "benchmark_return")):
        right, drawn = [100 * line[key] for line in judged], curve(svgs["Evaluations"], name)
        _, grain = scale(svgs["Evaluations"])
        check(len(drawn) == len(right) == 8 and all(abs(a - b) <= 2 * grain for a, b in zip(drawn, right)), f"evaluations: {drawn} are not {right}")


def test_train(trainer, folder, bars):
    """Of a market with validation and test; the page's evaluation is the one that `eval` gives."""
    data = {"data": {"bars": ",".join(bars)}, "training": {"name": "judged", "evaluate_every": 2}}
    config(os.path.join(folder, "judged.ini"), MARKET, data)
    page = os.path.join(folder, "train.html")
    ran = trainer.run("train", "--config", "judged.ini", "--report", page)
    if not check(ran.returncode == 0, f"train: {ran.stderr}"):
        return
    seen, root = lines(ran.stdout), page_of(page)
    last = events(seen, "end")[0]
    check(root.find(".//h1").text == "Training of judged" and root.find(".//p[1]").text == last["verdict_text"], "title and verdict")
    found = facts(root)
    for name, value in (("Return", last["verdict_figures"]["return_pct"]), ("Fees", last["evaluation"]["fees"]), ("Exposed, %", 100 * last["evaluation"]["exposure"])):
        near(name, found.get(name), value, 1e-9)
    for name, value in (("seed", "5"), ("total_steps", "4096"), ("buy_cost_pct", "0.001"), ("Symbols", "AAAUSDT, BBBUSDT"), ("Interval", "1h"),
                        ("The policy kept", f"{last['kept_steps']} steps"), ("episode_bars", "100"), ("lookback", "3")):
        check(found.get(name) == value, f"{name}: {found.get(name)}, not {value}")
    check("autoreset" not in found and "clip_range" not in found, "what is as it always is, is left out")
    for name in ("Trained on", "Chosen by", "Judged by"):
        check(found[name].startswith("2024-0") and found[name].endswith(" bars)"), f"{name}: {found[name]}")
    check("[environment]\n" in root.find(".//pre").text and "total_steps = 4096\n" in root.find(".//pre").text, "the whole configuration")
    test_learning(root, seen)
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=False)
    again = trainer.run("train", "--config", "judged.ini")
    check(without_times(lines(again.stdout)) == without_times(seen), "--report changes no figure")


def test_seeds(trainer, folder):
    """The verdict is on all seeds, the evaluation the kept one's; curves have the median and a band."""
    page = os.path.join(folder, "seeds.html")
    ran = trainer.run("train", "--config", "judged.ini", "--overwrite", "--seeds", "3", "--report", page)
    if not check(ran.returncode == 0, f"seeds: {ran.stderr}"):
        return
    seen, root = lines(ran.stdout), page_of(page)
    last, found = events(seen, "end")[0], facts(root)
    check(root.find(".//h1").text == "Training of judged" and root.find(".//p[1]").text == last["verdict_text"], "seeds: title and verdict")
    table, = [table for table in root.iter("table") if [cell.text for cell in table.iter("th")][:1] == ["seed"]]
    rows = [row.findall("td") for row in table.findall("tr")[1:]]
    check([row[0].text for row in rows] == [f"{seed['seed']}{', kept' * (seed['seed'] == last['best_seed'])}" for seed in last["seeds"]], "seeds")
    for row, seed in zip(rows, last["seeds"]):
        near("seed's return", float(row[3].find("data").get("value")), 100 * seed["return"])
        check(row[1].text == str(seed["kept_steps"]) and row[5].text == seed["verdict"], f"seed {seed['seed']}: {[cell.text for cell in row]}")
    kept, = [seed for seed in last["seeds"] if seed["seed"] == last["best_seed"]]
    near("the kept one's return", found["Return, %"], 100 * kept["return"])
    near("the median's return", found["Return"], last["verdict_figures"]["return_pct"])
    check(found["Seeds"] == "3 of 3", f"seeds: {found['Seeds']}")
    svg = charts(root)["Reward"]
    drawn, _ = curve(svg, "c0"), check([area.get("class") for area in svg.findall("polygon")] == ["a0"], "a band")
    by_steps = collections.defaultdict(list)
    for line in events(seen, "update"):
        by_steps[line["steps"]].append(line["reward"])
    right, (_, grain) = [sorted(each)[1] for each in by_steps.values()], scale(svg)
    check(len(drawn) == len(right) and all(abs(a - b) <= 2 * grain for a, b in zip(drawn, right)), f"the median: {drawn[:3]} is not {right[:3]}")


def test_others(trainer, folder):
    """A built-in world, of one action of two levels; a stop; a page that cannot be written, before anything starts."""
    config(os.path.join(folder, "cart.ini"), {"training": {"name": "cart", "world": "cartpole", "total_steps": 2048, "evaluate_every": 2}})
    ran = trainer.run("train", "--config", "cart.ini", "--report", os.path.join(folder, "cart.html"))
    check(ran.returncode == 0, f"cartpole: {ran.stderr}")
    root = page_of(os.path.join(folder, "cart.html"))
    check(root.find(".//p[1]").text.startswith("Reward of an episode: ") and "Evaluations" in charts(root) and "Equity" not in charts(root), "cartpole")
    check("Deviation of actions" not in charts(root), "levels have no deviation")
    config(os.path.join(folder, "long.ini"), {"training": {"name": "long", "world": "cartpole", "total_steps": 10**8}})
    page = os.path.join(folder, "long.html")
    seen, error, status = trainer.end_by(signal.SIGTERM, lambda lines: len(events(lines, "update")) > 3, "train", "--config", "long.ini", "--report", page)
    check(status == 0 and events(seen, "end")[0]["result"] == "stopped", f"stopped: {error}")
    check(facts(page_of(page))["Steps"].startswith(f"{events(seen, 'end')[0]['steps']} of 100000000"), "stopped: steps")
    for path in (os.path.join("none", "p.html"), folder):
        ran = trainer.run("train", "--config", "cart.ini", "--overwrite", "--report", path)
        seen = lines(ran.stdout)
        check(ran.returncode == 1 and f"--report {path}: a file in a writable folder" in ran.stderr and not events(seen, "update"), f"train --report {path}: {ran.stderr}")


def test_lost(trainer, folder):
    """A folder that is gone at the end: a warning and exit status 1; the policy is there."""
    os.makedirs(os.path.join(folder, "gone"))

    def vanish(seen):
        if len(events(seen, "update")) == 2 and os.path.isdir(os.path.join(folder, "gone")):
            os.rmdir(os.path.join(folder, "gone"))
        return len(events(seen, "update")) > 2
    seen, error, status = trainer.end_by(signal.SIGTERM, vanish, "train", "--config", "long.ini", "--overwrite", "--report", "gone/p.html")
    warning, = events(seen, "warning")[-1:]
    check(status == 1 and "cannot write: gone/p.html: a file in a writable folder" in warning["message"] and warning["cause"] == "disk", f"lost: {status} {error}")
    check(events(seen, "end")[0]["result"] == "stopped" and os.path.exists(os.path.join(folder, "out", "long.safetensors")), "lost: the policy")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(program, folder)
        bars = write_market(folder)
        config(os.path.join(folder, "small.ini"), MARKET, {"data": {"bars": ",".join(bars), "train_to": "2024-01-20", "test_from": "2024-01-22"}})
        ran = trainer.run("train", "--config", "small.ini")
        if check(ran.returncode == 0, f"train: {ran.stderr}"):
            test_eval(trainer, folder, bars)
            test_gaps(trainer, folder, bars)
        test_train(trainer, folder, bars)
        test_seeds(trainer, folder)
        test_others(trainer, folder)
        test_lost(trainer, folder)
    done("trainer/program/pages")


if __name__ == "__main__":
    main(*sys.argv[1:2])

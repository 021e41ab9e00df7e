"""A study of a strategy by `papertape-trainer study`: its trials are `papertape backtest`s of the splits' blocks, to the bit; the same seed
makes the same trials; kill -9 and --resume; cpcv, walk-forward, grid; stocks; the proposal; a process as the strategy; what is refused.

    rules.py PAPERTAPE_TRAINER PAPERTAPE PAPERTAPED
"""
import configparser
import csv
import datetime
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "serve")]
import co_process  # noqa: E402
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "fixtures"))
import stock_bars  # noqa: E402
from small_study import Run, Trainer, attributes, check, consistent, done, events, lines, refuse, rows, same, trials, write_market  # noqa: E402

HOUR = 3600 * 10**9
RULES = {"study": {"strategy": "sma-cross", "trials": 30, "validation": "kfold:4", "pruner": "none", "seed": 7, "heartbeat_s": 0.2, "grace_s": 30},
         "account": {"cash": 25000, "fee_maker": 0.0005, "fee_taker": 0.002, "slippage": 0.0003, "strategy.fraction": 0.5},
         "search": {"fast": "3..20", "slow": "21..80", "average": "sma | ema"},
         "data": {"bars": "AAAUSDT_1h.csv, BBBUSDT_1h.csv"}}
TERMS = ("--cash", "25000", "--fee-maker", "0.0005", "--fee-taker", "0.002", "--slippage", "0.0003")
# Holds while the close is above a level; what it says of itself is the first argument.
ABOVE = r"""import json, sys
for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "describe":
        answer = {"type": "strategy", "protocol": 1, "name": "above", "summary": "s", "history": 0, "params": [json.loads(sys.argv[1])]}
    elif ask["type"] == "hello":
        level, answer = ask["params"]["level"], {"type": "ready", "indicators": []}
    else:
        wanted = ask["close"] > level
        held = ask["qty"] > 0
        answer = {"type": "intents", "bar": ask["time"], "symbol": ask["symbol"], "intents": [{"kind": "enter", "fraction": 0.5}] if wanted and not held else [{"kind": "exit"}] if held and not wanted
                  else []}
    print(json.dumps(answer), flush=True)
"""


def write(path, *changes):
    """RULES with changes, {section: {key: value}}; None leaves a key, or a whole section, out."""
    sections = {name: dict(keys) for name, keys in RULES.items()}
    for change in changes:
        for name, keys in change.items():
            if keys is None:
                sections.pop(name)
            else:
                sections.setdefault(name, {}).update(keys)
    with open(path, "w") as file:
        for name, keys in sections.items():
            file.write(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None))
    return os.path.basename(path)


def study(trainer, name, config, *arguments, status=0):
    ran = trainer.run("study", name, "--config", config, "--state", "st", "--workers", "1", *arguments)
    check(ran.returncode == status, f"{name}: {ran.returncode} {ran.stderr}")
    return lines(ran.stdout)


def stored(folder, name):
    """By number: state, value, parameters as the strategy has them, splits."""
    found = {}
    for number, state, trial in trials(folder, name):
        params = {}
        for key, value, text in rows(folder, "SELECT param_name, param_value, distribution_json FROM trial_params WHERE trial_id = ?", trial):
            choices = json.loads(text)["attributes"].get("choices")
            params[key] = choices[int(value)] if choices else int(value) if value == int(value) else value
        value = rows(folder, "SELECT value FROM trial_values WHERE trial_id = ?", trial)
        found[number] = state, value[0][0] if value else None, params, attributes(folder, "trial_user_attributes", trial).get("papertape:splits")
    return found


def words(params, **fixed):
    return ",".join(f"{key}={value}" for key, value in {**params, **fixed}.items())


def backtests(papertape, folder, sets, from_ns, to_ns, *bars):
    """`papertape backtest` of several sets of parameters over [from, to): its accounts."""
    ran = subprocess.run([papertape, "backtest", *[word for one in sets for word in ("--strategy", f"sma-cross:{words(one, fraction=0.5)}")],
                          "--bars", *(bars or ["AAAUSDT_1h.csv,BBBUSDT_1h.csv"]), "--from", str(from_ns), "--to", str(to_ns), *TERMS, "--no-cache",
                          "--json"], cwd=folder, capture_output=True, text=True)
    check(ran.returncode == 0, f"backtest: {ran.stderr}")
    return json.loads(ran.stdout)["accounts"]


def times(folder, name, number):
    with open(f"{folder}/st/studies/{name}/{number}/returns.csv") as file:
        return list(csv.DictReader(file))


def value_of(splits, average=statistics.fmean, what=lambda split: split["sharpe"] - split["holding"], weight=0.1):
    taken = [what(split) for split in splits]
    return average(taken) - weight * statistics.pstdev(taken)


def test_values(trainer, papertape, folder):
    """Each split of each of 30 trials is a backtest of its block; the objective is of these."""
    seen = study(trainer, "r", write(os.path.join(folder, "r.ini")))
    found, returns = stored(folder, "r"), times(folder, "r", 0)
    check(len(found) == 30 and all(state == "COMPLETE" for state, _, _, _ in found.values()), f"trials: {found}")
    check(events(seen, "start")[0]["config"]["account"]["fee_taker"] == "0.002", f"start: {events(seen, 'start')}")
    bounds = [k * len(returns) // 4 for k in range(5)]
    for k in range(4):
        first, last = int(returns[bounds[k]]["timestamp_ns"]), int(returns[bounds[k + 1] - 1]["timestamp_ns"])
        for (number, (_, _, _, splits)), ran in zip(found.items(), backtests(papertape, folder, [one[2] for one in found.values()], first, last + HOUR)):
            split = splits[k]
            check(split["sharpe"] == (ran["sharpe"] or 0) and 100 * split["total_return"] == ran["return_pct"] and split["trades"] == ran["fills"] and
                  math.isclose(100 * split["drawdown"], -ran["max_drawdown_pct"], rel_tol=1e-12, abs_tol=1e-12),
                  f"trial {number}, block {k}: {split} {ran['sharpe']} {ran['return_pct']} {ran['fills']}")
    for number, (_, value, _, splits) in found.items():
        check(math.isclose(value, value_of(splits), rel_tol=1e-12), f"trial {number}: {value} {value_of(splits)}")
    check(len({round(value, 9) for _, value, _, _ in found.values()}) > 20, "the trials differ")
    return found, seen


def test_stocks(trainer, papertape, folder):
    """With a calendar, too: rows of the clock, orders in the sessions."""
    first, end = datetime.date(2026, 1, 5), datetime.date(2026, 1, 20)
    stock_bars.write(os.path.join(folder, "ABC_5m.csv"), stock_bars.bars_of("ABC", first, end, "5m"))
    study(trainer, "stocks", write(os.path.join(folder, "stocks.ini"), {"study": {"trials": 2, "validation": "walk-forward:1"},
                                                                        "data": {"bars": "ABC_5m.csv", "calendar": "nyse"}}))
    found, returns = stored(folder, "stocks"), times(folder, "stocks", 0)
    ran = backtests(papertape, folder, [one[2] for one in found.values()], returns[0]["timestamp_ns"],
                    int(returns[-1]["timestamp_ns"]) + HOUR // 12, "ABC_5m.csv", "--calendar", "nyse")
    for (_, _, _, splits), account in zip(found.values(), ran):
        check(splits[0]["sharpe"] == account["sharpe"] and splits[0]["trades"] == account["fills"] > 0, f"stocks: {splits} {account}")


def test_proposal(trainer, papertape, papertaped, folder, found, seen):
    """The best trial's parameters on the holdout, which is a backtest too; luck is judged as for trainings."""
    proposal, end = events(seen, "proposal")[0]["proposal"], seen[-1]
    best = max(found, key=lambda number: found[number][1])
    of = proposal["holdout"]
    ran = backtests(papertape, folder, [found[best][2]], of["from_ns"], of["to_ns"])[0]
    check(proposal["kind"] == "strategy" and proposal["trial"] == best == end["best_number"], f"proposal: {proposal}")
    check(same(of["sharpe"], ran["sharpe"] or 0) and same(of["return_pct"], ran["return_pct"]) and of["trades"] == ran["fills"], f"holdout: {of} {ran}")
    check(0 <= proposal["pbo"] <= 1 and 0 <= proposal["skill"] <= 1 and proposal["tried"] == 30 and len(proposal["gates"]) == 5, f"luck: {proposal}")
    check(end["verdict"] and end["verdict_figures"]["steps"] == of["rows"] and end["verdict_figures"]["buys"] + end["verdict_figures"]["sells"] ==
          ran["fills"] and same(end["verdict_figures"]["return_pct"], ran["return_pct"]), f"verdict: {end}")
    with open(proposal["policy"]) as file:
        text = file.read()
    check("[account r]\nstrategy = sma-cross\n" in text and f"strategy.slow = {found[best][2]['slow']}\n" in text and "strategy.fraction = 0.5\n" in text and
          "cash = 25000\n" in text and "[engine]\nslippage = 0.0003\n" in text, f"account: {text}")
    with open(os.path.join(folder, "daemon.ini"), "w") as file:
        file.write("[market]\nvenue = binance\nsymbols = BTCUSDT\n" + text)
    ran = subprocess.run([papertaped, "--config", "daemon.ini", "--check-config"], cwd=folder, capture_output=True, text=True)
    check(ran.returncode == 0, f"account: {ran.stderr}")
    valid = json.loads(trainer.run("validate", "--study", "r", "--state", "st").stdout)
    check(same(valid["pbo"], proposal["pbo"]) and valid["trials"] == 30, f"validate: {valid['pbo']} {proposal['pbo']}")


def test_proposed_digits(trainer, papertape, folder):
    """A parameter with all of a double's digits: what strategy.ini says is, to the bit, the account that the gates judged."""
    seen = study(trainer, "digits", write(os.path.join(folder, "digits.ini"), {"study": {"trials": 3, "validation": "walk-forward:1"},
                                                                              "account": {"strategy.fraction": None},
                                                                              "search": {"fraction": "0.1..0.9", "average": None}}))
    proposal, found = events(seen, "proposal")[0]["proposal"], stored(folder, "digits")
    tested = found[proposal["trial"]][2]
    written = configparser.ConfigParser()
    written.read(proposal["policy"])
    account = written["account digits"]
    params = {key.removeprefix("strategy."): text for key, text in account.items() if key.startswith("strategy.")}
    check(len(repr(tested["fraction"])) > 10 and all(float(params[key]) == value for key, value in tested.items()), f"digits: {params} {tested}")
    ran = subprocess.run([papertape, "backtest", "--strategy", f"sma-cross:{words(params)}", "--bars", "AAAUSDT_1h.csv,BBBUSDT_1h.csv", *TERMS, "--from",
                          str(proposal["holdout"]["from_ns"]), "--to", str(proposal["holdout"]["to_ns"]), "--no-cache", "--json"], cwd=folder,
                         capture_output=True, text=True)
    check(ran.returncode == 0, f"digits: {ran.stderr}")
    ran = json.loads(ran.stdout)["accounts"][0]
    with open(os.path.join(os.path.dirname(proposal["policy"]), "holdout.csv")) as file:
        returns = [float(row["path_1"]) for row in csv.DictReader(file)]
    grown, rounding = math.prod(1 + r for r in returns), 1e-9 * sum(map(abs, returns))  # ten digits each
    check(ran["fills"] == proposal["holdout"]["trades"] > 0 and math.isclose(grown, 1 + ran["return_pct"] / 100, rel_tol=0, abs_tol=rounding),
          f"digits: {grown} {ran}")


def test_long_only(trainer, folder):
    """A direction that the account cannot trade is a warning of --check and at the start; with shorts it is none."""
    direction = {"study": {"trials": 1, "validation": "walk-forward:1"}, "search": {"direction": "long | short | both", "average": None}}
    said = "[search] direction: short opens nothing, both trades long only: its account may not be short, which shorts = on of [account] allows"
    path = write(os.path.join(folder, "short.ini"), direction)
    ran = trainer.run("train", "--check", "--config", path)
    check(ran.returncode == 0 and ran.stderr == f"papertape-trainer: {path}: {said}\n", f"long only: {ran.stderr}")
    check(said in [one["message"] for one in events(study(trainer, "short", path), "warning")], "long only: at the start")
    path = write(os.path.join(folder, "short.ini"), direction, {"account": {"strategy.direction": "short"}, "search": {"direction": None}})
    ran = trainer.run("train", "--check", "--config", path)
    check("[account] shorts: sma-cross opens nothing: its account may not be short" in ran.stderr, f"long only: {ran.stderr}")
    path = write(os.path.join(folder, "short.ini"), direction, {"account": {"shorts": "on"}})
    ran = trainer.run("train", "--check", "--config", path)
    check(ran.returncode == 0 and ran.stderr == "", f"long only: {ran.stderr}")


def test_unread(trainer, folder):
    """What a study has none of: one error a line; a strategy that reads a column says so before the start; bars that are not there are a warning."""
    path = write(os.path.join(folder, "wrong.ini"), {"data": {"columns": "f.csv", "corporate_actions": "a.csv", "universe": "top 3"}})
    ran = trainer.run("train", "--check", "--config", path)
    check([line.split(": ")[2] for line in ran.stderr.splitlines()] == ["[data] columns", "[data] corporate_actions", "[data] universe"] and
          ran.returncode == 1, f"unread: {ran.stderr}")
    with open(os.path.join(folder, "column.py"), "w") as file:
        file.write(ABOVE.replace('"indicators": []', '"indicators": ["col:funding"]'))
    level = json.dumps({"name": "level", "summary": "s", "default": 90, "min": 1, "max": 1000}, separators=(",", ":"))
    path = write(os.path.join(folder, "column.ini"), {"account": {"strategy.fraction": None}, "search": None},
                 {"study": {"strategy": f"exec:python3 {folder}/column.py '{level}'"}, "search": {"level": "80..120"}})
    for ran in trainer.run("train", "--check", "--config", path), trainer.run("study", "column", "--config", path, "--state", "st"):
        check(ran.returncode == 1 and "[study] strategy: above reads columns of a file, which a study has none of" in ran.stderr and
              "as --columns" not in ran.stderr, f"column: {ran.stderr}")
    path = write(os.path.join(folder, "none.ini"), {"data": {"bars": "AAAUSDT_1h.csv, NONE_1h.csv"}})
    ran = trainer.run("train", "--check", "--config", path)
    check(ran.returncode == 0 and "[data] bars: NONE_1h.csv: No such file or directory" in ran.stderr, f"bars: {ran.stderr}")


def test_same_seed(trainer, folder, found):
    study(trainer, "again", "r.ini")
    check(stored(folder, "again") == found, "the same seed has the same trials")
    study(trainer, "other", "r.ini", "--seed", "8", "--trials", "3")
    check([one[2] for one in stored(folder, "other").values()] != [found[number][2] for number in range(3)], "another seed has others")


def test_killed(trainer, folder, found):
    """kill -9 of the process; --resume makes the rest, and the finished trials stay."""
    run = Run(trainer, "killed", "--config", "r.ini", "--state", "st", "--workers", "1")
    run.until(lambda seen: len(events(seen, "trial")) >= 5, "killed: five trials")
    run.process.kill()
    run.end()
    before = {number: one for number, one in stored(folder, "killed").items() if one[0] == "COMPLETE"}
    check(5 <= len(before) < 30, f"killed: {len(before)} trials")
    study(trainer, "killed", "r.ini", "--resume")
    after, states, _ = consistent(folder, "killed", "killed")
    check(list(states.values()).count("COMPLETE") == 30, f"killed: {states}")
    check(all(stored(folder, "killed")[number] == one for number, one in before.items()), "killed: finished trials stay")
    check(all(stored(folder, "killed")[number] == found[number] for number in before), "killed: the seed's trials")


def test_ways(trainer, folder):
    """Splits of two blocks, walk-forward, a grid, another objective; each tested block is the same backtest in every split."""
    study(trainer, "cpcv", write(os.path.join(folder, "cpcv.ini"), {"study": {"validation": "cpcv:4,2", "sampler": "random", "trials": 4, "objective": "return",
                                                                             "average": "median", "pruner": "median"}}))
    for number, (state, value, _, splits) in stored(folder, "cpcv").items():
        if check(state in ("COMPLETE", "PRUNED"), f"cpcv: {state}") and state == "COMPLETE":
            check(len(splits) == 6 and math.isclose(value, value_of(splits, statistics.median, lambda split: split["total_return"]), rel_tol=1e-12),
                  f"cpcv {number}: {value}")
    table = times(folder, "cpcv", 0)
    check(len(table[0]) == 3 + 3 and all(abs(math.prod(1 + float(row[f"path_{path}"]) for row in table)) > 0 for path in (1, 2, 3)), f"cpcv: {table[0]}")
    study(trainer, "walk", write(os.path.join(folder, "walk.ini"), {"study": {"validation": "walk-forward:3", "sampler": "grid", "trials": 100},
                                                                    "search": {"fast": "5 | 10", "slow": "30..50 step 20", "average": None}}))
    walk = stored(folder, "walk")
    check(len(walk) == 4 and sorted((one[2]["fast"], one[2]["slow"]) for one in walk.values()) == [(5, 30), (5, 50), (10, 30), (10, 50)], f"grid: {walk}")
    check(all(len(one[3]) == 3 for one in walk.values()), f"walk-forward: {walk}")


def test_contradictory(trainer, folder):
    """Values that contradict each other are FAIL, and say so; a grid tries them once, and the others count."""
    study(trainer, "both", write(os.path.join(folder, "both.ini"), {"study": {"sampler": "grid", "trials": 100},
                                                                    "search": {"fast": "10..30 step 10", "slow": "20..30 step 10", "average": None}}))
    both = stored(folder, "both")
    check(sorted(one[0] for one in both.values()) == ["COMPLETE"] * 3 + ["FAIL"] * 3, f"both: {both}")
    failed = [trial for number, state, trial in trials(folder, "both") if state == "FAIL"]
    said = attributes(folder, "trial_user_attributes", failed[0])
    check(said["papertape:cause"] == "values" and "these values do not fit together: sma-cross: " in said["papertape:failure"] and "fast=" in
          said["papertape:failure"], f"both: {said}")


def test_process(trainer, folder):
    """A process decides, as in a backtest; one whose description contradicts itself is refused."""
    good = json.dumps({"name": "level", "summary": "s", "default": 90, "min": 1, "max": 1000}, separators=(",", ":"))
    bad = good.replace('"min":1', '"min":2000')
    with open(os.path.join(folder, "above.py"), "w") as file:
        file.write(ABOVE)
    here = {"data": {"bars": "AAAUSDT_1h.csv"}, "account": {"strategy.fraction": None}}
    few = {"strategy": f"exec:python3 {folder}/above.py '{good}'", "trials": 2, "validation": "kfold:2"}
    study(trainer, "process", write(os.path.join(folder, "process.ini"), here, {"study": few, "search": None}, {"search": {"level": "80..120"}}))
    found = stored(folder, "process")
    check(len(found) == 2 and all(one[0] == "COMPLETE" and any(split["trades"] for split in one[3]) for one in found.values()), f"process: {found}")
    refuse(trainer, "contradictory", ["[study] strategy: ", "level"], "bad", "--config",
           write(os.path.join(folder, "bad.ini"), here, {"study": {**few, "strategy": f"exec:python3 {folder}/above.py '{bad}'"}, "search": None},
                 {"search": {"level": "80..120"}}), "--state", "st")


WRONG = [
    ({"search": {"fast": None, "fasst": "3..9"}}, "[search] fasst: no parameter of sma-cross: unknown key: did you mean fast?"),
    ({"search": {"fast": "0..9"}}, '[search] fast: "0": a whole number from 1 to'),
    ({"search": {"fast": "2.5..9"}}, "[search] fast: 2.5..9: whole numbers are right"),
    ({"search": {"average": "sma | emma"}}, '[search] average: "emma": did you mean ema?'),
    ({"search": {"average": "1..2"}}, "[search] average: 1..2: choices as A | B are right"),
    ({"search": {"fraction": "0.1..1"}}, "[search] fraction: [account] strategy.fraction is given too"),
    ({"search": None}, "[search] none: ranges of parameters of sma-cross are needed"),
    ({"study": {"strategy": "sma-cros"}}, '[study] strategy: "sma-cros": unknown strategy: did you mean sma-cross?'),
    ({"study": {"strategy": None}}, "[study] strategy is needed"),
    ({"study": {"ensemble": 2}}, "[study] ensemble: it has no effect: a study of a strategy trains nothing"),
    ({"ppo": {"gamma": 0.9}}, "[ppo] gamma: it has no effect: a study of a strategy trains nothing"),
    ({"data": {"features": "market14"}}, "[data] features: it has no effect"),
    ({"account": {"cassh": 1}}, "[account] cassh: unknown key: did you mean cash?"),
    ({"account": {"cash": 0}}, '[account] cash: "0": a number above 0 is needed'),
    ({"account": {"strategy.fats": 1}}, "[account] strategy.fats: unknown key: did you mean fast?"),
    ({"account": {"strategy.slow": 1}}, '[account] strategy.slow: "1": a whole number from'),
    ({"account": {"risk.drawdonw": 0.1}}, "[account] risk.drawdonw: unknown key: did you mean drawdown?"),
    ({"study": {"validation": "cpcv:12,6"}}, '[study] validation: "cpcv:12,6": 924 splits, each a test: at most 256 are right'),
    ({"study": {"validation": "cpcv:50,25"}}, '[study] validation: "cpcv:50,25": more than 10000 splits: at most 256 are right'),
    ({"account": {"us_equity_fee_taker": 0}}, "[account] us_equity_fee_taker: it has no effect"),
]


def test_refused(trainer, folder):
    for change, said in WRONG:
        path = write(os.path.join(folder, "wrong.ini"), change)
        ran = trainer.run("train", "--check", "--config", path)
        check(ran.returncode != 0 and any(said in line for line in ran.stderr.splitlines()), f"{change}: {ran.stderr}")
    ran = trainer.run("train", "--config", "r.ini")
    check(ran.returncode == 1 and "[study] strategy: it trains nothing: papertape-trainer study NAME" in ran.stderr, f"train: {ran.stderr}")
    more = {"study": {"trials": 31}}
    refuse(trainer, "another account", ["another study: r: [account] fee_taker: it was", "0.002", "0.001"], "r", "--config",
           write(os.path.join(folder, "more.ini"), more, {"account": {"fee_taker": 0.001}}), "--state", "st")
    refuse(trainer, "another strategy", ["another study: r: [study] strategy: it was", "binance-day-trade"], "r", "--config",
           write(os.path.join(folder, "more.ini"), more, {"study": {"strategy": "binance-day-trade"}, "search": {"average": None},
                                                          "account": {"strategy.fraction": None}}), "--state", "st")
    check(len(stored(folder, "r")) == 30, "refused: nothing was tried")


def test_plan(trainer):
    ran = trainer.run("plan", "--config", "r.ini", "--json")
    plan = json.loads(ran.stdout)
    check(plan["trainings"] == 0 and plan["cpu_seconds"] > 0 and plan["rows"]["test_block"]["least"] > 100 and plan["training"] is None, f"plan: {plan}")
    check("nothing is trained" in trainer.run("plan", "--config", "r.ini").stdout, "plan: its text")


def test_served(program, folder):
    """The co-process checks, plans and runs it as any study."""
    path = os.path.join(folder, "served.ini")
    write(path, {"study": {"trials": 3}, "data": {"bars": f"{folder}/AAAUSDT_1h.csv"}})
    with open(path) as file:
        text = file.read()
    with co_process.CoProcess(program, "--idle-s", "0", worker=None).begin() as co:
        errors = co.ask("check", config=text.replace("fast", "fasst"))["errors"]
        check([(error["section"], error["key"]) for error in errors] == [("search", "fasst")], f"served: {errors}")
        check(co.ask("plan", config=text)["plan"]["trainings"] == 0, "served: a plan")
        co.ask("start", name="served", config=text)
        ended = co.wait("served", "done")
        check(ended["steps"] == 3 and ended["policy"].endswith("/strategy.ini") and ended["verdict"], f"served: {ended}")
    check(co_process.failures == 0, "served: the co-process")


def main():
    with tempfile.TemporaryDirectory() as folder:
        trainer, papertape = Trainer(sys.argv[1], folder), os.path.abspath(sys.argv[2])
        write_market(folder)
        found, seen = test_values(trainer, papertape, folder)
        test_proposal(trainer, papertape, os.path.abspath(sys.argv[3]), folder, found, seen)
        test_proposed_digits(trainer, papertape, folder)
        test_long_only(trainer, folder)
        test_unread(trainer, folder)
        test_stocks(trainer, papertape, folder)
        test_same_seed(trainer, folder, found)
        test_killed(trainer, folder, found)
        test_ways(trainer, folder)
        test_contradictory(trainer, folder)
        test_process(trainer, folder)
        test_refused(trainer, folder)
        test_plan(trainer)
        test_served(sys.argv[1], folder)
    done("study of a strategy")


if __name__ == "__main__":
    main()

"""The command lines whose outputs outputs.py keeps. A name is that of its file; words are parted at blanks."""

FORMS = {"table": "", "csv": " --csv", "json": " --json"}
VERBS = ("account actions alerts backtest backup bars book commands compare doctor equity events explain fees fills flatten gains gpu indicators ledger lookahead order orders parity "
         "pause policy positions rank reload report restore resume revisions status strategy study sweep symbol train venues warmup what-if").split()
TRAINER_VERBS = "train plan study serve eval validate sample env-replay grad-check".split()

# Asked in each form, of a state directory without a daemon. A form that a verb does not have is refused, which is an output too.
LISTS = ["account list", "account terms", "account epochs", "actions", "alerts list", "commands", "equity", "fees", "fills", "gains", "gains --method average", "ledger verify", "ledger export", "orders", "positions",
         "positions --all", "revisions", "symbol list", "venues", "train list", "policy list", "study list", "gpu"]
OF_DESK = LISTS + ["actions AAPL", "revisions AAPL", "revisions --from 2024-08-08T23:54:15.342000001Z", "policy show ppo-btc", "study show search",
                   "study show wide", "study show empty", "bars BTCUSDT 1m", "bars ETHUSDT 1m --source trades", "bars AAPL 1m",
                   "bars AAPL 1m --split", "bars BTCUSDT 5m", "venues streams binance", "train log ppo-btc", "status", "book BTCUSDT",
                   "gpu --processes", "gpu --from -25h"]
OF_DAY = LISTS + ["events list", "events verify", "events show --seq 1 --n 400", "events show --at 2024-08-09T02:00:00Z --n 100",
                  "bars BTCUSDT 1s", "bars ETHUSDT 1s --source trades", "parity", "parity --from 2024-08-09T01:00:00Z", "explain --all",
                  "explain 5"]
OF_RUN = ["account list", "fills", "orders", "positions --all", "ledger verify", "ledger export", "events list", "parity", "explain --all",
          "what-if --at 2024-08-09T10:00:00Z --account bob --set fast=3", "what-if --at 2024-08-09T10:00:00Z --account bob --strategy none"]
OF_SAVED = ["account list", "fills", "orders", "positions --all", "ledger verify", "ledger export", "bars BTCUSDT 1m --to 2024-01-01T00:20:00Z"]
MORE_OF_DESK = ["ledger export --hledger", "ledger export --beancount"]
MORE_OF_DAY = ["ledger export --hledger", "ledger export --beancount"]

# The dashboard, as text, as JSON, and as a screen.
ONCE = ["--once", "--once --json"]
TABS = [f"--tab {tab}" for tab in range(1, 9)]
SCREENS = [f"--dump-screen 160x48 {tab}" for tab in TABS]

# Every tab and every kind of page at each of SIZES: of what was stored, of a moment before, of a daemon that answers.
SIZES = ("80x24", "120x40", "200x60")
PAGES = [f"--open {page}" for page in
         ("order:117", "fill:20", "alert:12", "command:9", "ledger:40", "account:main", "account:usd-of-a-long-name-with-31-char", "symbol:ETHUSDT",
          "position:BTCUSDT:main")]
THEN = " --at 2024-08-09T10:00:00Z"
SCREENS_OF = {"desk": TABS + PAGES + ["--study search", "--study wide"],  # word-ok: a state
              "run": [line + THEN for line in [*TABS, "--open order:400", "--open account:bob", "--open position:ETHUSDT:alice"]] + ["--open command:7003"],
              "saved": [*TABS, "--open account:sma-cross", "--open order:1", "--open fill:1", "--open trip:3"]}
SCREENS_OF_FAKE = [*TABS, "--open policy:ppo-world-wide-5m_2", "--open symbol:BTCUSDT", "--open position:BTCUSDT:main", "--open account:main"]

# A daemon that continued with `run`, and one that answers as status.json says.
OF_LIVE = ["status", "account list", "alerts list", "symbol list", "venues", "venues streams binance", "train list", "policy list", "book BTCUSDT"]
OF_FAKE = ["status", "alerts list", "symbol list", "venues", "venues streams binance", "train list", "policy list",
           "policy show ppo-world-wide-5m_2", "book BTCUSDT", "train log again --lines 3"]

# What acts: of the daemon that answers as status.json says, one after the other.
ACTS = ["order buy BTCUSDT 0.01", "order sell BTCUSDT 0.01 --limit 61000.5 --tif day --client-id a --post-only --reduce-only --account main",
        "order sell BTCUSDT 0.01 --stop 60000 --limit 59900", "order sell BTCUSDT 0.01 --trail 1.5%",
        "order buy BTCUSDT 0.01 --limit 61000 --tif gtd --expire 2024-08-10T14:02:00Z",
        "order buy BTCUSDT 0.01 --bracket-take-profit 65000 --bracket-stop 59000", "order oco sell BTCUSDT 0.01 --take-profit 65000 --stop 59000",
        "order buy BTCUSDT 0.000001", "order amend 7 --qty 0.02 --stop 61000 --key k1", "order cancel 7", "order cancel 404",
        "order cancel --all --symbol BTCUSDT", "account create new --currency USDT --cash 1000 --strategy sma-cross --set fast=5 "
        "--fee-maker 0.05% --fee-taker 0.001 --shorts --collateral 160% --maintenance 130% --borrow-rate 6% --risk-exposure-symbol 50% "
        "--risk-exposure-account 90% --risk-daily-loss 5% --risk-orders-per-second 7 --risk-drawdown 20% --risk-price-band 1.5% "
        "--risk-cooldown-s 90 --risk-positions 3 --key k2", "account deposit main 100.5 --key k3", "account deposit main 100.5 --key k3",
        "account withdraw main 1", "account transfer main swing 10", "account reset main --cash 500", "account resume main",
        "account deposit nobody 1", "alerts ack 3", "symbol add SOLUSDT --venue binance", "symbol add BTCUSTD", "symbol remove ETHUSDT --key k4",  # word-ok
        "train start fresh --priority 5", "train start fresh", "train stop fresh", "train resume fresh", "train restart fresh",
        "policy promote fresh", "policy retire fresh", "pause", "resume", "flatten", "flatten --yes"]

BARS = "--bars BTCUSDT_1m.csv,ETHUSDT_1m.csv --no-cache"
RUNS = {
    "backtest": f"backtest --strategy sma-cross-rsi --set fast=5,slow=15 {BARS}",
    "backtest-two": f"backtest --strategy sma-cross:fast=5,slow=20 --strategy buy-and-hold {BARS} --fees 0.0001:0.0002 --slippage 0.0005 "
                    "--latency-ms 60000 --risk daily_loss=0.02 --risk positions=1 --cash 50000 --from 2024-01-01T06:00:00Z",
    "backtest-run": "backtest --events run",
    "backtest-strategies": "backtest --list-strategies",
    "sweep": f"sweep --strategy sma-cross --grid fast=3:9:3 --grid slow=12,24 {BARS} --threads 1",
    "lookahead": f"lookahead sma-cross {BARS} --cuts 4",
    "warmup": f"warmup sma-cross {BARS}",
    "indicators-list": "indicators --list",
    "indicators-spec": "indicators --list bbands:20,2",
}
FILES = {  # of backtest-two
    option: f"{option}.csv" for option in ("trades", "orders", "ledger", "equity", "rounds", "monthly")
}
CSV_RUNS = {"sweep-csv": RUNS["sweep"] + " --csv /dev/stdout",
            "indicators": "indicators BTCUSDT_1m.csv sma:20 ema:14 rsi:14 macd:12,26,9 atr:14 bbands:20,2"}

# Programs' configurations.
CONFIGS = {
    "papertaped-default": "papertaped --print-config",
    "papertaped-example": "papertaped --config SOURCE/daemon/papertaped.ini --print-config",
    "papertaped-demo": "papertaped --config SOURCE/daemon/demo.ini --print-config",
    "papertaped-full": "papertaped --config SOURCE/tests/golden/full.ini --print-config",
    "papertaped-full-options": "papertaped --config SOURCE/tests/golden/full.ini --clock wall --log-level error --venue-url wss://127.0.0.1:1 "
                               "--rest-url https://127.0.0.1:2 --ca-file f.pem --print-config",
    "papertaped-check": "papertaped --config SOURCE/daemon/papertaped.ini --check-config",
    "trainer-example": "papertape-trainer train --config SOURCE/trainer/papertape-trainer.example.ini --print-config",
    "trainer-full": "papertape-trainer train --config SOURCE/tests/golden/trainer.ini --print-config",
    "trainer-cartpole": "papertape-trainer train --config SOURCE/trainer/examples/cartpole.ini --print-config",
    "trainer-check": "papertape-trainer train --config SOURCE/tests/golden/trainer.ini --check",
    "trainer-check-json": "papertape-trainer train --config SOURCE/tests/golden/trainer.ini --check --json",
    "trainer-keys": "papertape-trainer train --list-keys",
    "trainer-keys-json": "papertape-trainer train --list-keys --json",
    "trainer-params": "papertape-trainer env-replay --list-params",
}

# What depends on the machine, or on how long something took. Of JSON: the values of these names are "*" ...
VARIES_JSON = {
    "live": "pid uptime_s now_ns at_ns ts_ns last_ns detail text retry_in_ms requests requests_failed requests_waiting connects turns turn_max_ms sum_ms "
            "turns_per_second busy wait_p99_ms longest_ms commits rows commit_p50_ms commit_p99_ms seq events bytes bytes_per_event waiting_bytes "
            "elapsed_ms away_s age_ms gpu count clients queue updates behind database_rows rests_on_database",
    "runs": "seconds events_per_s seconds_by_stage peak_bytes load_s",
    "market": "gpu behind stale rests_on_database",
    "dashboard": "age_ms",
    "screens": "",
    "log": "file_bytes bytes hash",  # of an event log: how well it is packed is libzstd's
}
# ... and of text what these find.
VARIES_TEXT = {
    "live": [r"(?<=pid )\d+", r"(?<=up )[\d.]+s", r"2024-08-09[ T]23:5\d:\d\d(\.\d+)?Z", r"17232474\d{11}",
             r"(time: )*127\.0\.0\.1: [^\n\"]*", r"(?<= retry)(, retry in [\d.]+s)?(?=, )", r"(?<=commits ).* ms", r"(?<=^charts    ).*",
             r"(?<=ok, event )\d+, .*", r"(?<=^gpu       ).*", r" +\d+(?=  warning )", r"(?<=,)\d+(?=,warning,)"],
    "runs": [r"(?<=^seconds   )load .*(\n .*)?", r"(?<=^memory    ).*", r"(?<=^events  6000 in ).*"],
    "market": [r"(?<=\":)(null|-?\d[-+.e\d]*)", r"(?<=127\.0\.0\.1:)\d+"],
    "dashboard": [r"(?<= age )[\d.]+s"],
    "screens": [r"\b\d\.\ds\b"],  # of a daemon's: ages of less than ten seconds
    "log": [r"(?<=^hash )[0-9a-f]{64}$", r"\d+(?= in the files)", r"(?<=\d) +\d+(?=  states)", r"(?<=,)\d+(?=,states)"],
}

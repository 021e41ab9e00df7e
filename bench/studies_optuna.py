"""Optuna's ask-and-tell, as in bench/studies_asks.c, with the bench's own venv: studies_optuna.py one WHERE TIMES, or many
WHERE WORKERS SECONDS. WHERE is a file, or a server's URL, whose connections are SQLAlchemy's pool's, as RDBStorage has them by
default. Lines of numbers: of one, the seconds of each without its commits, and of commits; of many, the seconds that all took, then
those of each ask-and-tell. A locked database is tried again: its time counts."""

import multiprocessing
import sys
import time
import warnings

import optuna

PARAMS = 24
optuna.logging.set_verbosity(optuna.logging.CRITICAL)
warnings.simplefilter("ignore")


def distributions():
    kinds = (optuna.distributions.FloatDistribution(0.88, 0.99), optuna.distributions.FloatDistribution(1e-6, 1e-3, log=True),
             optuna.distributions.IntDistribution(4, 160),
             optuna.distributions.CategoricalDistribution([2048, 4096, 8192, 16384]))
    return {f"p{i:02d}": kinds[i % 4] for i in range(PARAMS)}


def open_study(path, seed):
    storage = optuna.storages.RDBStorage(path if "://" in path else f"sqlite:///{path}")
    return optuna.create_study(study_name="bench", storage=storage, direction="maximize", load_if_exists=True,
                               sampler=optuna.samplers.TPESampler(seed=seed)), storage


def ask_and_tell(study, space):
    trial = study.ask(fixed_distributions=space)
    study.tell(trial, -abs(trial.params["p00"] - 0.95) - 1e-3 * abs(trial.params["p02"] - 40))


def one(path, times):
    study, storage = open_study(path, 7)
    dialect, spent = storage.engine.dialect, [0.0]
    commit = dialect.do_commit

    def timed(connection):
        before = time.perf_counter()
        commit(connection)
        spent[0] += time.perf_counter() - before

    dialect.do_commit = timed
    space = distributions()
    for _ in range(times):
        before, commits = time.perf_counter(), spent[0]
        ask_and_tell(study, space)
        commits = spent[0] - commits
        print(time.perf_counter() - before - commits, commits)


def work(path, seed, start, seconds, results):
    study, _ = open_study(path, seed)
    space, took = distributions(), []
    start.wait()
    before = time.perf_counter()
    end = before + seconds
    while time.perf_counter() < end:
        try:
            ask_and_tell(study, space)
        except (optuna.exceptions.StorageInternalError, RuntimeError):
            continue
        now = time.perf_counter()
        took.append(now - before)
        before = now
    results.put(took)


def many(path, workers, seconds):
    open_study(path, 7)[1].engine.dispose()
    context = multiprocessing.get_context("fork")
    start, results = context.Barrier(workers + 1), context.Queue()
    processes = [context.Process(target=work, args=(path, seed, start, seconds, results)) for seed in range(workers)]
    for process in processes:
        process.start()
    start.wait()
    before = time.perf_counter()
    took = [t for _ in processes for t in results.get()]
    print(time.perf_counter() - before)
    for process in processes:
        process.join()
    print(*took, sep="\n")


if __name__ == "__main__":
    if sys.argv[1] == "one":
        one(sys.argv[2], int(sys.argv[3]))
    else:
        many(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))

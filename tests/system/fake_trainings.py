"""The trainings and policies of fake_daemon.py: docs/control.md's train_* and policy_*. A line of a configuration
that ends with "bad" is an error; a training works until it is stopped."""


def training(name, **given):
    return {"training": name, "state": "queued", "reason": "", "cause": None, "priority": 0, "device": "cpu",
            "backend": "cpu-avx2", "steps": 0, "total_steps": 5000000, "iteration": 0, "steps_per_second": None,
            "return": None, "attempts": 1, "restarts": 0, "retry_in_ms": None, "started_ns": None, "ended_ns": None,
            "age_ms": 120, "expected_ms": 1000, "stale": False, "stopping": False, "memory_mib": None,
            "memory_limit_mib": 4096, "device_mib": None, "cpu_s": None, "utilisation": None,
            "cpu_utilisation": None, "checkpoint_steps": None, "policy": None, **given}


def policy(name, **given):
    return {"policy": name, "role": "challenger", "account": name, "id": "9f" * 32, "training": name,
            "path": f"/var/lib/papertape/checkpoints/{name}.safetensors", "since_ns": 1723161255342000000, "reason": "",
            "proposal": None, "expires_ns": None, "evidence": None, "state": "trading", "detail": "", "backend": "cpu-avx2", "interval": "5m", "equity": 10010.2,
            "return_pct": 0.102, "trades": 12, "sharpe": None, "decided_ns": 1723161180000000000,
            "actions": {"BTCUSDT": 0.125, "ETHUSDT": -1}, **given}


class Trainings:
    """`trainings` and `policies` are lists of the status' objects, `configs` the text of each training, and
    of None what one is started with by default."""

    def __init__(self):
        self.trainings, self.policies, self.configs = [], [], {}

    def champion(self):
        return next(({"account": "champion", "policy": p["policy"], "since_ns": p["since_ns"]} for p in self.policies
                     if p["role"] == "champion"), None)

    def answer(self, cmd, args):
        return getattr(self, cmd, self._unknown)(args)

    def train_list(self, _):
        return ok(trainings=self.trainings)

    def train_start(self, args):
        found = self._find(self.trainings, "training", args)
        if found and not args.get("overwrite"):
            return refuse("EEXIST", f"{args['name']}: there is such a training, {found['state']}: resume, restart or "
                          "overwrite it")
        errors = check(args.get("config", ""))
        if errors:
            return refuse("EINVAL", f"the configuration has {len(errors)} errors", errors=errors)
        if found:
            self.trainings.remove(found)
        self.configs[args["name"]] = args.get("config", "[ppo]\n")
        self.trainings.append(training(args["name"], priority=args.get("priority", 0)))
        return ok(training=self.trainings[-1])

    def train_stop(self, args):
        return self._change(args, lambda t: t.update(state="stopped", ended_ns=1723161255342000000))

    def train_resume(self, args):
        return self._change(args, lambda t: t.update(state="queued", ended_ns=None))

    def train_restart(self, args):
        errors = check(args.get("config", ""))
        if errors:
            return refuse("EINVAL", f"the configuration has {len(errors)} errors", errors=errors)
        self.configs[args["name"]] = args.get("config", self.configs.get(args["name"], ""))
        return self._change(args, lambda t: t.update(state="queued", attempts=t["attempts"] + 1))

    @staticmethod
    def train_check(args):
        return ok(errors=check(args["config"]))

    def train_config(self, args):
        name = args.get("name")
        return ok(config=self.configs.get(name, "[ppo]\nlearning_rate = 0.0003\n"))

    def train_log(self, args):
        if not self._find(self.trainings, "training", args):
            return self._no_training(args)
        lines = [f"line {i}" for i in range(1, 401)] + ["\x1b[31mred\x07"]
        return ok(lines=lines[-args.get("lines", 200):])

    def policy_list(self, _):
        return ok(policies=self.policies, champion=self.champion())

    def policy_show(self, args):
        found = self._find(self.policies, "policy", args)
        if not found:
            return refuse("ENOENT", f"args.name: no policy is called \"{args['name']}\"")
        return ok(policy=dict(found, symbols=["BTCUSDT", "ETHUSDT"], features=["close", 1000 * "7", "set a\nb"], environment={"lookback": 4}))

    def policy_promote(self, args):
        found = self._find(self.policies, "policy", args)
        if not found and not self._find(self.trainings, "training", args):
            return refuse("ENOENT", f"args.name: no policy and no training is called \"{args['name']}\"")
        if not found:
            self.policies.append(policy(args["name"], path=args.get("path", f"/p/{args['name']}.safetensors")))
            return ok(policy=self.policies[-1])
        for each in self.policies:
            if each["role"] == "champion":
                each["role"] = "challenger"
        found["role"] = "champion"
        return ok(policy=found)

    def policy_retire(self, args):
        found = self._find(self.policies, "policy", args)
        if not found:
            return refuse("ENOENT", f"args.name: no policy is called \"{args['name']}\"")
        found.update(role="retired", state="retired")
        return ok(policy=found)

    def _change(self, args, change):
        found = self._find(self.trainings, "training", args)
        if not found:
            return self._no_training(args)
        change(found)
        return ok(training=found)

    @staticmethod
    def _no_training(args):
        return refuse("ENOENT", f"args.name: no training is called \"{args['name']}\"")

    @staticmethod
    def _find(rows, key, args):
        return next((row for row in rows if row[key] == args["name"]), None)

    @staticmethod
    def _unknown(_):
        return refuse("EINVAL", "cmd: not a command")


def check(text):
    return [{"line": n, "section": "ppo", "key": line.split("=")[0].strip(), "message": "a number is needed"}
            for n, line in enumerate(text.split("\n"), 1) if line.endswith("bad")]


def ok(**result):
    return {"ok": True, "result": result}


def refuse(code, message, **more):
    return {"ok": False, "error": {"code": code, "message": message, **more}}

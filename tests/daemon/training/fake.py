"""A scripted co-process (docs/serve.md): trainings and their events are lists in memory, answers can be held
back, be of another version, or be anything at all."""

import json
import os
import socket
import threading
import time


class Training:
    def __init__(self, name, created_ns=None):
        self.events, self.seq = [], 0
        self.config = f"[training]\nname = {name}\n"
        self.reported = {
            "name": name, "state": "queued", "reason": "", "cause": None, "priority": 0, "device": "cpu", "backend": "fake",
            "pid": None, "steps": 0, "total_steps": 1000, "iteration": 0, "steps_per_second": None, "return": None,
            "attempts": 1, "restarts": 0, "retry_in_ms": None, "created_ns": created_ns or time.time_ns(), "started_ns": 0,
            "ended_ns": None, "heard_ns": 0, "heard_age_ms": 0, "expected_ms": 1000, "memory_mib": 1,
            "memory_limit_mib": 100, "device_mib": None, "cpu_s": 0.5, "cpu_limit_s": None, "utilisation": None,
            "cpu_utilisation": 1.0, "checkpoint": None, "checkpoint_steps": 0, "policy": None, "stopping": False}

    def emit(self, event, **members):
        """The worker emits an event. A second passes with each."""
        self.seq += 1
        ts_ns = self.reported["created_ns"] + self.seq * 1_000_000_000
        self.events.append({"seq": self.seq, "ts_ns": ts_ns, "event": event, **members})
        if "steps" in members:
            self.reported["steps"] = members["steps"]
        self.reported["heard_ns"] = time.time_ns()

    def step(self):
        steps = self.reported["steps"] + 10
        self.reported.update(state="update", pid=4242, iteration=steps // 10)
        self.emit("update", steps=steps, iteration=steps // 10, loss=1 / steps, episode_return=steps / 7)

    def object(self):
        return dict(self.reported, seq=self.seq)


class Fake:
    """Listens at `path` until close()."""

    def __init__(self, state, path=None):
        self.state = state
        self.path = path or os.path.join(state, "trainer.sock")
        self.lock = threading.RLock()
        self.trainings, self.asked = {}, []
        self.protocol, self.held, self.answers, self.lies, self.on_list = 1, False, {}, {}, None
        self.clients, self.keys, self.done, self.pause = [], {}, [], None
        self.open()

    def open(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(8)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        if os.path.exists(self.path):
            os.unlink(self.path)
        with self.lock:
            for client in self.clients:
                try:
                    client.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.clients.clear()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.clients.append(client)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, client.makefile("rb") as lines:
            try:
                for line in lines:
                    request = json.loads(line)
                    with self.lock:
                        answer = self.answer(request["cmd"], request["args"])
                    if self.pause and request["cmd"] in ("start", "stop", "resume", "restart"):
                        time.sleep(self.pause())
                    if answer is None:
                        continue
                    if isinstance(answer, bytes):
                        client.sendall(answer)
                        continue
                    ok = "error" not in answer
                    client.sendall(json.dumps({"id": request["id"], "ok": ok, "error" if not ok else "result":
                                               answer["error"] if not ok else answer}).encode() + b"\n")
            except OSError:
                pass

    def answer(self, cmd, args):
        """Like respond(); a command repeated with its key is not done again."""
        name, key = args.get("name"), args.get("key")
        if key and self.keys.get((name, key)) == cmd and self.held is not True and cmd != self.held:
            self.asked.append((cmd, args))
            return self.trainings[name].object()
        answer = self.respond(cmd, args)
        if cmd in ("start", "stop", "resume", "restart") and isinstance(answer, dict) and "error" not in answer:
            self.done.append((cmd, name))
            if key:
                self.keys[name, key] = cmd
        return answer

    def respond(self, cmd, args):
        """The result, {"error":…}, bytes to send as they are, or None: no answer."""
        self.asked.append((cmd, args))
        if self.held is True or cmd == self.held:
            return None
        if self.lies.get(cmd):
            return self.lies[cmd].pop(0)
        if cmd in self.answers:
            return self.answers[cmd]
        if cmd == "hello":
            return {"protocol": self.protocol, "version": "0.0.fake", "pid": os.getpid(), "started_ns": 1,
                    "state_dir": self.state, "devices": [], "cpu_slots": 1, "memory_mib": 1000}
        if cmd == "list":
            if self.on_list:
                self.on_list()
            return {"trainings": [t.object() for t in self.trainings.values()], "now_ns": time.time_ns(),
                    "memory_mib": {"budget": 1000, "promised": 0}}
        if cmd == "start":
            if args["name"] in self.trainings:
                return {"error": {"code": "EEXIST", "message": f"{args['name']}: it runs"}}
            training = self.trainings[args["name"]] = Training(args["name"])
            training.config = args["config"]
            return training.object()
        if cmd == "check":
            return {"errors": [{"line": 1, "section": "ppo", "key": "x", "message": "no"}] if "bad" in args["config"] else []}
        training = self.trainings.get(args.get("name"))
        if not training:
            return {"error": {"code": "ENOENT", "message": f"{args.get('name')}: there is no training of that name"}}
        if cmd == "stop":
            training.reported.update(state="stopped", ended_ns=time.time_ns(), pid=None)
            return training.object()
        if cmd in ("resume", "restart"):
            training.reported.update(state="queued", ended_ns=None, attempts=training.reported["attempts"] + 1)
            training.config = args.get("config", training.config)
            return training.object()
        if cmd == "config":
            return {"config": training.config}
        if cmd == "log":
            return {"lines": ["one", "two"][-args.get("lines", 200):]}
        events = [e for e in training.events if e["seq"] > args["after"]][:args["limit"]]
        return {"events": events, "last": training.seq}

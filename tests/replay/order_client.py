"""Clients of Binance's orders at papertape-replay, with Python's standard library: keys, signatures, calls; and a market that stands
still."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import subprocess
import tempfile
import urllib.parse
from decimal import Decimal

from venue import until

STILL = ("--synthetic", "7", "--from", "2024-08-08T23:54:15Z", "--to", "2024-08-08T23:54:16Z", "--speed", "max")  # and then the book stands
STILL_MS = 1723161255999  # the market's time from then on


def equal(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r}, not {want!r}")


class Ed25519:
    """A key of its own, by the openssl program."""

    def __init__(self, folder):
        self.private, self.public = os.path.join(folder, "private.pem"), os.path.join(folder, "public.pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.private], check=True)
        subprocess.run(["openssl", "pkey", "-in", self.private, "-pubout", "-out", self.public], check=True)

    def sign(self, payload):
        with tempfile.NamedTemporaryFile() as file:
            file.write(payload.encode())
            file.flush()
            raw = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self.private, "-in", file.name],
                                 check=True, capture_output=True).stdout
        return base64.b64encode(raw).decode()


class Hmac:
    def __init__(self, secret):
        self.secret = secret

    def sign(self, payload):
        return hmac.new(self.secret.encode(), payload.encode(), hashlib.sha256).hexdigest()


class Client:
    def __init__(self, venue, key, signer):
        self.venue, self.key, self.signer, self.headers = venue, key, signer, {}

    def now_ms(self):
        return self.venue.rest("/api/v3/time")["serverTime"]

    def call(self, method, path, key=None, body=False, **params):
        """(status, answer). With `body` the parameters go there, except the first."""
        params.setdefault("timestamp", self.now_ms())
        pairs = [f"{name}={urllib.parse.quote(str(value), safe='')}" for name, value in params.items() if value is not None]
        query, form = ("&".join(pairs[:1]), "&".join(pairs[1:])) if body else ("&".join(pairs), "")
        signature = urllib.parse.quote(self.signer.sign(query + form), safe="")
        if body:
            form += f"&signature={signature}"
        else:
            query += f"&signature={signature}"
        return self.send(method, f"/api/v3/{path}?{query}", key or self.key, form)

    def signed(self, **params):
        """Parameters of a call over the WebSocket API."""
        params = {"apiKey": self.key, **params}
        if "timestamp" not in params:
            params["timestamp"] = self.now_ms()
        return {**params, "signature": self.signer.sign("&".join(f"{name}={params[name]}" for name in sorted(params)))}

    def send(self, method, target, key, form=""):
        c = http.client.HTTPSConnection("127.0.0.1", self.venue.port, context=self.venue.context, timeout=60)
        headers = {"X-MBX-APIKEY": key} if key else {}
        if form:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        c.request(method, target, body=form or None, headers=headers)
        r = c.getresponse()
        answer, self.headers = json.loads(r.read()), r.headers
        c.close()
        return r.status, answer

    def ok(self, method, path, **params):
        status, answer = self.call(method, path, **params)
        equal(status, 200, f"{method} {path} {params}: {answer}")
        return answer

    def refused(self, code, method, path, status=400, words="", **params):
        got, answer = self.call(method, path, **params)
        equal((got, answer.get("code")), (status, code), f"{path} {params}: {answer}")
        assert words in answer["msg"], answer

    def balances(self):
        return {b["asset"]: (Decimal(b["free"]), Decimal(b["locked"])) for b in self.ok("GET", "account")["balances"]}


def order(**more):
    return {"symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT", "timeInForce": "GTC", "quantity": "0.01", "price": "50000.00", **more}


def market(side, quantity):
    return {"symbol": "BTCUSDT", "side": side, "type": "MARKET", "quantity": quantity}


def standing(v, clock_ms=0):
    """Plays to where the market stands still, as its clock does, which is off by so much; the socket is to be kept."""
    s = v.streams("btcusdt@depth@100ms")
    until(lambda: v.rest("/api/v3/time")["serverTime"] == STILL_MS + clock_ms, "the end of the market")
    return s, v.rest("/api/v3/depth?symbol=BTCUSDT&limit=1000")

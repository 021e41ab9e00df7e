"""An S3 endpoint that checks what moto's server accepts unseen: it computes each request's signature again by botocore's SigV4Auth, and the
hashes of its body, refuses as AWS does, fails where a test wants it to, and passes the rest on to moto. The venv's packages are needed."""
import base64
import contextlib
import hashlib
import http.client
import http.server
import logging
import ssl
import threading
import time
import urllib.parse

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.server import ThreadedMotoServer

KEY_ID, SECRET, TOKEN = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "FwoGZXIvYXdzEJr//////////wEaD+token/with=signs"
REGION, BUCKET = "eu-central-1", "papertape-test"
EMPTY = hashlib.sha256(b"").hexdigest()


def error(status, code, message):
    return status, {"Content-Type": "application/xml"}, (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code>'
                                                         f"<Message>{message}</Message></Error>").encode()


class Refused(Exception):
    pass


def checksum(body):
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


class Proxy(http.server.ThreadingHTTPServer):
    """`seen`: of each request that passed, {method, path, query, headers, body, signature, signed}; `faults`: what is done to
    the next requests for an object, or the list of a prefix, whose name ends so, in order: "503", "slow down", "cut" (in the middle of its reply), "short" (with a length
    that fits), "other bytes", "other checksum", "damage body". `down`: it says 503 to
    all; `page`: objects of a list's page; `hangs`: what the paths
    of requests have that are not answered until `release`, which sets `hung`."""
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, region=REGION, tls=None):
        """`tls`: (certificate, key) of 127.0.0.1."""
        logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
        self.moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.moto.start()
        self.behind = self.moto.get_host_and_port()
        self.region, self.seen, self.faults, self.refused, self.lock = region, [], {}, [], threading.Lock()
        self.down, self.page, self.connections = False, None, 0
        self.hangs, self.hung, self.release = None, threading.Event(), threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)
        self.scheme = "https" if tls else "http"
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        self.forward("PUT", f"/{BUCKET}", {}, f"<CreateBucketConfiguration><LocationConstraint>{region}</LocationConstraint>"
                     "</CreateBucketConfiguration>".encode())

    @property
    def endpoint(self):
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.release.set()
        self.shutdown()
        self.server_close()
        self.moto.stop()

    def forward(self, method, path, headers, body):
        """As someone whose signature moto does not look at: (status, headers, body)."""
        headers = {**headers, "Authorization": f"AWS4-HMAC-SHA256 Credential=any/20260101/{self.region}/s3/aws4_request, SignedHeaders=host, Signature=0"}
        connection = http.client.HTTPConnection(*self.behind, timeout=60)
        try:
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()
        finally:
            connection.close()

    def object(self, key):
        """What is stored, asked of moto itself."""
        status, _, body = self.forward("GET", f"/{BUCKET}/{urllib.parse.quote(key)}", {}, None)
        return body if status == 200 else None

    def check(self, method, path, headers, body):
        """What of the request is signed: (names, signature). Refused: as AWS would."""
        lower = {name.lower(): value for name, value in headers.items()}
        said = lower.get("authorization", "")
        if not said.startswith("AWS4-HMAC-SHA256 "):
            raise Refused("AccessDenied", "no signature")
        parts = dict(part.strip().split("=", 1) for part in said[len("AWS4-HMAC-SHA256 "):].split(","))
        names, scope = parts["SignedHeaders"].split(";"), parts["Credential"].split("/")
        if scope[0] != KEY_ID:
            raise Refused("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
        stamp = lower.get("x-amz-date", "")
        if scope[1:] != [stamp[:8], self.region, "s3", "aws4_request"]:
            raise Refused("AuthorizationHeaderMalformed", f"scope {scope[1:]}")
        must = {"host"} | {name for name in lower if name.startswith("x-amz-")}
        if not must <= set(names) or names != sorted(names):
            raise Refused("AccessDenied", f"signed are {names}, not all of {sorted(must)}")
        if "x-amz-content-sha256" not in lower:
            raise Refused("InvalidRequest", "x-amz-content-sha256 is missing")
        request = AWSRequest(method, f"http://{lower['host']}{path}", {name: lower[name] for name in names if name != "host"}, body)
        request.context["timestamp"] = stamp
        auth = S3SigV4Auth(Credentials(KEY_ID, SECRET), "s3", self.region)
        signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
        if signature != parts["Signature"]:
            raise Refused("SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")
        if abs(time.time() - time.mktime(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) + time.timezone) > 900:
            raise Refused("RequestTimeTooSkewed", stamp)
        if lower["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            raise Refused("XAmzContentSHA256Mismatch", "the body is another")
        if method == "PUT" and lower.get("x-amz-checksum-sha256") != checksum(body):
            raise Refused("BadDigest", "The sha256 you specified did not match the calculated checksum.")
        return names, signature

    def answer(self, method, path, headers, body):
        place, _, query = path.partition("?")
        what = urllib.parse.parse_qs(query).get("prefix", [urllib.parse.unquote(place)])[0].rsplit("/", 1)[-1]
        with self.lock:
            fault = self.faults[what].pop(0) if self.faults.get(what) else None
        if self.hangs and self.hangs in path:
            self.hung.set()
            self.release.wait()
        if self.down or fault == "503":
            return error(503, "ServiceUnavailable", "Please try again.")
        if fault == "slow down":
            return error(503, "SlowDown", "Please reduce your request rate.")
        if fault == "damage body":
            body = changed(body)
        try:
            names, signature = self.check(method, path, headers, body)
        except Refused as refused:
            self.refused.append(refused.args)
            return error(400 if refused.args[0] in ("XAmzContentSHA256Mismatch", "BadDigest") else 403, *refused.args)
        with self.lock:
            self.seen.append({"method": method, "path": place, "query": query, "headers": headers, "body": body, "signature": signature,
                              "signed": names})
        more = f"&max-keys={self.page}" if self.page and query else ""
        status, reply, content = self.forward(method, path + more, {name: value for name, value in headers.items()
                                                            if name.lower() not in ("host", "expect", "authorization")}, body)
        if fault == "other bytes":
            content = changed(content)
        if fault == "other checksum":
            reply = {name: value for name, value in reply.items() if name.lower() != "x-amz-checksum-sha256"}
            reply["x-amz-checksum-sha256"] = checksum(b"of something else")
        if fault == "short":
            content = content[:len(content) // 2]
        return (status, reply, content, "cut") if fault == "cut" else (status, reply, content)


def changed(data):
    """Other bytes of the same length, whatever the first byte is."""
    return bytes([data[0] ^ 1]) + data[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def handle_one(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        status, headers, content, *cut = self.server.answer(self.command, self.path, dict(self.headers.items()), body)
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        if cut:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content[:len(content) // 2] if cut else content)
        self.wfile.flush()
        self.close_connection = self.close_connection or bool(cut)

    def handle_expect_100(self):
        super().handle_expect_100()
        self.wfile.flush()
        return True

    do_GET = do_PUT = do_DELETE = handle_one

    def handle(self):
        with self.server.lock:
            self.server.connections += 1
        with contextlib.suppress(ssl.SSLError): # a client that trusts no such certificate
            super().handle()

    def log_message(self, *_):
        pass

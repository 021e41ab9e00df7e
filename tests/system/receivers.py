"""Receivers of alerts for tests: a web server, with TLS or without, and a mail server, each on a port of this machine.

receivers.py FOLDER runs one of each, and writes their [alerts] and the certificate there: the user me, the password hush."""

import asyncio
import http.server
import logging
import os
import socketserver
import ssl
import subprocess
import sys
import threading
import warnings

try:
    from aiosmtpd.smtp import SMTP, AuthResult
except ImportError:  # another Python than Debian's, whose package it is
    sys.path.append("/usr/lib/python3/dist-packages")
    from aiosmtpd.smtp import SMTP, AuthResult


logging.getLogger("mail.log").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", message="Requiring AUTH|.*login_data")


def certificate(folder):
    """A key and its certificate for localhost and 127.0.0.1: two paths."""
    key, cert = os.path.join(folder, "key.pem"), os.path.join(folder, "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", cert],
                   check=True, capture_output=True)
    return key, cert


def tls(pair):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair[1], pair[0])
    return context


class Web:
    """Takes POSTs: `taken` has (path, headers, body) of those that were accepted, `seen` of all. answer(path, headers, body) gives
    (status, headers) or (status, headers, text), 204 without it. Port 0: any."""

    def __init__(self, answer=None, pair=None, port=0):
        self.taken, self.seen = [], []
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                request = (self.path, dict(self.headers), body)
                status, headers, *text = answer(*request) if answer else (204, {})
                said = "".join(text).encode()
                web.seen.append(request)
                if 200 <= status < 300:
                    web.taken.append(request)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(said)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            request_queue_size = 64

        self.server = Server(("127.0.0.1", port), Handler)
        if pair:
            self.server.socket = tls(pair).wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        """Nothing listens there any more."""
        self.server.shutdown()
        self.server.server_close()


class Mail:
    """A mail server with a login: `taken` has (from, to, text). With `smtps` TLS from the start, else STARTTLS, which it insists on."""

    def __init__(self, pair, user, password, smtps=False):
        self.taken = []
        mail = self

        class Handler:
            async def handle_DATA(self, server, session, envelope):
                mail.taken.append((envelope.mail_from, envelope.rcpt_tos, envelope.content.decode()))
                return "250 taken"

        def authenticate(server, session, envelope, mechanism, data):
            return AuthResult(success=(data.login, data.password) == (user.encode(), password.encode()))

        options = {"authenticator": authenticate, "auth_required": True, "hostname": "localhost"}
        options |= {"auth_require_tls": False} if smtps else {"tls_context": tls(pair), "require_starttls": True}
        self.loop = asyncio.new_event_loop()
        server = self.loop.create_server(lambda: SMTP(Handler(), loop=self.loop, **options), "127.0.0.1", 0, ssl=tls(pair) if smtps else None)
        self.server = self.loop.run_until_complete(server)
        self.port = self.server.sockets[0].getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.server.close()


class Endless:
    """A server that reads a line, writes `begin`, and then `more` for ever: `sent` are the bytes of its longest answer."""

    def __init__(self, begin, more, greets=False):
        self.sent = 0
        more *= -(-(1 << 16) // len(more))
        endless = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                sent = len(begin)
                try:
                    if not greets:
                        self.rfile.readline()
                    self.wfile.write(begin)
                    while True:
                        self.wfile.write(more)
                        sent += len(more)
                except OSError:  # the other side has enough
                    endless.sent = max(endless.sent, sent)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def serve(folder):
    """Until it is ended; the secrets are credentials called token and password."""
    pair = certificate(folder)
    web, secure, mail = Web(), Web(pair=pair), Mail(pair, "me", "hush")
    with open(os.path.join(folder, "alerts.new"), "w") as file:
        file.write(f"""[alerts]
ca_file = {pair[1]}
webhook = http://127.0.0.1:{web.port}/json
webhook.slack = https://localhost:{secure.port}/services/{{token}}
webhook_format.slack = slack
webhook_token.slack = token
mail = smtp://localhost:{mail.port}
mail_to = ops@example.org
mail_from = papertape@example.org
mail_user = me
mail_password = password
""")
    os.rename(os.path.join(folder, "alerts.new"), os.path.join(folder, "alerts"))
    threading.Event().wait()


if __name__ == "__main__":
    serve(sys.argv[1])

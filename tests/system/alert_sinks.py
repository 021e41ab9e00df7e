#!/usr/bin/env python3
"""Where alerts are delivered: `papertape alerts test` through each kind of sink, with what each format is sent and no secret in a
log; what a sink that is down receives once it is back; a kill -9 in between."""

import json
import os
import re
import subprocess

import harness
import receivers

SECRETS = {"slack": "T0/B0/sesame", "telegram": "12:sesame-t", "ntfy": "sesame-n", "mail": "sesame m&m"}


def write_secret(folder, name):
    path = os.path.join(folder, name + ".secret")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write(SECRETS[name] + "\n")
    return path


def tested(daemon, *arguments, status=0):
    """`papertape alerts test`, as lines by sink."""
    done = subprocess.run([harness.PAPERTAPE, "alerts", "test", *arguments, "--state", daemon.state], capture_output=True, text=True,
                          timeout=harness.PATIENCE)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr, daemon.log_text()[-3000:])
    return dict(line.split(": ", 1) for line in done.stdout.splitlines()), done.stderr


def kinds(folder):
    """Each kind and format, against receivers of this machine, of which one then fails."""
    pair = receivers.certificate(folder.path)
    refuses = []
    web = receivers.Web(lambda path, headers, body: ((503, {"Retry-After": "7"}) if path in refuses else (204, {})))
    secure = receivers.Web(pair=pair)
    mail = receivers.Mail(pair, "me", SECRETS["mail"])
    smtps = receivers.Mail(pair, "me", SECRETS["mail"], smtps=True)
    took = os.path.join(folder.path, "took")
    url, files = f"http://127.0.0.1:{web.port}", {name: write_secret(folder.path, name) for name in SECRETS}
    address = f"mail_to{{0}} = ops@example.org, me@example.org\nmail_from{{0}} = papertape@example.org\nmail_user{{0}} = me\n" \
              f"mail_password{{0}} = {files['mail']}\n"
    daemon = folder.start(harness.Daemon(folder.path, None, f"""[alerts]
command = /bin/sh -c 'cat >"$1"; echo "done" >&2' sh {took}
ca_file = {pair[1]}
webhook = https://localhost:{secure.port}/json
webhook.slack = {url}/services/{{token}}
webhook_format.slack = slack
webhook_token.slack = {files['slack']}
webhook.discord = {url}/discord
webhook_format.discord = discord
webhook.telegram = {url}/bot{{token}}/sendMessage
webhook_format.telegram = telegram
webhook_token.telegram = {files['telegram']}
webhook_chat.telegram = -100
webhook.ntfy = {url}/topic
webhook_format.ntfy = ntfy
webhook_token.ntfy = {files['ntfy']}
mail = smtp://localhost:{mail.port}
{address.format('')}mail.tls = smtps://localhost:{smtps.port}
{address.format('.tls')}""", arguments=("--venue-url", "wss://127.0.0.1:1", "--rest-url", "https://127.0.0.1:1")))
    daemon.wait_status(lambda s: len(s["alert_sinks"]["sinks"]) == 8, "all sinks")
    said, _ = tested(daemon)
    assert len(said) == 8 and all(line.startswith("ok: ") for line in said.values()), said

    with open(took) as file:
        alert = json.load(file)
    assert alert["schema"] == "papertape.alert/1" and alert["rule"] == "test" and alert["state"] == "raised", alert
    assert alert["severity"] == "info" and alert["text"] and alert["host"] and alert["raised_at"].endswith("Z"), alert
    by_path = {path: (headers, body) for path, headers, body in web.taken + secure.taken if "test" in headers["Idempotency-Key"]}
    assert json.loads(by_path["/json"][1])["rule"] == "test"
    assert by_path["/json"][0]["Content-Type"] == "application/json"
    assert "test" in json.loads(by_path[f"/services/{SECRETS['slack']}"][1])["text"]
    assert "test" in json.loads(by_path["/discord"][1])["content"]
    telegram = json.loads(by_path[f"/bot{SECRETS['telegram']}/sendMessage"][1])
    assert telegram["chat_id"] == "-100" and "test" in telegram["text"], telegram
    headers, body = by_path["/topic"]
    assert "a test of the sink webhook.ntfy" in body and headers["Authorization"] == f"Bearer {SECRETS['ntfy']}", headers
    assert headers["Title"] and headers["Priority"] == "default" and headers["Tags"], headers
    for server in (mail, smtps):
        sender, to, text = next(m for m in server.taken if "rule test" in m[2])
        assert sender == "papertape@example.org" and to == ["ops@example.org", "me@example.org"], (sender, to)
        assert re.search(r"^Subject: \[papertape\] info: test on ", text, re.M) and re.search(r"^Date: \w{3}, ", text, re.M), text
    assert tested(daemon, "mail")[0].keys() == {"mail"}

    refuses.append("/discord")
    said, _ = tested(daemon, "webhook.discord", status=1)
    assert said["webhook.discord"].startswith("failed: HTTP 503"), said
    said, error = tested(daemon, "pigeon", status=1)
    assert 'there is no sink "pigeon": command, webhook' in error, error
    answer = json.loads(daemon.papertape("alerts", "test", "mail.tls", "--json"))
    assert answer["schema"] == "papertape.alerts-test/1" and answer["sinks"][0]["ok"] is True, answer

    shown = json.dumps(daemon.status_object()) + daemon.log_text()
    assert "sesame" not in shown, re.findall(".{80}sesame.{20}", shown)
    for server in (web, secure, mail, smtps):
        server.close()


def main():
    with harness.Folder() as folder:
        kinds(folder)


if __name__ == "__main__":
    main()

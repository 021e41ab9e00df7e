#!/usr/bin/env python3
"""How a server's storage is reached, and what is said where it is not: passwords from the URL, a file, a service, systemd's
credentials, never shown; TLS with a CA of the test's own; servers, databases, schemas and users that are not right.
postgresql_access.py TEST-DB-STUDIES-EXCHANGE TEST-DB-STUDIES-WORKER"""

import os
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures"))
import postgresql_server  # noqa: E402

EXCHANGE, WORKER = sys.argv[1:3]
PASSWORD = "ge heim/@:?%&#"
QUOTED = urllib.parse.quote(PASSWORD, safe="")
LEFT_OUT = ("PGPASSFILE", "PGSERVICEFILE", "PGPASSWORD", "CREDENTIALS_DIRECTORY")
checks = 0


def dump(url, **environment):
    """The exit status and the words of a reader."""
    clean = {key: value for key, value in os.environ.items() if key not in LEFT_OUT}
    done = subprocess.run([EXCHANGE, "dump", url], env={**clean, "HOME": "/nonexistent", **environment}, capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stderr.strip()


def opens(url, **environment):
    global checks
    checks += 1
    status, words = dump(url, **environment)
    assert status == 0, f"{url}: {words}"


def refused(url, *expected, **environment):
    global checks
    checks += 1
    status, words = dump(url, **environment)
    assert status == 1 and words.count("\n") == 0, (status, words)
    for text in (PASSWORD, QUOTED, "geheim"):
        assert text not in words, words
    for text in expected:
        assert text in words, f"{url}: {words}: not {text}"


def work(url):
    subprocess.run([WORKER, url, "s", "2", "60", "0"], check=True)


# ---- Passwords ----


def demand_password(server):
    path = os.path.join(server.data, "pg_hba.conf")
    text = pathlib.Path(path).read_text(encoding="utf-8")
    pathlib.Path(path).write_text("host all secret 127.0.0.1/32 scram-sha-256\n" + text, encoding="utf-8")
    server.run("pg_ctl", "-D", server.data, "reload")
    server.sql("postgres", f"CREATE ROLE secret LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
    # The server reads its file again a moment after the signal.
    while dump(server.url("open", user="secret"))[0] == 0:
        pass


def check_passwords(server, folder):
    url = server.url("open", user="secret")
    with_password = server.url("open", user=f"secret:{QUOTED}")
    opens(with_password)
    opens(with_password.replace("postgresql:", "postgresql+psycopg2:"))
    refused(url, "cannot be opened", "no password supplied: PGPASSFILE, or passfile=FILE, is needed")
    refused(server.url("open", user="secret:geheim"), "password authentication failed", "postgresql://secret@127.0.0.1:")
    refused(server.url("open", "password=geheim", user="secret"), "password authentication failed")
    _, words = dump(server.url("open", "sslmode=prefer", user="secret:geheim"))
    assert words.count("password authentication failed") == 1 and "…" not in words, words
    line = PASSWORD.replace("\\", "\\\\").replace(":", "\\:")
    file = folder / "pgpass"
    file.write_text(f"127.0.0.1:{server.port}:*:secret:{line}\n", encoding="utf-8")
    file.chmod(0o600)
    opens(url, PGPASSFILE=str(file))
    opens(f"{url}?passfile={urllib.parse.quote(str(file))}&timeout=5")
    opens(url, CREDENTIALS_DIRECTORY=str(folder))
    # systemd's credentials and Kubernetes' secrets are 0440, which libpq alone does not read; others may not read any.
    file.chmod(0o440)
    opens(url, CREDENTIALS_DIRECTORY=str(folder))
    opens(url, CREDENTIALS_DIRECTORY=str(folder), PGPASSFILE=str(file))
    file.chmod(0o444)
    status, words = dump(url, CREDENTIALS_DIRECTORY=str(folder))
    assert status == 1 and "group or world access" in words and PASSWORD not in words, words
    file.chmod(0o600)
    refused(url, "password", CREDENTIALS_DIRECTORY=str(folder / "none"))
    service = folder / "service.conf"
    service.write_text(f"[studies]\nhost=127.0.0.1\nport={server.port}\ndbname=open\nuser=secret\npassword={PASSWORD}\n", encoding="utf-8")
    opens("postgresql:///?service=studies", PGSERVICEFILE=str(service))
    refused("postgresql:///?service=other", "postgresql:///?service=other", PGSERVICEFILE=str(service))


def check_words(server):
    refused(f"postgresql://u:ge%zzheim@127.0.0.1:{server.port}/open", "is no URL", "postgresql://USER@HOST:PORT/DATABASE")
    refused(f"postgresql://u:geheim@127.0.0.1:{server.port}/open?timeout=x", "postgresql://…@127.0.0.1", "timeout: seconds")
    refused(server.url("open", "sslmod=require"), "sslmod")
    refused("mysql://u:geheim@h/d", "sqlite:///FILE or postgresql://USER@HOST/DATABASE", "@h/d")
    refused(server.url("open", port=postgresql_server.free_port()), "cannot be opened", "Is the server running on that host")
    refused(server.url("missing"), 'database "missing" does not exist')
    refused(server.url("empty"), "holds no studies yet")
    assert not server.sql("empty", "SELECT * FROM pg_tables WHERE schemaname = 'public'"), "a reader created something"


# ---- Schemas and users ----


def check_schemas(server):
    for version, words in (("v3.0.0.d", "is older than 12 (v3.2.0.a): optuna storage upgrade"), ("v9.0.0.a", "is newer than 12")):
        server.sql("other", f"UPDATE alembic_version SET version_num = '{version}'")
        refused(server.url("other"), version, words)
    server.sql("other", "UPDATE alembic_version SET version_num = 'v3.2.0.a'; ALTER TABLE trials RENAME COLUMN number TO no")
    refused(server.url("other"), "its tables are not Optuna's", "number")
    server.sql("empty", "CREATE TABLE trials (x integer)")
    refused(server.url("empty"), "has other tables of the names of Optuna's")
    server.sql("empty", "CREATE SCHEMA own; CREATE TABLE own.beside (x integer)")
    own = server.url("empty", "options=-csearch_path%3Down")
    work(own)
    opens(own)
    server.sql("open", "CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; CREATE ROLE stranger LOGIN")
    opens(server.url("open", user="reader"))
    refused(server.url("open", user="stranger"), "permission denied")


# ---- TLS ----


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_ca(folder, name):
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
            "-out", f"{name}.crt", "-subj", f"/CN={name}", "-days", "30")


def make_certificate(folder, name, host, dates):
    (folder / "index").write_text("")
    (folder / "ca.conf").write_text(
        "[ca]\ndefault_ca=c\n[c]\ndatabase=index\nnew_certs_dir=.\nrand_serial=yes\ndefault_md=sha256\npolicy=p\nunique_subject=no\n"
        f"[p]\ncommonName=supplied\n[x]\nsubjectAltName=DNS:{host}\n")
    openssl(folder, "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out",
            f"{name}.csr", "-subj", f"/CN={host}")
    openssl(folder, "ca", "-batch", "-config", "ca.conf", "-extensions", "x", "-cert", "good.crt", "-keyfile", "good.key", "-in",
            f"{name}.csr", "-out", f"{name}.crt", "-startdate", dates[0], "-enddate", dates[1])


def with_certificate(server, folder, name):
    """The server with it, from a start: a reload is done a moment later."""
    for ending in ("crt", "key"):
        path = os.path.join(server.data, f"server.{ending}")
        pathlib.Path(path).write_bytes((folder / f"{name}.{ending}").read_bytes())
        os.chmod(path, 0o600)
        if os.geteuid() == 0:
            shutil.chown(path, "postgres", "postgres")
    server.stop()
    server.settings = ["ssl=on"]
    server.start()


def check_tls(server, folder):
    for name in ("good", "bad"):
        make_ca(folder, name)
    always = ("20200101000000Z", "20491231235959Z")
    make_certificate(folder, "right", "localhost", always)
    make_certificate(folder, "elsewhere", "studies.example", always)
    make_certificate(folder, "past", "localhost", ("20200101000000Z", "20210101000000Z"))

    def url(mode, ca="good", host="localhost"):
        return server.url("open", f"sslmode={mode}&sslrootcert={urllib.parse.quote(str(folder / ca))}.crt", host=host)

    refused(url("require"), "server does not support SSL")
    with_certificate(server, folder, "right")
    opens(url("verify-full"))
    opens(url("verify-ca", host="127.0.0.1"))
    refused(url("verify-full", host="127.0.0.1"), 'does not match host name "127.0.0.1"')
    refused(url("verify-full", ca="bad"), "certificate verify failed")
    refused(url("verify-full", ca="none"), "root certificate file")
    with_certificate(server, folder, "elsewhere")
    refused(url("verify-full"), 'does not match host name "localhost"')
    opens(url("verify-ca"))
    with_certificate(server, folder, "past")
    refused(url("verify-full"), "certificate verify failed")
    opens(server.url("open", "sslmode=require", host="localhost"))


def check_library(server, folder):
    libraries = folder / "libraries"
    libraries.mkdir()
    (libraries / "libpq.so.5").write_text("no library\n")
    refused(server.url("open"), "libpq.so.5 is needed", "install libpq5", LD_LIBRARY_PATH=str(libraries))
    file = f"sqlite:///{folder}/file.db"  # needs none of it
    work(file)
    opens(file, LD_LIBRARY_PATH=str(libraries))


with postgresql_server.running(databases=["open", "other", "empty"]) as running:
    scratch = pathlib.Path(running.folder) / "t"
    scratch.mkdir()
    work(running.url("open"))
    work(running.url("other"))
    demand_password(running)
    check_passwords(running, scratch)
    check_words(running)
    check_schemas(running)
    check_library(running, scratch)
    check_tls(running, scratch)
print(f"counts: {checks} URLs")

"""tests/tui/study_listen.c over a PostgreSQL server. study_listen.py TEST"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures"))
import postgresql_server  # noqa: E402

with postgresql_server.running(databases=["listened"]) as server:
    sys.exit(subprocess.run([sys.argv[1], server.url("listened")], check=False).returncode)

#!/bin/bash
# Made state_of_62902893.tar.xz: a state as the programs of commit 62902893 leave it (schema 7), after some trading by a
# strategy and by hand. BUILD is that commit's: git worktree add, meson setup, ninja.
# usage: make_state.sh BUILD STATE.tar.xz
set -euo pipefail

build=$(readlink -f "$1") out=$(readlink -f "$2")
folder=$(mktemp -d -t papertape-state.XXXXXX)
started=()
finish() {
    kill "${started[@]}" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
cd "$folder"
state=$folder/papertape
mkdir -m 750 papertape
venue() {
    python3 -c 'import json, sys; print(json.loads(open("replay.json").readline())[sys.argv[1]])' "$1"
}
ask() {
    "$build/tui/papertape" "$@" --state "$state"
}

"$build/exchange/replay/papertape-replay" --synthetic 7 --listen 127.0.0.1:0 --ca-out ca.pem >replay.json 2>replay.log &
started+=($!)
until [[ -s replay.json ]]; do sleep 0.1; done
cat >papertaped.ini <<END
[market]
symbols = BTCUSDT, ETHUSDT
interval = 1s
history = 30
ws_url = $(venue ws_url)
rest_url = $(venue rest_url)
ca_file = $folder/ca.pem
[account main]
cash = 10000
strategy = sma-cross
strategy.fast = 2
strategy.slow = 5
strategy.fraction = 0.2
END
"$build/daemon/papertaped" --config papertaped.ini --state "$state" 2>daemon.log &
daemon=$!
started+=("$daemon")
until ask status >/dev/null 2>&1; do sleep 0.1; done
until (($(ask fills --csv | wc -l) > 4)); do sleep 0.1; done
ask order buy BTCUSDT 0.01 --client-id kept
ask order buy ETHUSDT 0.05 --limit 1000 --client-id open
kill "$daemon"
wait "$daemon"
ask ledger verify
rm -f papertape/papertaped.lock papertape/*.sock
tar --sort=name --owner=0 --group=0 --numeric-owner -cJf "$out" papertape
ls -l "$out"

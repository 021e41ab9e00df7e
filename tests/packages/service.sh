#!/bin/bash
# Debian's packages on a real systemd: installed, started without keys, traded with on papertape-replay, the configuration
# read again (a good one and a bad one), five minutes without the venue, upgraded over a running daemon and over a state of
# schema 7, and purged. Without $PAPERTAPE_LONG the venue is away for a quarter of a minute.
# usage: service.sh BUILD OUT
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
name=packages/service
# shellcheck source=tests/system/nspawn.sh
source "$here/../system/nspawn.sh"

"$here/make_debs.sh" "$1" "$2"
out=$(readlink -f "$2")
away_s=15
[[ -n ${PAPERTAPE_LONG-} ]] && away_s=300
nspawn_root
mkdir "$root/debs"
cp "$out"/{papertape,papertape-trainer,libpapertape-indicators0,libpapertape-env0,libpapertape-dev,python3-papertape}_*.deb "$root/debs"
mkdir "$root/gpu"
cp "$out"/papertape-gpu_*.deb "$root/gpu" 2>/dev/null || echo "papertape-gpu was not built: $(sed -n 's/^papertape-gpu is not built: //p' "$out/log" | head -n 1)"
nspawn_boot

state=/var/lib/papertape
config=/etc/papertape/papertaped.ini
port=18443   # of the way to the venue, forward.py,
behind=18444 # and of the venue itself
ask() {
    in_it papertape "$@" --state $state
}
status() {
    ask status --json 2>/dev/null
}
# feed_is STATE...
feed_is() {
    local now
    now=$(status | python3 -c 'import json, sys; print(json.load(sys.stdin)["feed"]["state"])' 2>/dev/null) || return 1
    [[ " $* " == *" $now "* ]]
}
streams() {
    status | python3 -c 'import json, sys
print(sum(s["frames"] for s in json.load(sys.stdin)["feed"]["streams"] if s["symbol"] == sys.argv[1]))' "$1" 2>/dev/null || echo 0
}
streams_now() {
    (($(streams "$1") > 0))
}
fills() {
    ask fills --csv | wc -l
}
more_fills_than() {
    (($(fills) > $1))
}
same_process() {
    [[ $(property MainPID) == "$main" && $(property NRestarts) == 0 && $(property ActiveState) == active ]]
}
logged() {
    in_it journalctl -q --no-pager -u papertaped -o cat | grep -qE -- "$1"
}
ledger() {
    ask ledger verify | sed -n 's/^hash //p'
}
query() {
    in_it sqlite3 -readonly $state/papertape.db "$1"
}

# --- install
holds "installs" in_it bash -c 'dpkg -i /debs/*.deb >/var/log/dpkg-i 2>&1'
((faults == 0)) || in_it cat /var/log/dpkg-i
holds "completely" bash -c "! nsenter -t $leader -a -- dpkg --audit | grep ."
holds "with the service's user" in_it getent passwd papertape
holds "and starts nothing" is ActiveState inactive
for timer in backup report; do
    holds "nor the timer of papertape-$timer" is ActiveState inactive "papertape-$timer.timer"
done
holds "nor does the next boot" bash -c "! nsenter -t $leader -a -- systemctl is-enabled --quiet papertaped"
holds "the configuration is the administrator's" bash -c "nsenter -t $leader -a -- dpkg-query -W -f '\${Conffiles}' papertape | grep -q ' $config '"
holds "its file is good" in_it papertaped --check-config --config $config

# --- the GPU's module: a package of its own, in the place where the programs look for it
gpu_is() {
    in_it papertape doctor gpu | grep -qE "the CPU does the work: $1|the GPU module uses"
}
if compgen -G "$root/gpu/*.deb" >/dev/null; then
    holds "without papertape-gpu there is no module" gpu_is "no GPU module: neither /usr/lib/"
    holds "it installs" in_it bash -c 'dpkg -i /gpu/*.deb >/var/log/dpkg-gpu 2>&1'
    holds "and its module is found: what is absent is a driver or a device" gpu_is "no CUDA d(river|evice)"
    holds "removed, it is gone" in_it bash -c 'dpkg -P papertape-gpu >/var/log/dpkg-gpu 2>&1'
    holds "and nothing is left of it" gpu_is "no GPU module: neither /usr/lib/"
fi

# --- no keys, no venue
holds "READY without keys and without a venue" in_it timeout 30 systemctl enable --now papertaped
holds "the co-process comes with it" until_true 20 is ActiveState active papertape-trainer
holds "it runs as its own user" test "$(in_it stat -c %U "/proc/$(property MainPID)")" = papertape
holds "the feed's state is shown" until_true 30 feed_is retry connecting

# --- a venue
venues=0
venue() {
    venues=$((venues + 1))
    in_it systemd-run --quiet --unit venue-$venues papertape-replay --synthetic 1 --listen 127.0.0.1:$behind --ca-out /etc/venue-ca.pem \
        --symbols 3
}
venue_listens() {
    in_it ss -Hltn "sport = :$behind" | grep -q .
}
# configured SYMBOLS FAST
configured() {
    in_it tee $config >/dev/null <<END
[market]
symbols = $1
interval = 1s
history = 30
ws_url = wss://127.0.0.1:$port
rest_url = https://127.0.0.1:$port
ca_file = /etc/venue-ca.pem
[account main]
cash = 100000
strategy = sma-cross
strategy.fast = $2
strategy.slow = 5
strategy.fraction = 0.2
END
}
venue
holds "the venue is up" until_true 20 venue_listens
cp "$here/forward.py" "$root/debs"
in_it systemd-run --quiet --unit way python3 /debs/forward.py $port $behind
configured BTCUSDT 2
in_it systemctl restart papertaped
holds "data flows" until_true 60 feed_is ok
holds "it trades" until_true 120 more_fills_than 2
main=$(property MainPID)

# --- the configuration again
configured "BTCUSDT, ETHUSDT" 3
holds "reload" in_it systemctl reload papertaped
holds "a new symbol streams within 5 s" until_true 5 streams_now ETHUSDT
holds "in the same process" same_process
configured "BTCUSDT, ETHUSDT" never
refused() {
    local said status=0
    said=$(ask reload 2>&1) || status=$?
    echo "$said" | head -n 2
    ((status == 1)) && [[ $said == *"$config:11: [account main] strategy.fast"* ]]
}
holds "a bad file: exit 1, by file and line" refused
holds "systemctl fails as well" bash -c "! nsenter -t $leader -a -- systemctl reload papertaped 2>/dev/null"
holds "and the journal has file and line" logged "$config:11: \[account main\] strategy.fast"
holds "the same process trades on" same_process
n=$(fills)
holds "as before" until_true 120 more_fills_than "$n"
configured "BTCUSDT, ETHUSDT" 3
holds "the file mended: reload" in_it systemctl reload papertaped

# --- an outage: what is sent to the venue is dropped
in_it systemctl kill --signal=USR1 way
holds "nothing comes" until_true 120 feed_is retry connecting stale
sleep "$away_s"
holds "$away_s s later it is the same process" same_process
holds "and says so" feed_is retry connecting stale
in_it systemctl kill --signal=USR2 way
holds "data flows again by itself" until_true 180 feed_is ok
holds "in the same process" same_process
n=$(fills)
holds "it trades on" until_true 120 more_fills_than "$n"
main=$(property MainPID)

# --- an upgrade while it runs
mkdir "$base/newer"
newer() {
    local deb
    for deb in "$out"/{papertape,papertape-trainer}_*.deb; do
        dpkg-deb -R "$deb" "$base/newer/tree"
        sed -i -e 's/^\(Version: .*\)$/\1+newer/' -e 's/\(papertape (= [^)]*\))/\1+newer)/' "$base/newer/tree/DEBIAN/control"
        dpkg-deb -b "$base/newer/tree" "$root/debs/newer-$(basename "$deb")" >/dev/null
        rm -r "$base/newer/tree"
    done
}
newer
n=$(fills)
holds "an upgrade" in_it bash -c 'DEBIAN_FRONTEND=noninteractive dpkg -i --force-confold /debs/newer-*.deb >/var/log/dpkg-i 2>&1'
another_process() {
    [[ $(property MainPID) != "$main" && $(property ActiveState) == active ]]
}
holds "restarts it" until_true 30 another_process
holds "with what it had" test "$(fills)" -ge "$n"
holds "data flows" until_true 120 feed_is ok
holds "the ledger is sound" ask ledger verify
holds "the configuration is as the administrator left it" in_it grep -q 'strategy.fast = 3' $config
in_it systemctl stop papertaped papertape-trainer "venue-$venues"

# --- an upgrade over the state of an earlier version
in_it rm -rf $state
tar -C "$root/var/lib" -xJf "$here/state_of_62902893.tar.xz"
in_it chown -R papertape: $state
holds "a state of schema 7" test "$(query 'PRAGMA user_version')" = 7
fills_then=$(query 'SELECT count(*) FROM fills')
holds "READY on it" in_it timeout 60 systemctl start papertaped
holds "upgraded" test "$(query 'PRAGMA user_version')" -gt 7
holds "which the log says, and where the state before is" logged "schema 7 is upgraded to [0-9]+: the state before is kept in $state/former/schema-7"
holds "every fill is there" test "$(query 'SELECT count(*) FROM fills')" = "$fills_then"
hash_of_then=d6acc3c63cb8a78809c16b67064f960666d480f3eccbedc7ca078ef811901875
holds "the ledger is the same" test "$(ledger)" = $hash_of_then
holds "the event log is sound" ask events verify
order_is() {
    [[ $(query "SELECT state FROM orders WHERE client_id = '$1'") == "$2" ]]
}
holds "the orders by hand wait" order_is kept PENDING
venue
holds "the venue is up" until_true 20 venue_listens
in_it systemctl restart papertaped
holds "data flows" until_true 120 feed_is ok
holds "and are filled" until_true 60 order_is kept FILLED
holds "or open" until_true 60 order_is open OPEN
in_it systemctl stop papertaped papertape-trainer "venue-$venues"

# --- the way back: what was kept is a whole state
holds "what was kept is of schema 7" test "$(in_it sqlite3 $state/former/schema-7/papertape.db 'PRAGMA user_version')" = 7
in_it mv $state $state.newer
in_it install -d -m 0750 -o papertape -g papertape $state
holds "restored" in_it papertape restore $state.newer/former/schema-7 --state $state
holds "the daemon takes it" in_it timeout 60 systemctl start papertaped
holds "with the ledger of that time" test "$(ledger)" = $hash_of_then
in_it systemctl stop papertaped papertape-trainer
in_it rm -rf $state.newer

# --- what Debian 12 has not, and a library that is loaded at its first use
if in_it /usr/bin/python3 -c 'import pyarrow' 2>/dev/null; then
    echo "this system's Python has pyarrow: its absence is not tried"
else
    lacks_pyarrow() {
        local said status=0
        said=$(in_it env -u PAPERTAPE_PYTHON PATH=/usr/bin:/bin papertape export --parquet /srv/lake --state "$state" 2>&1) || status=$?
        echo "$said"
        ((status == 1)) && [[ $said == *"/usr/bin/python3 (Python 3."*") lacks the package pyarrow ("*"/usr/bin/python3 -m pip install pyarrow"* ]]
    }
    holds "an export to Parquet names its Python, and what that lacks" lacks_pyarrow
fi
lacks_libpq() {
    local said status=0
    said=$(in_it "$@" postgresql://pt@127.0.0.1/studies 2>&1) || status=$?
    echo "${said%%$'\n'*}"
    ((status == 1)) && [[ $said == *"libpq.so.5 is needed: "*": install libpq5"* ]]
}
holds "libpq5 comes with it" in_it bash -c "dpkg-query -W -f '\${Depends}' papertape | grep -qw libpq5"
libpq=$(in_it bash -c 'ls /usr/lib/*/libpq.so.5')
in_it mv "$libpq" "$libpq.away"
holds "without it the dashboard's command line names it" lacks_libpq papertape study list --studies
holds "and the trainer" lacks_libpq papertape-trainer study small --resume --storage
in_it mv "$libpq.away" "$libpq"

# --- a worker of a study, by its unit (docs/workers.md), with the storage's password as its credential
worker=papertape-trainer-study@small
server=$(compgen -G '/usr/lib/postgresql/*/bin/postgres' | tail -n 1) || true
holds "a worker without its file of options fails to start" bash -c "! nsenter -t $leader -a -- systemctl start $worker 2>/dev/null"
holds "by its assertion" is AssertResult no $worker
if [[ -z $server ]]; then
    echo "postgresql (Debian) is not installed: no study's worker is run"
else
    mkdir "$root/srv/bars"
    PYTHONPATH=$here/../trainer/study python3 -c '
import sys
from small_study import write, write_market
write_market(sys.argv[1], n=700)
write(sys.argv[1] + "/small.ini", {"data": {"bars": "/srv/bars/AAAUSDT_1h.csv, /srv/bars/BBBUSDT_1h.csv"}, "study": {"trials": 3, "pruner": "none"}})
' "$root/srv/bars"
    chmod -R a+rX "$root/srv/bars"
    in_it install -d -o postgres -m 0700 /srv/pg
    echo secret >"$root/srv/password"
    in_it runuser -u postgres -- "${server%postgres}initdb" -D /srv/pg -U pt -A scram-sha-256 --pwfile /srv/password >/dev/null
    in_it systemd-run --quiet --unit pg --uid postgres "$server" -D /srv/pg -k /srv/pg -h 127.0.0.1 -p 5433
    in_it install -D -m 0600 /dev/null /etc/credstore/papertape-study-small.pgpass
    echo "127.0.0.1:5433:*:pt:secret" >"$root/etc/credstore/papertape-study-small.pgpass"
    storage=postgresql://pt@127.0.0.1:5433/postgres
    sql() {
        in_it env PGPASSWORD=secret "${server%postgres}psql" -h 127.0.0.1 -p 5433 -U pt -d postgres -AtXc "$1" 2>&1
    }
    answers() {
        [[ $(sql "SELECT 1") == 1 ]]
    }
    holds "a server answers" until_true 30 answers
    holds "a study begins" in_it env PGPASSWORD=secret papertape-trainer study small --config /srv/bars/small.ini --storage $storage \
        --state /srv/first --trials 1 --no-proposal >/dev/null
    in_it install -d /etc/papertape/studies
    echo "STORAGE=$storage" >"$root/etc/papertape/studies/small.env"
    holds "its worker starts" in_it systemctl start $worker
    holds "and ends once the study has its trials" until_true 120 is ActiveState inactive $worker
    holds "with status 0" is ExecMainStatus 0 $worker
    trials=$(sql "SELECT count(*) FROM trials WHERE state = 'COMPLETE'")
    holds "of which it ran those that were left" test "$trials" = 3
    holds "in a state of its own" in_it test -f /var/lib/papertape.study-small/studies/small/2/returns.csv
    ((faults == 0)) || in_it journalctl -q --no-pager -u $worker -n 20 || true
    in_it systemctl stop pg
    in_it rm -r /etc/papertape/studies /etc/credstore/papertape-study-small.pgpass # the administrator's; purge leaves them
fi

# --- purge
in_it install -D -o papertape /dev/null /var/lib/papertape.backup/of-ours
in_it install -D -o papertape /dev/null /var/lib/papertape-second/papertaped.lock
in_it systemctl start papertaped
holds "removed while it runs" in_it bash -c 'dpkg -r papertape papertape-trainer >/var/log/dpkg-r 2>&1'
holds "it is stopped" is ActiveState inactive
holds "its state stays" in_it test -f $state/papertape.db
holds "purged" in_it bash -c 'dpkg -P papertape papertape-trainer python3-papertape libpapertape-dev libpapertape-env0 libpapertape-indicators0 >/var/log/dpkg-P 2>&1'
holds "the state is gone" bash -c "! nsenter -t $leader -a -- ls -d $state $state-second $state.study-small /etc/papertape 2>/dev/null"
holds "the user stays, and why" in_it grep 'the user papertape stays: /var/lib/papertape.backup/of-ours belongs to it' /var/log/dpkg-P
in_it rm -r /var/lib/papertape.backup
holds "installed again" in_it bash -c 'dpkg -i /debs/papertape_*.deb >/var/log/dpkg-i 2>&1'
holds "started again" in_it timeout 30 systemctl start papertaped
holds "purged again" in_it bash -c 'dpkg -P papertape >/var/log/dpkg-P 2>&1'
holds "no user is left" bash -c "! nsenter -t $leader -a -- getent passwd papertape"
holds "nor a group" bash -c "! nsenter -t $leader -a -- getent group papertape papertape-read"
holds "nor a file" bash -c "! nsenter -t $leader -a -- find /etc /usr/bin /usr/lib /lib /var/lib /usr/share -xdev -name '*papertape*' -not -path '/var/lib/dpkg/*' | grep ."

((faults == 0)) || in_it journalctl -q --no-pager -u papertaped -n 60 || true
exit $((faults > 0))

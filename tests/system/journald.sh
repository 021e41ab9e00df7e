#!/bin/bash
# The log, the roles and the instances on a real systemd. Fields, MESSAGE_ID and the catalog in the journal; with journald stopped
# for a minute the daemon's watchdog is served and what is lost is counted; readers and operators by their groups, as other users;
# two instances of the unit beside each other.
# usage: journald.sh BUILD_DIRECTORY
set -euo pipefail

build=$(readlink -f "$1")
stopped_s=${PAPERTAPE_STOPPED_S:-60}
name=systemd/journald
# shellcheck source=tests/system/nspawn.sh
source "$(dirname "$(readlink -f "$0")")/nspawn.sh"
nspawn_root
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet

bindir=$(sed -n 's,^ExecStart=\(.*\)/papertaped .*,\1,p' "$build/systemd/papertaped.service")
config=$(sed -n 's,^ExecStart=.*--config ,,p' "$build/systemd/papertaped.service")
port=18443
mkdir -p "$root$(dirname "$config")" "$root/etc/credstore"
# configure NAME: of the service itself, or of an instance (-NAME)
configure() {
    cat >"$root${config%.ini}$1.ini" <<END
[market]
symbols = BTCUSDT
interval = 1s
history = 10
ws_url = wss://127.0.0.1:$port
rest_url = https://127.0.0.1:$port
ca_file = /etc/venue-ca.pem
[engine]
latency_ms = 0
[account hand]
cash = 100000
strategy = none
END
}
configure ""
configure -one
configure -two
for unit in papertaped papertape-trainer; do
    mkdir -p "$root/etc/systemd/system/$unit.service.d"
    printf '[Service]\nWatchdogSec=4s\n' >"$root/etc/systemd/system/$unit.service.d/test.conf"
done

# More commands than the queues hold, each of which logs a line, on one connection.
cat >"$root/flood.py" <<'END'
import json, socket, threading
client = socket.socket(socket.AF_UNIX)
client.connect("/var/lib/papertape/control.sock")
def send():
    for number in range(4000):
        client.sendall(json.dumps({"id": number + 1, "cmd": ("pause", "resume")[number % 2], "args": {}}).encode() + b"\n")
threading.Thread(target=send).start()
answers = 0
while answers < 4000:
    answers += client.recv(1 << 16).count(b"\n")
print(answers, "commands answered")
END

venue_listens() {
    in_it journalctl -q -u venue | grep -q rest_url
}
# status_says PATTERN [--state …]
status_says() {
    local pattern=$1
    shift
    in_it "$bindir/papertape" status --json "$@" 2>/dev/null | grep -qE "$pattern"
}
# entries MATCH...: entries of the journal as JSON, a line each
entries() {
    in_it journalctl -q -o json --all "$@"
}
has_entry() {
    [[ -n $(entries "$@") ]]
}
# as USER COMMAND...
as() {
    local user=$1
    shift
    in_it setpriv --reuid "$user" --regid "$user" --init-groups env HOME=/nonexistent "$@"
}
quietly() {
    "$@" >/dev/null
}
refuses() {
    local pattern=$1
    shift
    local said
    said=$("$@" 2>&1) && return 1
    grep -q "$pattern" <<<"$said"
}

nspawn_boot
in_it systemd-run --quiet --unit venue "$bindir/papertape-replay" --synthetic 1 --listen "127.0.0.1:$port" --ca-out /etc/venue-ca.pem
holds "the venue is up" until_true 20 venue_listens
holds "the daemon starts" in_it timeout 30 systemctl start papertaped
holds "data flows" until_true 60 status_says '"state": ?"ok"'

# Fields, ids, catalog.
in_it journalctl --update-catalog
holds "an entry says that it started" until_true 10 has_entry -u papertaped PAPERTAPE_EVENT=started
holds "and one that the feed is there" has_entry PAPERTAPE_EVENT=feed-back VENUE=binance
until_true 20 status_says '"book": ?"synced"'
in_it "$bindir/papertape" order buy BTCUSDT 0.01 --account hand >/dev/null
holds "a fill has symbol, account and order" until_true 10 has_entry PAPERTAPE_EVENT=fill SYMBOL=BTCUSDT ACCOUNT=hand ORDER=1
holds "an order that is refused too" bash -c "! nsenter -t $leader -a -- $bindir/papertape order buy BTCUSDT 1000 --account hand 2>/dev/null >&2"
holds "by its fields" until_true 10 has_entry PAPERTAPE_EVENT=order-refused SYMBOL=BTCUSDT ORDER=2
id=$(entries PAPERTAPE_EVENT=order-refused | python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["MESSAGE_ID"])')
in_it journalctl -q -x "MESSAGE_ID=$id" >"$base/explained"
holds "the catalog explains it, with the order's number" grep -q 'papertape explain 2 shows what it was checked against' "$base/explained"
holds "journalctl lists the catalog's entries" test "$(in_it journalctl --list-catalog | grep -c papertape)" -ge 30
holds "lines come by the daemon itself, once" test "$(entries -u papertaped PAPERTAPE_EVENT=started | wc -l)" = 1

# journald takes nothing for a minute.
journald=$(property MainPID systemd-journald)
main=$(property MainPID)
echo "journald, process $journald, is stopped for $stopped_s s; the watchdog of papertaped waits for 4 s"
in_it kill -STOP "$journald"
began=$SECONDS
in_it timeout 50 python3 /flood.py
frames() {
    in_it timeout 10 "$bindir/papertape" status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["feed"]["frames"])'
}
first=$(frames)
sleep $((stopped_s - (SECONDS - began)))
status=$(in_it timeout 10 "$bindir/papertape" status --json)
later=$(frames)
echo "frames: $first, then $later; $(grep -oE '"log": ?\{[^}]*\}' <<<"$status")"
holds "frames were taken" test "$later" -gt "$first"
holds "losses are counted" grep -qE '"log": ?\{"to": ?"journal", ?"queued": ?[1-9][0-9]*, ?"lost": ?[1-9]' <<<"$status"
in_it kill -CONT "$journald"
holds "and reported once journald reads again" until_true 20 has_entry PAPERTAPE_EVENT=log-lost
lost=$(entries PAPERTAPE_EVENT=log-lost | python3 -c 'import json, sys; print(sum(int(json.loads(line)["PAPERTAPE_LOST"]) for line in sys.stdin))')
holds "with the number of the status ($lost)" status_says "\"lost\": ?$lost\\b"
holds "no watchdog was missed: the same process" is MainPID "$main"
holds "without a restart" is NRestarts 0
holds "no entry of the watchdog" bash -c "! nsenter -t $leader -a -- journalctl -q -u papertaped | grep -qi 'watchdog timeout'"
in_it systemctl restart papertaped
holds "the last line before the end is there" until_true 20 has_entry -u papertaped PAPERTAPE_EVENT=stopped
holds "data flows again" until_true 60 status_says '"state": ?"ok"'

# The watchdog's own signal: what is queued, and the crash, are there.
in_it kill -ABRT "$(property MainPID)"
holds "a crash is in the journal" until_true 20 has_entry -u papertaped PAPERTAPE_EVENT=crashed
holds "and it is started again" until_true 60 status_says '"state": ?"ok"'

# Roles.
in_it useradd --no-create-home --groups papertape-read reader
in_it useradd --no-create-home --groups papertape trader
in_it useradd --no-create-home stranger
holds "the state is its group's, and the readers'" test "$(in_it stat -c '%U:%G %a' /var/lib/papertape)" = "papertape:papertape 750"
holds "a reader reads the status, without --state" quietly as reader "$bindir/papertape" status --json
holds "the lists of the database" quietly as reader "$bindir/papertape" fills
holds "the ledger" quietly as reader "$bindir/papertape" ledger verify
holds "the event log" quietly as reader "$bindir/papertape" events list
holds "the dashboard" quietly as reader "$bindir/papertape" --once
holds "and may not operate" refuses 'reading only: pause is for operators: be a member of group papertape' as reader "$bindir/papertape" pause
holds "nor order" refuses 'reading only' as reader "$bindir/papertape" order buy BTCUSDT 0.01
holds "nor write in the state" refuses 'Permission denied' as reader touch /var/lib/papertape/x
holds "an operator may" quietly as trader "$bindir/papertape" pause
holds "and reads" quietly as trader "$bindir/papertape" fills
holds "a stranger may neither" refuses 'papertape-read to read only' as stranger "$bindir/papertape" status

# Instances.
echo "PKONE" >"$root/etc/credstore/papertape-one.keys"
chmod 600 "$root/etc/credstore/papertape-one.keys"
holds "an instance starts" in_it timeout 30 systemctl start papertaped@one
holds "another too, without a credential" in_it timeout 30 systemctl start papertaped@two
for instance in one two; do
    holds "data flows to $instance" until_true 60 status_says '"state": ?"ok"' --state "@$instance"
    holds "its state is its own" test "$(in_it stat -c '%U:%G %a' /var/lib/papertape-$instance)" = "papertape:papertape 750"
    holds "with a co-process of its own" until_true 20 status_says '"trainer": ?\{"state": ?"ok"' --state "@$instance"
    holds "that is its unit" is ActiveState active papertape-trainer@$instance
    holds "and a reader reads it" quietly as reader "$bindir/papertape" fills --state "@$instance"
done
holds "the first has its own keys" in_it grep -qx PKONE /run/credentials/papertaped@one.service/keys
holds "the second none" bash -c "! nsenter -t $leader -a -- test -e /run/credentials/papertaped@two.service/keys"
sed -i 's/^symbols = BTCUSDT/symbols = BTCUSDT ETHUSDT/' "$root${config%.ini}-one.ini"
holds "a reload of one" in_it timeout 30 systemctl reload papertaped@one
holds "is its alone" until_true 20 status_says ETHUSDT --state @one
holds "the other is as before" bash -c "! nsenter -t $leader -a -- $bindir/papertape status --json --state @two | grep -q ETHUSDT"
holds "its entries are its unit's" has_entry -u papertaped@one PAPERTAPE_EVENT=reloaded
in_it systemctl stop papertaped papertaped@two
holds "the end of one leaves the others alone" status_says '"state": ?"ok"' --state @one
in_it systemctl stop papertaped@one
((faults == 0)) || in_it journalctl -q --no-pager -n 60
exit $((faults > 0))

#!/bin/bash
# The units on a real systemd: boots one over an overlay of this system (nothing of it is changed), installs the build
# there, and looks at start and READY, the sandbox, credentials, an absent venue, a crash, a hang, and the stop; and at the
# co-process: a training that continues through the daemon's restart, its own crash and hang, and a stop with a checkpoint.
# usage: service.sh BUILD_DIRECTORY
set -euo pipefail

build=$(readlink -f "$1")
name=systemd/service
# shellcheck source=tests/system/nspawn.sh
source "$(dirname "$(readlink -f "$0")")/nspawn.sh"
nspawn_root
DESTDIR=$root meson install -C "$build" --no-rebuild --quiet

# on_another_process_than PID [UNIT]
on_another_process_than() {
    [[ $(property MainPID "${2-papertaped}") != "$1" && $(property ActiveState "${2-papertaped}") == active ]]
}
venue_listens() {
    in_it journalctl -q -u venue | grep -q rest_url
}
status_says() {
    in_it "$bindir/papertape" status --json --state /var/lib/papertape 2>/dev/null | grep -qE "$1"
}

bindir=$(sed -n 's,^ExecStart=\(.*\)/papertaped .*,\1,p' "$build/systemd/papertaped.service")
config=$(sed -n 's,^ExecStart=.*--config ,,p' "$build/systemd/papertaped.service")
port=18443
mkdir -p "$root$(dirname "$config")" "$root/etc/credstore" "$root/etc/systemd/system/papertaped.service.d"
cat >"$root$config" <<END
[market]
symbols = BTCUSDT
interval = 1s
ws_url = wss://127.0.0.1:$port
rest_url = https://127.0.0.1:$port
ca_file = /etc/venue-ca.pem
END
echo secret >"$root/etc/credstore/keys"
chmod 600 "$root/etc/credstore/keys"
mkdir "$root/etc/systemd/system/papertape-trainer.service.d"
printf '[Service]\nWatchdogSec=2s\nRestartSec=100ms\n' |
    tee "$root/etc/systemd/system/papertaped.service.d/test.conf" \
        >"$root/etc/systemd/system/papertape-trainer.service.d/test.conf"
# What workers may do inside the sandbox: choose processors, lower their priority. It would not start otherwise.
echo 'ExecStartPre=/usr/bin/nice -n 5 /usr/bin/taskset -c 0 /bin/true' \
    >>"$root/etc/systemd/system/papertape-trainer.service.d/test.conf"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=nobody -days 1 \
    -keyout /dev/null -out "$root/etc/venue-ca.pem" 2>/dev/null

nspawn_boot

holds "READY without a venue" in_it timeout 30 systemctl start papertaped
holds "the feed's state is shown" until_true 20 status_says '"state": ?"(retry|connecting)"'
main=$(property MainPID)
holds "it runs as its own user" test "$(in_it stat -c %U "/proc/$main")" = papertape
holds "no capability" in_it grep -q '^CapBnd:.0*$' "/proc/$main/status"
holds "a system-call filter" in_it grep -q '^Seccomp:.2$' "/proc/$main/status"
holds "its state is its group's alone" \
    test "$(in_it stat -c '%U:%G %a' /var/lib/papertape)" = "papertape:papertape 750"
holds "the credential is there" in_it test -s /run/credentials/papertaped.service/keys
holds "the secret is not in the environment" in_it bash -c "! grep -q secret /proc/$main/environ"

in_it systemd-run --quiet --unit venue "$bindir/papertape-replay" --synthetic 1 --listen "127.0.0.1:$port" \
    --ca-out /etc/venue-ca.pem
holds "the venue is up" until_true 20 venue_listens
in_it systemctl restart papertaped # the CA of the venue is another now
holds "data flows" until_true 60 status_says '"state": ?"ok"'

main=$(property MainPID)
in_it kill -KILL "$main"
holds "after a crash it is started again" until_true 20 on_another_process_than "$main"
main=$(property MainPID)
in_it kill -STOP "$main"
holds "a hang is ended by the watchdog and it is started again" until_true 60 on_another_process_than "$main"
holds "data flows again" until_true 60 status_says '"state": ?"ok"'

holds "a backup of the running service, and its drill" in_it systemctl start papertape-backup
holds "the archive is the daemon's user's" \
    test "$(in_it bash -c 'stat -c "%U %a" /var/lib/papertape.backup/papertape-*.tar.zst')" = "papertape 640"
holds "its outcome is where the daemon reads it" in_it grep -q '"drilled": true' /var/lib/papertape/backup.json
holds "the configuration is in it" \
    in_it bash -c "'$bindir/papertape' restore /var/lib/papertape.backup/papertape-*.tar.zst --state /tmp/r && cmp '$config' /tmp/r/papertaped.ini"
holds "the timer" in_it systemctl start papertape-backup.timer

# An instance has its own state, backups and reports.
cp "$root$config" "$root${config%.ini}-second.ini"
holds "an instance" in_it timeout 60 systemctl start papertaped@second
holds "its backup, and the drill" in_it systemctl start papertape-backup@second
holds "which is in a folder of its own" \
    test "$(in_it bash -c 'stat -c "%U %a" /var/lib/papertape.backup-second/papertape-*.tar.zst')" = "papertape 640"
holds "its report" in_it timeout 60 systemctl start papertape-report@second
holds "which is in its state" in_it bash -c 'test -f /var/lib/papertape-second/reports/report-*.html'
holds "its timers" in_it systemctl start papertape-backup@second.timer papertape-report@second.timer
holds "doctor rates its units" in_it bash -c "'$bindir/papertape' doctor unit --state @second | grep -q 'papertape-backup@.service: exposure 0'"
in_it systemctl stop papertape-backup@second.timer papertape-report@second.timer papertaped@second papertape-trainer@second

# Alerts go out from within the sandbox: a command, webhooks and mail, with secrets that are credentials.
receivers=$(readlink -f "$(dirname "$0")/receivers.py")
echo sesame >"$root/etc/credstore/token"
echo hush >"$root/etc/credstore/password"
mkdir "$root/etc/receivers"
printf '[Service]\nLoadCredential=token\nLoadCredential=password\n' >"$root/etc/systemd/system/papertaped.service.d/alerts.conf"
in_it systemd-run --quiet --unit receivers /usr/bin/python3 "$receivers" /etc/receivers
holds "the receivers are up" until_true 20 in_it test -f /etc/receivers/alerts
cat "$root/etc/receivers/alerts" >>"$root$config"
# shellcheck disable=SC2016 # the command's own
echo "command = /bin/sh -c 'cat >>/var/lib/papertape/took'" >>"$root$config"
in_it chmod 644 /etc/receivers/cert.pem
in_it systemctl daemon-reload
in_it systemctl restart papertaped
holds "data flows with sinks" until_true 60 status_says '"state": ?"ok"'
holds "a test reaches every kind of sink" in_it "$bindir/papertape" alerts test --state /var/lib/papertape
holds "a command had it" in_it grep -q '"rule":"test"' /var/lib/papertape/took
holds "no secret is in the journal" in_it sh -c '! journalctl -q -u papertaped | grep -qE "sesame|hush"'

# An encrypted credential, as the unit's comment has it.
in_it systemd-creds setup >/dev/null 2>&1 || true
in_it mkdir -p /etc/credstore.encrypted /etc/systemd/system/papertaped.service.d
printf 'PKID\nencrypted\n' | in_it systemd-creds encrypt --with-key=host --name=keys - /etc/credstore.encrypted/keys 2>/dev/null
in_it rm /etc/credstore/keys
printf '[Service]\nLoadCredentialEncrypted=keys\n' | in_it tee /etc/systemd/system/papertaped.service.d/encrypted.conf >/dev/null
in_it systemctl daemon-reload
in_it systemctl restart papertaped
holds "an encrypted credential is there, in clear" in_it grep -qx encrypted /run/credentials/papertaped.service/keys
holds "data flows with it" until_true 60 status_says '"state": ?"ok"'

# The report of yesterday, beside the daemon and after it, by the timer's unit in its own sandbox.
holds "a report is written" in_it timeout 60 systemctl start papertape-report
holds "in three forms, for its group alone" test "$(in_it bash -c 'stat -c "%U %a" /var/lib/papertape/reports/report-*' | sort -u)" = "papertape 640"
holds "and its summary reaches the sinks" until_true 20 in_it grep -q '"rule":"report"' /var/lib/papertape/took
in_it systemctl stop papertaped
holds "without the daemon too" in_it timeout 60 systemctl start papertape-report
holds "its timer can be enabled" in_it systemctl enable --now papertape-report.timer
in_it systemctl start papertaped
holds "data flows again after it" until_true 60 status_says '"state": ?"ok"'

# A user without a state of their own finds the service's.
holds "root's status without --state" in_it env -u STATE_DIRECTORY HOME=/root "$bindir/papertape" status >"$base/status"
in_it useradd --no-create-home --groups papertape reader
holds "a member's of the group" in_it setpriv --reuid reader --regid reader --init-groups env HOME=/nonexistent "$bindir/papertape" status >>"$base/status"
in_it useradd --no-create-home stranger
holds "and no other user's" bash -c "! nsenter -t $leader -a -- setpriv --reuid stranger --regid stranger --init-groups env HOME=/nonexistent $bindir/papertape status >/dev/null 2>&1"

# What concerns the installation alone: the venue's clock is the market's.
doctor_finds_nothing() {
    in_it env -u STATE_DIRECTORY HOME=/root "$bindir/papertape" doctor \
        unit permissions daemon sinks backup configuration disk database ledger events >"$base/doctor" &&
        ! grep -E '^(warning|error)' "$base/doctor" && grep -qE '^ok +unit .* exposure' "$base/doctor"
}
holds "doctor finds nothing" doctor_finds_nothing
cat "$base/doctor"

# The child that compares the log with the ledger runs inside the same sandbox.
cat >"$root/ask.py" <<'END'
import socket
client = socket.socket(socket.AF_UNIX)
client.connect("/var/lib/papertape/control.sock")
client.sendall(b'{"id":1,"cmd":"parity"}\n')
print(client.recv(4096).decode())
END
holds "a check of parity begins" in_it bash -c "/usr/bin/python3 /ask.py | grep running"
holds "and says ok" until_true 60 status_says '"parity": ?\{"state": ?"ok"'

# The co-process is a unit of its own, and the daemon starts none.
trainer=papertape-trainer
# training MEMBER [PATTERN]: what the status says of the one training
training() {
    in_it "$bindir/papertape" status --json --state /var/lib/papertape 2>/dev/null |
        python3 -c 'import json, sys; t = json.load(sys.stdin)["trainings"]; print(t[0][sys.argv[1]] if t else "")' "$1" || true
}
training_is() {
    [[ $(training "$1") =~ $2 ]]
}
trains_beyond() {
    local steps
    steps=$(training steps)
    [[ $steps -gt $1 && $(training state) =~ rollout|update|checkpointing ]]
}
holds "the co-process came with the daemon" until_true 20 is ActiveState active $trainer
holds "and is ready" until_true 20 status_says '"trainer": ?\{"state": ?"ok"'
main=$(property MainPID $trainer)
holds "it runs as the daemon's user" test "$(in_it stat -c %U "/proc/$main")" = papertape
holds "without a capability" in_it grep -q '^CapBnd:.0*$' "/proc/$main/status"
holds "with a system-call filter" in_it grep -q '^Seccomp:.2$' "/proc/$main/status"
holds "a training starts" in_it "$bindir/papertape" train start probe --state /var/lib/papertape
holds "and gets on" until_true 60 trains_beyond 0
worker=$(training pid)
holds "its worker is the co-process's" test "$(in_it ps -o ppid= -p "$worker" | tr -d ' ')" = "$main"
holds "in that unit" in_it grep -q papertape-trainer.service "/proc/$worker/cgroup"
in_it systemctl restart papertaped
holds "the daemon's restart leaves the worker alone" until_true 60 training_is pid "^$worker\$"
in_it kill -KILL "$main"
holds "killed, the co-process is started again" until_true 20 on_another_process_than "$main" $trainer
steps=$(training steps)
holds "and the training continues" until_true 90 trains_beyond "$steps"
main=$(property MainPID $trainer)
in_it kill -STOP "$main"
holds "hung, the watchdog ends it" until_true 60 on_another_process_than "$main" $trainer
steps=$(training steps)
holds "and the training continues again" until_true 90 trains_beyond "$steps"
holds "it stops in time" in_it timeout 60 systemctl stop $trainer
holds "with success" is Result success $trainer
holds "and a checkpoint" in_it bash -c 'ls /var/lib/papertape/checkpoints/probe-*.ckpt >/dev/null'
holds "no worker is left" bash -c "! nsenter -t $leader -a -- pgrep -f 'papertape-trainer train' >/dev/null"
holds "the daemon says that it is absent, and starts none" until_true 20 status_says '"trainer": ?\{"state": ?"absent"'

holds "it stops in time" in_it timeout 30 systemctl stop papertaped
holds "with success" is Result success
holds "and exit status 0" is ExecMainStatus 0
in_it systemctl start papertaped
holds "after a clean stop nothing is played again" until_true 20 status_says '"played": ?0, ?"again": ?0'
in_it systemctl stop papertaped

# A full disk: reported, and a stop in time with success.
in_it mount -t tmpfs -o size=48m,mode=0750 tmpfs /var/lib/papertape
in_it chown papertape:papertape /var/lib/papertape
in_it systemctl start papertaped
holds "data flows on a small disk" until_true 60 status_says '"state": ?"ok"'
in_it sh -c 'dd if=/dev/zero of=/var/lib/papertape/filler bs=64k 2>/dev/null; true'
storing_fails() {
    [[ $(property StatusText) == "storage failing: "* ]]
}
holds "STATUS says that storing fails" until_true 60 storing_fails
echo "STATUS=$(property StatusText)"
began=$SECONDS
holds "it stops on a full disk" in_it timeout 60 systemctl stop papertaped
holds "within 25 s ($((SECONDS - began)))" test $((SECONDS - began)) -le 25
holds "with success" is Result success
holds "what is lost is logged" in_it sh -c 'journalctl -q -u papertaped | grep -q "none of that was acknowledged"'
in_it rm /var/lib/papertape/filler
in_it systemctl start papertaped
holds "with room again it starts, and data flows" until_true 60 status_says '"state": ?"ok"'
in_it systemctl stop papertaped

# A bad configuration: once, with status 2, and OnFailure= is started.
printf '[Unit]\nOnFailure=notify-me@%%n.service\n' | in_it tee /etc/systemd/system/papertaped.service.d/failure.conf >/dev/null
# shellcheck disable=SC2016 # the unit's own specifier
printf '[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo %%i >/run/notified"\n' | in_it tee /etc/systemd/system/notify-me@.service >/dev/null
in_it sh -c "echo 'symbls = BTCUSDT' >>$config"
in_it systemctl daemon-reload
in_it systemctl start papertaped 2>/dev/null || true
holds "a bad configuration ends with status 2" until_true 10 is ExecMainStatus 2
holds "as failed" until_true 10 is ActiveState failed
holds "once" is NRestarts 0
holds "and OnFailure= is started for it" until_true 10 in_it grep -q papertaped.service /run/notified
((faults == 0)) || in_it journalctl -q --no-pager -u papertaped -n 40
exit $((faults > 0))

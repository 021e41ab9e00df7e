# A real systemd, for a test to source: booted over an overlay of this system, of which nothing is changed. After nspawn_root
# `root` is the overlay and `base` a folder for the test's own.
# shellcheck shell=bash

# shellcheck source=tests/system/holds.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/holds.sh"

base='' root='' container='' leader=''

nspawn_finish() {
    if [[ -n $container ]]; then
        [[ -z $leader ]] || kill -RTMIN+4 "$leader" 2>/dev/null || true
        for ((i = 0; i < 100; i++)); do
            kill -0 "$container" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "$container" 2>/dev/null || true
        wait "$container" 2>/dev/null || true
    fi
    umount "$base/root" 2>/dev/null || umount --lazy "$base/root" 2>/dev/null || true
    umount "$base" 2>/dev/null || umount --lazy "$base" 2>/dev/null || true
    rmdir "$base" 2>/dev/null || true
}

# nspawn_root makes the overlay.
nspawn_root() {
    ((EUID == 0)) || skip "root is needed to boot a systemd in a namespace"
    command -v systemd-nspawn >/dev/null || skip "systemd-nspawn (package systemd-container) is not installed"
    base=$(mktemp -d -t papertape-nspawn.XXXXXX)
    root=$base/root
    trap nspawn_finish EXIT
    mount -t tmpfs tmpfs "$base" 2>/dev/null || skip "no tmpfs can be mounted here"
    mkdir "$base"/{up,work,root}
    mount -t overlay overlay -o "lowerdir=/,upperdir=$base/up,workdir=$base/work" "$root" 2>/dev/null ||
        skip "no overlay can be mounted here"
    rm -f "$root/usr/sbin/policy-rc.d"
}

in_it() {
    nsenter -t "$leader" -a -- "$@"
}
# property NAME [UNIT]
property() {
    in_it systemctl show -P "$1" "${2-papertaped}"
}
# is NAME VALUE [UNIT]
is() {
    [[ $(property "$1" "${3-papertaped}") == "$2" ]]
}
nspawn_leader_known() {
    leader=$(pgrep -P "$container")
}
# Its first child may be one that sets the namespaces up, and ends.
nspawn_booted() {
    local state
    nspawn_leader_known || return 1
    state=$(in_it systemctl is-system-running 2>/dev/null || true)
    [[ $state == running || $state == degraded ]]
}

nspawn_boot() {
    systemd-nspawn --boot -D "$root" --register=no --keep-unit --private-network --console=pipe \
        --system-call-filter=@memlock </dev/null >"$base/console" 2>&1 &
    container=$!
    until_true 10 nspawn_leader_known || skip "systemd-nspawn does not run here: $(tail -n 1 "$base/console")"
    until_true 60 nspawn_booted || skip "systemd does not boot here"
}

#!/bin/bash
# The Containerfile: built by Debian's buildah without any privilege of a runtime (chroot isolation), on a base that
# debootstrap makes, and so with nothing but what the packages depend on; then the daemon trades in it as its user, on a
# volume, healthy by the image's own check, and continues in a second container.
# usage: image.sh BUILD OUT
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
name=packages/image
# shellcheck source=tests/system/holds.sh
source "$here/../system/holds.sh"
# shellcheck source=tests/system/debian_root.sh
source "$here/../system/debian_root.sh"

((EUID == 0)) || skip "root is needed for debootstrap and chroot"
for program in debootstrap buildah; do
    command -v $program >/dev/null || skip "$program is not installed"
done
mirror=$(debian_mirror) || skip "/etc/apt has no source of bookworm"
"$here/make_debs.sh" "$1" "$2"
out=$(readlink -f "$2")

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/papertape-image.XXXXXX")
buildah_() {
    buildah --root "$scratch/storage" --runroot "$scratch/run" "$@"
}
# By their numbers, which are the machine's: buildah passes no signal on.
finish() {
    local file
    for file in papertaped.lock venue.pid; do
        [[ ! -s $scratch/volume/$file ]] || kill "$(<"$scratch/volume/$file")" 2>/dev/null || true
    done
    wait
    buildah_ rm --all >/dev/null 2>&1 || true
    buildah_ rmi --all --force >/dev/null 2>&1 || true
    umount --lazy "$scratch/storage/overlay" 2>/dev/null || true
    rm -rf --one-file-system "$scratch"
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- a base, and the image
debian_root "$scratch/base" "$mirror" || skip "debootstrap cannot make a base here"
probe=$(buildah_ from scratch 2>"$scratch/said") || skip "buildah does not work here: $(tail -n 1 "$scratch/said")"
buildah_ add --quiet "$probe" "$scratch/base" / >"$scratch/said" 2>&1 || skip "buildah does not work here: $(tail -n 1 "$scratch/said")"
buildah_ run --isolation chroot "$probe" -- true 2>"$scratch/said" || skip "buildah cannot run here: $(tail -n 1 "$scratch/said")"
buildah_ commit --quiet --rm "$probe" localhost/debian:12 >/dev/null
rm -rf --one-file-system "$scratch/base"
mkdir "$scratch/context"
cp "$out"/papertape_*.deb "$out"/papertape-trainer_*.deb "$scratch/context"
built() {
    buildah_ build --isolation chroot --format docker --pull-never --build-arg BASE=localhost/debian:12 -f "$here/../../Containerfile" \
        -t papertape "$scratch/context" >"$scratch/log" 2>&1 && return
    tail -n 20 "$scratch/log"
    return 1
}
holds "the image is built" built
((faults == 0)) || exit 1

# of_image KEY... prints that of its configuration.
of_image() {
    buildah_ inspect --type image papertape | python3 -c '
import json, sys
value = json.load(sys.stdin)["Docker"]["config"]
for key in sys.argv[1:]:
    value = value[key]
print(value if isinstance(value, str) else json.dumps(value))' "$@"
}
holds "it is not root's" test "$(of_image User)" = papertape
holds "the state is a volume" test "$(of_image Volumes)" = '{"/var/lib/papertape": {}}'
holds "it has a health check" grep -q 'papertape status' <<<"$(of_image Healthcheck Test)"
buildah_ images --format '{{.Name}} {{.Size}}' | grep papertape || true

# --- it runs: a container for each program, on one volume, since two commands at once in one are buildah's own trouble
volume=$scratch/volume
install -d -m 0750 -o 10390 -g 10390 "$volume"
mkdir "$scratch/etc"
# inside CONTAINER COMMAND... as the image's user; its process is the command's.
inside() {
    buildah_ run --isolation chroot -v "$volume:/var/lib/papertape" -v "$scratch/etc:/etc/papertape" "$@"
}
# container prints a new one's name. Its own volume is taken from it: buildah would mount that and ours in either order.
container() {
    local made
    made=$(buildah_ from --pull-never papertape)
    buildah_ config --volume /var/lib/papertape- "$made"
    echo "$made"
}
client=$(container)
ask() {
    inside "$client" -- papertape "$@"
}
holds "the image's user, with no root's rights" test "$(inside "$client" -- id -u)" = 10390

# venue SEED starts one, and writes the configuration for it.
venue() {
    [[ -z ${venue-} ]] || kill "$(<"$volume/venue.pid")" || true
    venue=$(container)
    # shellcheck disable=SC2016 # the container's shell
    inside "$venue" -- sh -c 'echo $$ >/var/lib/papertape/venue.pid
        exec papertape-replay --synthetic "$1" --listen 127.0.0.1:0 --ca-out /var/lib/papertape/venue-ca.pem' sh "$1" >"$scratch/venue.log" 2>&1 &
    until_true 30 grep -q rest_url "$scratch/venue.log" || return 1
    python3 - "$scratch/venue.log" >"$scratch/etc/papertaped.ini" <<'END'
import json, sys
venue = next(json.loads(line) for line in open(sys.argv[1]) if line.startswith("{"))
print(f"""[market]
symbols = BTCUSDT
interval = 1s
history = 30
ws_url = {venue["ws_url"]}
rest_url = {venue["rest_url"]}
ca_file = /var/lib/papertape/venue-ca.pem
[account main]
cash = 100000
strategy = sma-cross
strategy.fast = 2
strategy.slow = 5
strategy.fraction = 0.2""")
END
}
# daemon starts one as the image says.
daemon() {
    local words
    mapfile -t words < <(printf '%s\n%s\n' "$(of_image Entrypoint)" "$(of_image Cmd)" | python3 -c '
import json, sys
for line in sys.stdin:
    print("\n".join(json.loads(line)))')
    inside "$(container)" -- "${words[@]}" >>"$scratch/daemon.log" 2>&1 &
    daemon=$!
}
stop_daemon() {
    kill -TERM "$(<"$volume/papertaped.lock")"
    wait "$daemon"
}
check=$(of_image Healthcheck Test | python3 -c 'import json, sys; print(json.load(sys.stdin)[1])')
healthy() {
    inside "$client" -- sh -c "$check" 2>/dev/null
}
unhealthy() {
    ! healthy
}
fills() {
    ask fills --csv 2>/dev/null | wc -l
}
more_fills_than() {
    (($(fills) > $1))
}
holds "the venue is up" venue 1
holds "unhealthy without the daemon" unhealthy
daemon
holds "healthy with it" until_true 30 healthy
# By hand: on a busy machine the synthetic market is late, and strategies leave late bars alone.
bought() {
    ask order buy BTCUSDT 0.01 >/dev/null 2>&1
}
holds "an order is taken" until_true 120 bought
holds "and filled" until_true 120 more_fills_than 1
n=$(fills)
holds "it ends with status 0" stop_daemon

# --- a second container on the same volume
holds "another venue" venue 2
daemon
holds "another container continues" until_true 30 healthy
holds "with every fill" more_fills_than $((n - 1))
holds "another order" until_true 120 bought
holds "and trades on" until_true 120 more_fills_than "$n"
holds "it ends with status 0 again" stop_daemon
holds "the ledger is sound" ask ledger verify
((faults == 0)) || tail -n 20 "$scratch/daemon.log"
exit $((faults > 0))

#!/bin/bash
# Shows that ./check passes on a clean Debian 12 after only the README's prerequisites: makes a minimal system in a
# folder (debootstrap), clones the commit that is checked out into it, runs ./check there without the sample data, and
# says how long each part took. Needs root, debootstrap, about 3 GB and the network; not part of ./check.
# usage: clean_debian.sh [--keep] [--shared DIR] [CHECK_ARGUMENT...]
#   --keep        leaves the folder, and names it
#   --shared DIR  shows the sample data to ./check, read-only
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."

prerequisites=(git ca-certificates)
# shellcheck source=tests/system/debian_root.sh
source tests/system/debian_root.sh

keep='' shared=''
while (($#)); do
    case "$1" in
    --keep) keep=1 ;;
    --shared)
        shared=$(readlink -e "$2")
        shift
        ;;
    *) break ;;
    esac
    shift
done

((EUID == 0)) || { echo "clean_debian: root is needed, for debootstrap and chroot" >&2 && exit 1; }
command -v debootstrap >/dev/null || { echo "clean_debian: debootstrap is needed: apt-get install debootstrap" >&2 && exit 1; }
mirror=$(debian_mirror) || {
    echo "clean_debian: /etc/apt has no source of bookworm: a line of sources.list, or a file in sources.list.d, is needed" >&2
    exit 1
}

root=$(mktemp -d "${TMPDIR:-/var/tmp}/papertape-clean.XXXXXX")
chmod 755 "$root"
finish() {
    if [[ -n $keep ]]; then
        echo "clean_debian: kept: $root"
    else
        rm -rf --one-file-system "$root"
    fi
}
trap finish EXIT
trap 'exit 130' INT TERM

lap() {
    echo "clean_debian: $1: $((SECONDS - since)) s"
    since=$SECONDS
}
since=$SECONDS

debian_root "$root" "$mirror" || exit 1
cp -L /etc/ssl/certs/ca-certificates.crt "$root/srv/trusted.crt"
git -c safe.directory='*' bundle create --quiet "$root/srv/papertape.bundle" HEAD
mkdir -p "$root/srv/shared"
lap "debootstrap"

# run SCRIPT ARGUMENT... runs it inside, in mount and process namespaces that end with it.
inside() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child bash -c '
        set -e
        root=$1 shared=$2 script=$3
        shift 3
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        if [[ -n $shared ]]; then
            mount --bind "$shared" "$root/srv/shared"
            mount -o remount,bind,ro "$root/srv/shared"
        else
            rmdir "$root/srv/shared" 2>/dev/null || true
        fi
        exec env -i HOME=/srv PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" CI=true \
            PIP_CERT=/srv/trusted.crt chroot "$root" /bin/bash -euo pipefail -c "$script" inside "$@"
    ' unshare "$root" "$shared" "$@"
}

inside '
    export DEBIAN_FRONTEND=noninteractive
    apt-get -q update
    apt-get -q -y install --no-install-recommends "$@"
    git clone -q /srv/papertape.bundle /srv/papertape
' "${prerequisites[@]}" </dev/null >"$root/srv/prerequisites.log" 2>&1 || {
    tail -n 20 "$root/srv/prerequisites.log" >&2
    exit 1
}
lap "prerequisites (${prerequisites[*]}) and git clone"

rc=0
inside 'cd /srv/papertape && ./check "$@"' "$@" </dev/null || rc=$?
lap "./check"
exit "$rc"

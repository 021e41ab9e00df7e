#!/bin/bash
# The source tarball is enough: what it unpacks to builds, and its unit tests pass.
# usage: tarball.sh BUILD OUT
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

"$here/make_debs.sh" "$1" "$2"
out=$(readlink -f "$2")
if ! compgen -G "$out/papertape-*.tar.gz" >/dev/null; then
    echo "packages/tarball: skipped: \$PAPERTAPE_DEBS has no papertape-VERSION.tar.gz"
    exit 77
fi
rm -rf "$out/tarball"
mkdir "$out/tarball"
tar -C "$out/tarball" -xf "$out"/papertape-*.tar.gz
cd "$out"/tarball/papertape-*/
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 PAPERTAPE_SOURCE=$PWD PAPERTAPE_BUILD=$PWD/build
step() {
    "$@" >"$out/tarball/log" 2>&1 && return
    tail -n 60 "$out/tarball/log"
    exit 1
}
step meson setup build -Dbuildtype=release -Dcuda=disabled
step ninja -C build
step meson test -C build --no-rebuild --print-errorlogs --timeout-multiplier 4 --suite unit
sed -n '/^Ok:/,/^Timeout:/p' "$out/tarball/log"

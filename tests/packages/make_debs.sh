#!/bin/bash
# Makes the source tarball of the commit that is checked out and, from nothing but that, Debian's packages of it: in OUT,
# once for each commit. Tests that need them call it; it prints nothing unless it fails, and ends with 77 and the reason
# where it cannot. $PAPERTAPE_DEBS is a folder that has them already.
# usage: make_debs.sh BUILD OUT
set -euo pipefail

build=$(readlink -f "$1") out=$(readlink -m "$2")
cd "$(dirname "$(readlink -f "$0")")/../.."
name=packages
# shellcheck source=tests/system/holds.sh
source tests/system/holds.sh
mkdir -p "$out"
exec 9>"$out/lock"
flock 9

if [[ -n ${PAPERTAPE_DEBS-} ]]; then
    cp "$PAPERTAPE_DEBS"/*.deb "$PAPERTAPE_DEBS"/*.changes "$PAPERTAPE_DEBS"/*.buildinfo "$out/"
    exit 0
fi
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
commit=$(git rev-parse HEAD 2>/dev/null) || skip "this is no clone: the tarball is made of a commit"
for package in dpkg-dev debhelper dh-python lintian; do
    dpkg-query -W "$package" >/dev/null 2>&1 || skip "package $package is not installed"
done
[[ -f $out/commit && $(<"$out/commit") == "$commit" ]] && exit 0

rm -rf "$out"/papertape* "$out"/lib* "$out"/python3* "$out/commit"
failed() {
    tail -n 40 "$out/log"
    echo "packages: $1 failed: all of it is in $out/log"
    exit 1
}
meson dist -C "$build" --no-tests --formats gztar --allow-dirty >"$out/log" 2>&1 || failed "meson dist"
mv "$build"/meson-dist/papertape-*.tar.gz* "$out/"
tar -C "$out" -xf "$out"/papertape-*.tar.gz
cd "$out"/papertape-*/
command -v ccache >/dev/null && export PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" dpkg-buildpackage -us -uc -b ${PAPERTAPE_PROFILES:+-P"$PAPERTAPE_PROFILES"} \
    >>"$out/log" 2>&1 || failed "dpkg-buildpackage"
echo "$commit" >"$out/commit"

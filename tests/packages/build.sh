#!/bin/bash
# Debian's packages of the commit that is checked out, from its source tarball: lintian has no error and no warning, every
# package has what its name says, and the libraries' own users build and run with them.
# usage: build.sh BUILD OUT
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/system/holds.sh
source "$here/../system/holds.sh"

build=$1 out=$2
"$here/make_debs.sh" "$build" "$out"
out=$(readlink -f "$out")
root=$(mktemp -d -t papertape-packages.XXXXXX)
trap 'rm -rf "$root"' EXIT

lintian_is_content() {
    local said
    said=$(lintian --allow-root --fail-on error,warning "$out"/papertape_*.changes 2>&1) && return
    echo "$said"
    return 1
}
holds "lintian" lintian_is_content

# of PACKAGE: is it there?
of() {
    compgen -G "$out/$1_*.deb" >/dev/null
}
for package in papertape papertape-trainer libpapertape-indicators0 libpapertape-env0 libpapertape-dev python3-papertape; do
    holds "$package" of "$package"
    mkdir "$root/$package"
    dpkg-deb -x "$out/${package}"_*.deb "$root/$package"
    dpkg-deb -x "$out/${package}"_*.deb "$root"
done
if command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]]; then
    [[ ${PAPERTAPE_PROFILES-} == *nogpu* || -n ${PAPERTAPE_DEBS-} ]] || holds "papertape-gpu" of papertape-gpu
else
    holds "no papertape-gpu, and why" grep -q 'papertape-gpu is not built: there is no nvcc' "$out/log"
fi

# dh_missing has seen that every installed file is in one; the trainer's own are beside papertape's.
holds "papertaped.service" test -f "$root/papertape/lib/systemd/system/papertaped.service"
holds "papertape-trainer.service" test -f "$root/papertape-trainer/lib/systemd/system/papertape-trainer.service"
holds "no file is in two packages" bash -c "
    for package in papertape papertape-trainer libpapertape-indicators0 libpapertape-env0 libpapertape-dev python3-papertape; do
        (cd '$root'/\$package && find . ! -type d)
    done | sort | uniq -d | (! grep .)"
holds "man page, completion and documents" bash -c "cd '$root' && test -f usr/share/man/man1/papertaped.1.gz -a \
    -f usr/share/bash-completion/completions/papertape.bash -a -f usr/share/doc/papertape/docs/backup.md -a \
    -f usr/share/doc/papertape/README.md"
holds "papertape-trainer-study@.service, a study's worker" test -f "$root/papertape-trainer/lib/systemd/system/papertape-trainer-study@.service"
# papertape_spark is pip's (docs/spark.md): what its library needs is on none of these packages' lists.
holds "nothing of papertape_spark" bash -c "! find '$root' -iname '*papertape*spark*' | grep ."
holds "the pages have the lake, studies on PostgreSQL and their worker's unit" bash -c "cd '$root/usr/share/man/man1' && \
    zgrep -q 'papertape export' papertape-record.1.gz && zgrep -q postgresql:// papertape-trainer.1.gz && \
    zgrep -q 'trainer.*study@' papertape-trainer.1.gz"
for timer in backup report; do
    holds "papertape-$timer, of instances too" test -f "$root/papertape/lib/systemd/system/papertape-$timer.timer" -a \
        -f "$root/papertape/lib/systemd/system/papertape-$timer@.timer" -a -f "$root/papertape/lib/systemd/system/papertape-$timer@.service"
done
holds "the documents' links lead somewhere" python3 "$here/links.py" "$root/usr/share/doc/papertape"
holds "no program knows the folder that it was built in" bash -c "! grep -rlF '$out' '$root/usr/bin' '$root/usr/lib' --include=papertape* --include=*.so*"

# The libraries' users.
lib=$(find "$root/usr/lib" -name pkgconfig -printf '%h\n')
export PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root LD_LIBRARY_PATH=$lib
cat >"$root/sma.c" <<'END'
#include <papertape/indicators.h>
#include <stdio.h>
int main(void)
{
    return printf("%d\n", (int)(indicator_find("sma") != NULL)) < 0;
}
END
builds_and_runs() {
    # shellcheck disable=SC2046 # options
    gcc -Wall -Werror -o "$root/sma" "$root/sma.c" $(pkg-config --cflags --libs papertape-indicators) && [[ $("$root/sma") == 1 ]]
}
holds "a program with libpapertape-dev" builds_and_runs
if [[ -n ${PAPERTAPE_VENV-} ]]; then
    steps() {
        PYTHONPATH=$root/usr/lib/python3/dist-packages "$PAPERTAPE_VENV/bin/python" -c '
import numpy as np
from papertape.env import Market, PapertapeVectorEnv
market = Market({"close": np.linspace(100.0, 110.0, 500), "volume": np.ones(500)}, names=["BTC"])
envs = PapertapeVectorEnv(market, num_envs=4, preset="reference")
envs.reset(seed=1)
assert envs.step(envs.action_space.sample())[1].shape == (4,)'
    }
    holds "python3-papertape steps" steps
fi
exit $((faults > 0))

# A minimal Debian 12 in a folder, for tests to source.
# shellcheck shell=bash

# debian_mirror prints where this machine's own package sources have bookworm: of deb822 files, else of the older lists.
debian_mirror() {
    local files=(/etc/apt/sources.list /etc/apt/sources.list.d/*)
    awk '/^URIs:/ { uri = $2 } /^Suites:/ && / bookworm( |$)/ { found = 1 } /^$/ { if (found && uri) exit; uri = found = "" }
        END { if (found && uri) print uri }' /etc/apt/sources.list.d/*.sources 2>/dev/null | grep . ||
        sed -nE 's/^deb +(\[[^]]*\] +)?([^ ]+) +bookworm .*/\2/p' "${files[@]}" 2>/dev/null | head -n 1 | grep .
}

# debian_root FOLDER MIRROR makes it, with how this machine reaches the network and nothing else of it.
debian_root() {
    debootstrap --variant=minbase bookworm "$1" "$2" >"$1.log" 2>&1 || {
        tail -n 5 "$1.log" >&2
        return 1
    }
    rm -f "$1.log"
    grep -lE 'Acquire|Proxy' /etc/apt/apt.conf /etc/apt/apt.conf.d/* 2>/dev/null |
        xargs -r cp -t "$1/etc/apt/apt.conf.d" 2>/dev/null || true
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    [[ -e /etc/apt/sources.list.d/debian.sources ]] &&
        cp /etc/apt/sources.list.d/debian.sources "$1/etc/apt/sources.list.d/" && : >"$1/etc/apt/sources.list"
    return 0
}

# What a test in shell says, for it to source: its checks, and why it is skipped, which begins with the test's `name`.
# shellcheck shell=bash

faults=0

skip() {
    # shellcheck disable=SC2154 # the test's
    echo "$name: skipped: $1"
    exit 77
}

# holds WHAT COMMAND... prints and counts.
holds() {
    local what=$1
    shift
    if "$@"; then
        echo "ok: $what"
    else
        echo "FAILED: $what"
        faults=$((faults + 1))
    fi
}

# until_true SECONDS COMMAND... polls.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

#!/bin/bash
# The units as built are such as systemd understands, the timers too, and the services expose little: systemd-analyze's figure
# of each is at most 1.6 (the daemon may lower its threads' priorities). Of each unit there is one for instances, which names
# the instance's state.
# usage: unit_security.sh UNIT...
set -euo pipefail

if ! command -v systemd-analyze >/dev/null; then
    echo "systemd/unit_security: skipped: systemd-analyze is not installed"
    exit 77
fi

faults=0
(($# > 0)) || faults=1
for unit in "$@"; do
    if [[ $unit == *@.* ]] && ! grep -q '%i' "$unit"; then
        echo "$unit names no instance"
        faults=1
    fi
    if [[ $unit != *@.* && ! -f ${unit%.*}@.${unit##*.} ]]; then
        echo "${unit%.*}@.${unit##*.} is not there"
        faults=1
    fi
    if [[ $unit == *.timer ]]; then
        report="timer $(basename "$unit")"
    elif ! report=$(systemd-analyze security --offline=yes --threshold=16 --no-pager "$unit" 2>&1); then
        echo "systemd-analyze security: $unit is too exposed, or not readable:"
        grep -v '^✓' <<<"$report" || true
        faults=1
    fi
    echo "${report##*$'\n'}"

    # Parsing alone: the programs that the unit starts are not installed yet.
    while IFS= read -r line; do
        case "$line" in
        *"is not executable"* | *"Command 'man "*) ;;
        *"$(basename "$unit")"*)
            echo "systemd-analyze verify: $line"
            faults=1
            ;;
        esac
    done < <(systemd-analyze verify --man=no "$unit" 2>&1)
done
exit "$faults"

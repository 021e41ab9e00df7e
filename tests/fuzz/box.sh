#!/bin/sh
# box.sh FUZZER CORPUS LONGEST [DICTIONARY]: fuzzes for PAPERTAPE_FUZZ_SECONDS (20), from the corpus on. What it finds
# in passing is deleted, but an input that fails is named and kept.
set -eu
seconds=${PAPERTAPE_FUZZ_SECONDS:-20}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/papertape-fuzz.XXXXXX")
status=0
mkdir "$scratch/found"
"$1" -max_total_time="$seconds" -max_len="$3" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    ${4:+-dict="$4"} -artifact_prefix="$scratch/" "$scratch/found" "$2" >"$scratch/log" 2>&1 || status=$?
if [ "$status" -ne 0 ]; then
    cat "$scratch/log"
    for found in "$scratch"/crash-* "$scratch"/timeout-* "$scratch"/oom-* "$scratch"/leak-*; do
        [ -e "$found" ] && echo "it fails again with: $1 FILE, where FILE is made by: base64 -d <<<$(base64 -w 0 "$found") >FILE"
    done
else
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/log")
    echo "counts: $runs inputs in $seconds s (PAPERTAPE_FUZZ_SECONDS), kernels: $KERNELS (--fuzz: all)"
fi
rm -r "$scratch"
[ "$status" -eq 0 ] # libFuzzer's own status of a crash, 77, would be a skipped test

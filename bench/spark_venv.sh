# Read by bench/spark and bench/scale from the source root: $build with PySpark and the peers of bench/spark in $venv, and
# set up for papertape_spark's library. One list for both, since pip's hundreds of megabytes are installed again for another.
# shellcheck shell=bash
venv=$build/spark-peers
if [[ ! -f $build/build.ninja ]]; then
    meson setup "$build" -Dbuildtype=release -Dcuda=disabled >&2
fi
wanted="$(cat tests/oracle/requirements-spark.txt; echo backtesting==0.6.6; echo backtrader==1.9.78.123)"
if [[ $wanted != "$(cat "$venv/requirements.txt" 2>&1)" ]]; then
    python3 -m venv --clear "$venv" >&2
    echo "$wanted" >"$venv/wanted.txt"
    "$venv/bin/pip" install -q -r "$venv/wanted.txt" >&2
    mv "$venv/wanted.txt" "$venv/requirements.txt"
fi
meson configure "$build" "-Dspark_python=$PWD/$venv/bin/python" >&2

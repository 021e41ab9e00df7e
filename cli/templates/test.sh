#!/bin/sh
# Tries the strategy: test.sh STRATEGY. Does it look ahead, how much history does it need, does it trade? On bars that
# are made here, the same ones each time; give files of your own with BARS=FILE. CUTS=N: places that are tried.
set -eu
strategy=$1
papertape=${PAPERTAPE:-papertape}
mkdir -p test
if [ -z "${BARS:-}" ]; then
    BARS=test/BTCUSDT_5m.csv
    awk 'BEGIN {
        x = 20240101; price = 42000; print "open_time,open,high,low,close,volume"
        for (i = 0; i < 6000; i++) {
            x = x * 16807 % 2147483647; a = x / 2147483647 - 0.5
            x = x * 16807 % 2147483647; b = x / 2147483647
            close_ = price * (1 + 0.01 * a + 0.001 * sin(i / 150)); top = price > close_ ? price : close_; low = price + close_ - top
            printf "%.0f,%.2f,%.2f,%.2f,%.2f,%.3f\n", 1704067200000 + i * 300000, price, top + 20 * b, low - 20 * b, close_, 1 + 9 * b
            price = sprintf("%.2f", close_) + 0
        }
    }' >$BARS
fi
"$papertape" lookahead --strategy "$strategy" --bars "$BARS" --cuts "${CUTS:-32}" --no-cache
"$papertape" warmup --strategy "$strategy" --bars "$BARS" --no-cache
"$papertape" backtest --strategy "$strategy" --bars "$BARS" --no-cache --trades test/trades.csv
if [ "$(wc -l <test/trades.csv)" -lt 2 ]; then
    echo "test.sh: $strategy did not trade: other parameters, or BARS=FILE, would show more" >&2
    exit 1
fi
echo "test.sh: $strategy passes"

/* The symbol and interval in the name of a file of bars or trades. */
#ifndef EXCHANGE_BARS_NAME_H
#define EXCHANGE_BARS_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "exchange/symbol.h"

struct bars_name {
    char symbol[SYMBOL_NAME_MAX]; /* in upper case */
    int64_t interval_ns;          /* as bar_interval_parse_any() reads it; 0: the name has no interval */
    bool trades;                  /* an archive of trades or of books, by its name */
};

/* Reads a path's last component as archives and programs name their files:
 *   BTCUSDT_5m.csv.gz, BTCUSDT.csv, SPY_1d-raw.csv      symbol first
 *   BTCUSDT-5m-2025-04.csv, BTCUSD_PERP-1h-2025-04.csv  a venue's archive
 *   BTC_USDT-5m.json, BTC_USDT_USDT-5m-futures.json     freqtrade: a quote asset behind a `_` is part of it
 *   Kraken_BTCUSDT_1h.csv, kraken-BTCUSDT-5m.csv        behind a venue's name, or a word that is no pair
 *   BTC-USD.csv, BRK-B_1d.csv, BRK.B_1d.csv             a quote asset or a class of shares stays behind its
 *                                                       `-` or `.`
 * 0 with *ret; -EINVAL where no symbol is in it or it is too long, with what was found of it in ret->symbol,
 * cut to fit. */
int bars_name_parse(const char *path, struct bars_name *ret);

#endif

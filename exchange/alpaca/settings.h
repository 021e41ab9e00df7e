/* The options of [venue alpaca], with their fallbacks. */
#ifndef EXCHANGE_ALPACA_SETTINGS_H
#define EXCHANGE_ALPACA_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange/venue.h"

#define ALPACA_WS_URL      "wss://stream.data.alpaca.markets"
#define ALPACA_REST_URL    "https://data.alpaca.markets"
#define ALPACA_TRADING_URL "https://paper-api.alpaca.markets"

enum { ALPACA_OPTIONS = 4 };

extern const struct venue_option alpaca_options[ALPACA_OPTIONS];

struct alpaca_settings {
    const char *feed;        /* "iex", "sip", "delayed_sip", "test" */
    const char *crypto;      /* "us", "us-1", "eu-1" */
    bool packed;             /* msgpack */
    const char *trading_url; /* "": beside rest_url, or ALPACA_TRADING_URL where that is the venue's own */
};

/* Pointers are those of the list, or of the fallbacks. */
struct alpaca_settings alpaca_settings(const struct venue_setting *list, size_t n);

#endif

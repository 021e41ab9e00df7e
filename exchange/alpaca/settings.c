#include "exchange/alpaca/settings.h"

#include <string.h>

enum { FEED, CRYPTO, ENCODING, TRADING_URL };

const struct venue_option alpaca_options[ALPACA_OPTIONS] = {
    [FEED] =
        {"feed", "iex", "iex sip delayed_sip test",
         "of stocks: one exchange, free; all of them; all of them, 15 minutes late; FAKEPACA day and night"},
    [CRYPTO] = {"crypto", "us", "us us-1 eu-1", "whose crypto: Alpaca's, Kraken's in the US or in Europe"},
    [ENCODING] = {"encoding", "msgpack", "msgpack json", "of the streams"},
    [TRADING_URL] =
        {"trading_url", "", NULL,
         "where clock, calendar and assets are asked for; empty: where rest_url is, else the paper API"},
};

static const char *value(const struct venue_setting *list, size_t n, int option)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, alpaca_options[option].name) == 0)
            return list[i].value;
    return alpaca_options[option].fallback;
}

struct alpaca_settings alpaca_settings(const struct venue_setting *list, size_t n)
{
    return (struct alpaca_settings){
        .feed = value(list, n, FEED),
        .crypto = value(list, n, CRYPTO),
        .packed = strcmp(value(list, n, ENCODING), "msgpack") == 0,
        .trading_url = value(list, n, TRADING_URL),
    };
}

/* Binance's keyless REST: time, exchangeInfo, klines, depth. See exchange/venue.h for the calls' contracts.
 *
 * The venue counts weight per minute and tells it in each reply: near the limit (from exchangeInfo) requests
 * wait for the next minute. On 429 and 418 everything waits as long as Retry-After says. Replies of 5xx and
 * broken connections are tried again with backoff, a bounded number of times: all requests only read. */
#ifndef EXCHANGE_BINANCE_REST_H
#define EXCHANGE_BINANCE_REST_H

#include "exchange/binance/variant.h"
#include "exchange/venue.h"

enum {
    BINANCE_KLINES_MAX = 1000, /* a page */
    BINANCE_DEPTH_LIMIT = 5000,
    BINANCE_WEIGHT_LIMIT_DEFAULT = 6000, /* a minute, until exchangeInfo says */
};

struct binance_rest;
struct binance_call;

int binance_rest_create(const struct binance_variant *variant, const struct venue_rest_config *config,
                        struct binance_rest **ret);
void binance_rest_destroy(struct binance_rest *rest);
int binance_rest_time(struct binance_rest *rest, venue_reply_done *done, void *user,
                      struct binance_call **ret);

/* Asks for the names alone first; when the venue knows one of them not, for its whole list, to name the
 * nearest. Names that are not listed are no error: see struct venue_symbol. */
int binance_rest_symbols(struct binance_rest *rest, const char *const *names, size_t n,
                         venue_reply_done *done, void *user, struct binance_call **ret);
int binance_rest_bars(struct binance_rest *rest, const struct venue_bars_request *request,
                      venue_reply_done *done, void *user, struct binance_call **ret);
int binance_rest_book(struct binance_rest *rest, const struct symbol *symbol, venue_reply_done *done,
                      void *user, struct binance_call **ret);
void binance_rest_hold(struct binance_rest *rest, int64_t until_ns, const char *why);
void binance_rest_cancel(struct binance_rest *rest, struct binance_call *call);
const struct venue_rest_status *binance_rest_status(const struct binance_rest *rest);

#endif

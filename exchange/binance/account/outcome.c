#include "exchange/binance/account/outcome.h"

#include <string.h>

#include "exchange/net/link.h"

/* Longer waits are for what is more serious. */
enum {
    FIREWALL_MS = 60 * 1000, /* 403 */
    ORDERS_MS = 10 * 1000,   /* the shortest interval of the limit of orders */
};

enum {
    HTTP_OTHER_KEY = 401,
    HTTP_FIREWALL = 403,
    HTTP_BANNED = 418,
    HTTP_LIMITED = 429,
};

/* Of https://github.com/binance/binance-spot-api-docs, errors.md. */
static const struct {
    int code;
    enum venue_outcome outcome;
} codes[] = {
    {-1000, VENUE_UNKNOWN}, /* an unknown error */
    {-1001, VENUE_UNKNOWN}, /* an internal error */
    {-1002, VENUE_DENIED},
    {BINANCE_CODE_TOO_MANY_REQUESTS, VENUE_NOT_SENT},
    {-1006, VENUE_UNKNOWN}, /* execution status unknown */
    {-1007, VENUE_UNKNOWN}, /* a timeout: likewise */
    {-1008, VENUE_UNKNOWN}, /* overloaded: it does not say that nothing was done */
    {-1010, VENUE_REFUSED}, /* the matching engine's words */
    {-1013, VENUE_REFUSED}, /* it did not reach the matching engine */
    {-1014, VENUE_REFUSED},
    {BINANCE_CODE_TOO_MANY_ORDERS, VENUE_NOT_SENT},
    {-1020, VENUE_REFUSED},
    {BINANCE_CODE_BAD_TIMESTAMP,
     VENUE_BAD_TIMESTAMP}, /* by its gateway or before its engine: not in the book */
    {BINANCE_CODE_BAD_SIGNATURE, VENUE_REFUSED},
    {-2010, VENUE_REFUSED},
    {-2011, VENUE_REFUSED},
    {-2013, VENUE_REFUSED},
    {-2014, VENUE_DENIED},
    {-2015, VENUE_DENIED},
    {-2016, VENUE_REFUSED},
    {-2026, VENUE_REFUSED}, /* archived: ended without a fill, long ago */
    {-2039, VENUE_REFUSED},
};

/* Of the request's form: nothing was done. */
static bool is_of_form(int64_t code)
{
    return code <= -1100 && code >= -1299;
}

static bool begins(struct json_text text, const char *with)
{
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.data, with, len) == 0;
}

static enum venue_outcome of_code(enum account_ask kind, const struct binance_refusal *refusal)
{
    const int64_t code = refusal->code;
    if ((code == -2010 || code == -1010) && kind == ACCOUNT_PLACE && begins(refusal->msg, "Duplicate order"))
        return VENUE_EXISTS;
    if ((code == -2013 && kind == ACCOUNT_QUERY) || (code == -2011 && kind == ACCOUNT_CANCEL))
        return VENUE_ABSENT;
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (codes[i].code == code)
            return codes[i].outcome;
    return is_of_form(code) ? VENUE_REFUSED : VENUE_UNKNOWN;
}

enum venue_outcome binance_outcome(enum account_ask kind, const struct binance_refusal *refusal)
{
    const int status = refusal->status;
    if (status < 400 || status >= 500) /* 5xx; a redirect; nonsense */
        return VENUE_UNKNOWN;
    enum venue_outcome outcome = refusal->code != 0 ? of_code(kind, refusal) : VENUE_UNKNOWN;
    if (refusal->code != 0 && outcome == VENUE_UNKNOWN)
        return VENUE_UNKNOWN; /* its own words are more than the status */
    if (status == HTTP_LIMITED || status == HTTP_BANNED)
        return VENUE_NOT_SENT;
    if (status == HTTP_OTHER_KEY)
        return VENUE_DENIED;
    if (status == HTTP_FIREWALL && refusal->code == 0)
        return VENUE_NOT_SENT;
    return outcome;
}

bool binance_refusal_of_address(const struct binance_refusal *refusal)
{
    return refusal->code == BINANCE_CODE_TOO_MANY_REQUESTS || refusal->status == HTTP_BANNED ||
           (refusal->status == HTTP_LIMITED && refusal->code != BINANCE_CODE_TOO_MANY_ORDERS);
}

int64_t binance_refusal_wait_ms(const struct binance_refusal *refusal)
{
    if (refusal->status == HTTP_BANNED)
        return net_link_wait_ms(LINK_BANNED, -1);
    if (refusal->code == BINANCE_CODE_TOO_MANY_ORDERS)
        return ORDERS_MS;
    return refusal->status == HTTP_FIREWALL ? FIREWALL_MS : net_link_wait_ms(LINK_LIMITED, -1);
}

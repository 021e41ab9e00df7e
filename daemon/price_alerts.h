/* Prices that are waited for. Pure: prices are passed in, the caller stores the list and raises the
 * alerts. An alert is of one symbol, by its name, and of one direction; it is taken out once its price, or
 * one beyond it, was traded. Checking a trade costs two comparisons of integers, whatever their number. */
#ifndef DAEMON_PRICE_ALERTS_H
#define DAEMON_PRICE_ALERTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "exchange/symbol.h"

enum {
    PRICE_ALERTS_MAX = 256,
    PRICE_ALERTS_BYTES_MAX = 64 << 10 /* of daemon_price_alerts_json() as text */
};

struct price_alert {
    uint64_t id;
    int64_t created_ns; /* by the session's clock */
    char symbol[SYMBOL_NAME_MAX];
    bool above;    /* at the price or above it; else at it or below */
    int64_t price; /* above 0, at `scale` */
    int scale;
};

struct price_bounds;

/* {0} is empty. */
struct price_alerts {
    struct price_alert list[PRICE_ALERTS_MAX]; /* oldest first */
    int n;
    uint64_t last_id;
    struct price_bounds *bounds; /* by the engine's index, SYMBOLS_MAX; NULL: until one is added */
};

void daemon_price_alerts_finish(struct price_alerts *alerts);

/* Would one be added? 0; -EEXIST and the id of the one that is the same; -ENOSPC beyond PRICE_ALERTS_MAX. */
int daemon_price_alerts_room(const struct price_alerts *alerts, const struct price_alert *alert,
                             uint64_t *ret_same);

/* Adds one; its id is given here, and no other ever has it. 0 and *ret_id; -ENOMEM; as above. */
int daemon_price_alerts_add(struct price_alerts *alerts, const struct price_alert *alert, uint64_t *ret_id);

/* NULL: there is none with that id. Valid until the next call. */
const struct price_alert *daemon_price_alerts_find(const struct price_alerts *alerts, uint64_t id);

int daemon_price_alerts_count(const struct price_alerts *alerts, const char *symbol);

/* 0 or -ENOENT. */
int daemon_price_alerts_remove(struct price_alerts *alerts, uint64_t id, struct price_alert *ret);

/* As they were before the last change. */
void daemon_price_alerts_undo(struct price_alerts *alerts, const struct price_alerts *before);

/* Is there one of the symbol, which the engine has at that index, that prices from `low` to `high` reach? At
 * its price_scale. */
bool daemon_price_alerts_reached(struct price_alerts *alerts, int index, const struct symbol *symbol,
                                 int64_t low, int64_t high);

/* Takes out the oldest of these that was created at `until_ns` or before. False: there is none. */
bool daemon_price_alerts_take(struct price_alerts *alerts, const struct symbol *symbol, int64_t low,
                              int64_t high, int64_t until_ns, struct price_alert *ret);

/* A symbol has another name from now on. False: there was none of it. */
bool daemon_price_alerts_rename(struct price_alerts *alerts, const char *from, const char *to);

/* `shares` new ones for every `per` old ones: the prices of the symbol follow, to the nearest unit (ties up),
 * at least one; as they are where they would not fit. False: there was none of it. */
bool daemon_price_alerts_split(struct price_alerts *alerts, const char *symbol, int64_t shares, int64_t per);

const char *daemon_price_alert_side(bool above); /* "above", "below" */

/* {"price_alert":3,"symbol":"BTCUSDT","side":"above","price":"65000.00","created_ns":…}; NULL without memory.
 */
json_t *daemon_price_alert_json(const struct price_alert *alert);

/* The whole, to be stored: {"last":3,"alerts":[…]}; NULL without memory. */
json_t *daemon_price_alerts_json(const struct price_alerts *alerts);

/* The same back, into an empty list. 0; -EBADMSG: it is not one, and nothing is changed; -ENOMEM. */
int daemon_price_alerts_read(struct price_alerts *alerts, const char *text);

#endif

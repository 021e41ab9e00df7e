/* Orders and accounts of Binance: its signed REST, and the same calls on its WebSocket API. */
#ifndef EXCHANGE_REPLAY_BINANCE_ORDERS_H
#define EXCHANGE_REPLAY_BINANCE_ORDERS_H

#include "exchange/replay/binance/order_counts.h"
#include "exchange/replay/broker/broker.h"
#include "exchange/replay/broker/faults.h"
#include "exchange/replay/broker/in_flight.h"
#include "exchange/replay/broker/keys.h"
#include "exchange/replay/protocol.h"
#include "exchange/replay/source.h"

struct limits;
struct binance_session; /* a connection to the WebSocket API: see session.h */

/* What an amendment of an order changed: PUT order/amend/keepPriority. */
struct order_amendment {
    int account;
    int64_t order_id, execution, time_ns;
    int64_t qty_before, qty; /* of scale 8 */
    char id_before[BROKER_CLIENT_ID_MAX], id[BROKER_CLIENT_ID_MAX];
};

struct order_amendments {
    struct order_amendment *all; /* the oldest first */
    size_t n, cap;
};

struct binance_orders {
    struct replay_source *source;
    struct broker *broker;
    struct replay_keys keys;
    struct binance_session *sessions;
    int64_t executions; /* events so far */
    uint64_t ids;       /* client ids made so far */
    const struct faults *faults;
    struct limits *limits; /* of the address, REST's too */

    struct order_count counts[BROKER_ACCOUNTS_MAX][ORDER_WINDOWS];
    struct broker_faults order_faults;
    struct order_amendments amendments;

    struct symbol *listed; /* of the tape's symbols, as `n_listed` and `n_changed` were */
    int n_listed;
    size_t n_changed;
};

/* Parameters of a call: of the query, the body, or a message's. */
enum { PARAMS_MAX = 48 };
struct order_params {
    const char *names[PARAMS_MAX], *values[PARAMS_MAX];
    int n, n_query; /* the first of them are the query's, which win */
};

/* The first of that name; NULL: not sent. */
const char *replay_params_get(const struct order_params *params, const char *name);

/* How times are written: in that unit, of a clock that is so far ahead. */
struct order_clock {
    int64_t unit_ns, skew_ns;
};

static inline int64_t order_clock_time(const struct order_clock *clock, int64_t ns)
{
    return (ns + clock->skew_ns) / clock->unit_ns;
}

/* "MICROSECOND" in either case, else milliseconds; NULL is fine. */
struct order_clock replay_orders_clock(const struct binance_orders *orders, const char *unit);

/* Who calls, found by replay_orders_admit(), and how times are written to him. */
struct order_caller {
    const struct replay_key *key; /* NULL: no key is checked */
    int account;
    struct order_clock clock;
};

/* What goes with an answer beside its body. */
struct order_outcome {
    int weight;      /* that the venue charges */
    bool counted;    /* the account's counts of orders belong to it */
    int account;     /* the caller's, once it is admitted */
    int64_t wait_ns; /* of the venue's clock, with -1015; else 0 */
};

int replay_orders_init(struct binance_orders *orders, struct replay_source *source, const char *keys_file,
                       const struct faults *faults, struct limits *limits,
                       char error[static PROTOCOL_ERROR_MAX]);
void replay_orders_finish(struct binance_orders *orders);
void replay_orders_wipe(struct binance_orders *orders); /* as replay_broker_wipe() */

/* Is it a path of these; with that method? */
bool replay_orders_serves(const char *path);
bool replay_orders_has(const char *method, const char *path);

/* Answers a REST request; returns the HTTP status. */
int replay_orders_answer(struct binance_orders *orders, const struct replay_request *request,
                         const char *api_key, struct text *body, struct order_outcome *ret);

/* Checks key, time and signature of `payload`, which was signed (NULL: the session has, when it began). 0; or
 * the HTTP status of the refusal, whose body is written. `changes`: it is an order, which takes a key that
 * may trade. */
int replay_orders_admit(struct binance_orders *orders, const struct order_params *params, const char *api_key,
                        const char *payload, size_t len, bool changes, struct text *body,
                        struct order_caller *ret);

/* Does what a path and a method name, for a caller that was admitted. -1: there is no such call. */
int replay_orders_call(struct binance_orders *orders, const char *method, const char *path,
                       const struct order_params *params, const struct order_caller *caller,
                       struct text *body, struct order_outcome *ret);
/* Does that call change anything? */
bool replay_orders_changes(const char *method, const char *path);

/* An order's parts, as answers and events have them: "NEW", "LIMIT", "GTC". */
const char *replay_orders_state(const struct broker_order *order);
const char *replay_orders_type(const struct broker_terms *terms);
bool replay_orders_symbol(struct binance_orders *orders, int symbol, struct symbol *ret);

/* "free":"…","locked":"…" under the two names. */
void replay_orders_balance(struct text *out, const struct broker_balance *balance, const char *asset,
                           const char *free_name, const char *locked_name);

#endif

/* The venue's side of orders: accounts, balances, resting orders, and fills against the book that is played.
 *
 * Prices and quantities are of one scale, the venue's and its ladders', amounts of assets of twice that, so
 * that no product is ever rounded. Orders of all accounts share one book. What is taken of a level stays
 * taken while the played book shows the same quantity at its price; a level that changed is whole again.
 *
 * An order that meets the other side takes level by level. What rests is filled at its own price by the
 * trades that are played: wholly by one through its price, and by those at its price once they have traded
 * what was in front of it when it came. A stop is triggered by the last trade.
 *
 * Latency and slippage may be planted (struct broker_planted). An order that is on its way is open and in no
 * book: it meets the book that shows at its time. What the account cannot pay for then, or a post-only order
 * that would take, expires. What a stop triggers takes at once.
 *
 * A held order is open, in no book, and waits for its release (the legs of a bracket, an auction's orders).
 *
 * Commission is a share of what is received, in that asset, the digits beyond the scale cut off. */
#ifndef EXCHANGE_REPLAY_BROKER_BROKER_H
#define EXCHANGE_REPLAY_BROKER_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"
#include "exchange/order.h"
#include "exchange/replay/source.h"
#include "exchange/symbol.h"

enum {
    BROKER_ACCOUNTS_MAX = 64,
    BROKER_ASSETS_MAX = 512, /* of an account */
    BROKER_KEY_MAX = 80,
    BROKER_CLIENT_ID_MAX = 129,
};

enum broker_state {
    BROKER_NEW,
    BROKER_PARTIAL,
    BROKER_FILLED,
    BROKER_CANCELED,
    BROKER_EXPIRED, /* ended here: what had to be filled at once, could not be paid for, or must not take; the
                     * other order of a pair; the end of a day */
};

enum broker_refusal {
    BROKER_TAKEN = 0, /* accepted */
    BROKER_POOR,      /* the balance does not suffice */
    BROKER_CROSSES,   /* post-only, and it would take */
    BROKER_TRIGGERS,  /* a stop whose price is reached already */
    BROKER_EMPTY,     /* there is no book to trade with */
    BROKER_DRY,       /* of `quote`: its other side is empty */
    BROKER_SMALL,     /* of `quote`: it buys or sells nothing */
    BROKER_TWICE,     /* an open order of the account has its client id */
    BROKER_MEMORY,
};

/* How far a stop stays behind the best price since it follows the market: by a share of that, as Binance's
 * trailingDelta and Alpaca's trail_percent, or by an amount, as Alpaca's trail_price. Both 0: it stays where
 * it is. */
struct broker_trail {
    int32_t share_e6; /* 10000 is 1 % */
    int64_t amount;
    int64_t best; /* it follows at once, from this price on; 0: from `stop` on, or from the next trade */
};

static inline bool broker_trails(const struct broker_trail *trail)
{
    return trail->share_e6 > 0 || trail->amount > 0;
}

/* More than any order costs: it locks nothing itself. */
#define BROKER_COVERED ((int128_t)INT64_MAX * INT64_MAX)

struct broker_terms {
    int account, symbol;
    char client_id[BROKER_CLIENT_ID_MAX];
    enum order_side side;
    enum order_type type; /* MARKET, LIMIT, and the four of stops and profits */
    enum order_tif tif;   /* GTC, IOC, FOK */
    bool post_only;
    bool held; /* until replay_broker_release() */
    int64_t qty, price, stop;
    int64_t quote;   /* MARKET: what is spent or received instead of a quantity; 0: `qty` is given */
    int64_t iceberg; /* how much of it shows at a time; 0: all of it */
    struct broker_trail trail;
    int64_t list;     /* the order list that it is of; 0: none */
    int128_t covered; /* of what it costs: what another order of the account locks for both */
};

/* Does it wait for a price? */
static inline bool broker_has_stop(const struct broker_terms *terms)
{
    return terms->stop != 0 || broker_trails(&terms->trail);
}

struct broker_order {
    struct broker_terms terms;
    int64_t id, time_ns, updated_ns;
    int64_t working_ns; /* when it came to the book, or the market; 0: not yet */
    enum broker_state state;
    bool waits;                           /* for its stop */
    int64_t arrives_ns;                   /* on its way, or held (INT64_MAX), until then; else 0 */
    bool short_of;                        /* of `quote`: the book has less */
    char cancel_id[BROKER_CLIENT_ID_MAX]; /* of a cancelled one: the cancel's own */
    bool amended;                         /* while its change is reported */
    int64_t filled;                       /* of terms.qty, which for `quote` is what was filled */
    int128_t quote;                       /* of twice the scale */
    int64_t queue_ahead;                  /* at its price, when it came to rest, and not traded yet */
    int64_t shown;                        /* of an iceberg's part that shows: what is left of it */
    int64_t trail_best, trail_ns;         /* since it follows the market, and since when; 0: not yet */
    int amends;                           /* how often its quantity was lowered */
    int128_t locked;                      /* of the account's asset that it would pay with */
};

struct broker_fill {
    int64_t id, order_id, time_ns;
    int64_t price, qty, commission; /* of the scale */
    bool maker;
    int account, symbol;
};

struct broker_balance {
    char asset[ASSET_NAME_MAX];
    int128_t free, locked;
};

struct broker_account {
    char key[BROKER_KEY_MAX]; /* the API key whose orders these are */
    int64_t created_ns, updated_ns;
    struct broker_balance balances[BROKER_ASSETS_MAX];
    size_t n_balances;
};

struct broker;

struct broker_planted {
    int64_t latency_ns;  /* of market time, from receipt to the book */
    int32_t slippage_e6; /* a taker's price: as fill_slipped(), by the symbol's tick and the order's limit */
};

struct broker_calls {
    /* The listing of a played symbol. False: there is none of that number. */
    bool (*symbol)(void *user, int symbol, struct symbol *ret);
    /* Its book now. False: it is not known. */
    bool (*book)(void *user, int symbol, struct source_book *ret);
    int64_t (*now_ns)(void *user);
    int (*fee_e6)(void *user, int symbol, bool maker); /* of what is received */
    struct broker_planted (*planted)(void *user);
    /* An order has changed; `fill`: what filled it, or NULL. */
    void (*changed)(void *user, const struct broker_order *order, const struct broker_fill *fill);
    void *user;
    int scale; /* of prices and quantities: 8, or 9 */
};

/* NULL when memory is out. */
struct broker *replay_broker_create(const struct broker_calls *calls);
void replay_broker_destroy(struct broker *broker); /* NULL is fine */

/* What accounts begin with, of the scale: of each quote asset, and of each base asset of so many played
 * symbols. */
struct broker_funds {
    int symbols;
    int64_t quote, base;
};

/* The account of a key, made when there is none. -1: there are too many. */
int replay_broker_account(struct broker *broker, const char *key, const struct broker_funds *funds);
const struct broker_account *replay_broker_account_of(const struct broker *broker, int account);
/* NULL: it has none of that asset, and never had. */
const struct broker_balance *replay_broker_balance(const struct broker_account *account, const char *asset);

/* *ret (if accepted, and until the next order is placed) is the order as it is after what it took at once:
 * nothing where there is a latency. */
enum broker_refusal replay_broker_place(struct broker *broker, const struct broker_terms *terms,
                                        const struct broker_order **ret);

/* Would it be accepted now? In the place of `old`, an open order of the same side and symbol, or of none. */
enum broker_refusal replay_broker_check(struct broker *broker, const struct broker_terms *terms,
                                        const struct broker_order *old);

/* NULL: there is none, or it has ended. */
const struct broker_order *replay_broker_expire(struct broker *broker, int account, int64_t id);
const struct broker_order *replay_broker_cancel(struct broker *broker, int account, int64_t id,
                                                const char *cancel_id);

/* Lowers the quantity, and keeps its place in the queue. NULL: there is no such open order, or `qty` is not
 * above what is filled and below what it is. */
const struct broker_order *replay_broker_reduce(struct broker *broker, int account, int64_t id, int64_t qty,
                                                const char *client_id);

/* A held order meets the book, or waits for its stop. `reserves`: in its own name; else it is covered. It
 * expires if the account has less than it costs. NULL: there is no such held order. */
const struct broker_order *replay_broker_release(struct broker *broker, int account, int64_t id,
                                                 bool reserves);

/* Fills in parts: of `qty` that could be filled now, `part` returns how much is; a taker's rest meets the
 * book `again_ns` of market time later, what rests waits for the next trade. Amounts (`quote`) and FOK are
 * filled whole. NULL: all orders are. */
typedef int64_t broker_part(void *user, const struct broker_order *order, int64_t qty);
void replay_broker_fill_in_parts(struct broker *broker, broker_part *part, int64_t again_ns);

/* By its number, or by its client id: the open one, else the latest. NULL: the account has no such order of
 * the symbol. */
const struct broker_order *replay_broker_find(const struct broker *broker, int account, int symbol,
                                              int64_t id, const char *client_id);

/* All of them, the oldest first. */
const struct broker_order *replay_broker_orders(const struct broker *broker, size_t *ret_n);
const struct broker_fill *replay_broker_fills(const struct broker *broker, size_t *ret_n);

/* No order and no fill is left, and the accounts begin again, as a testnet's now and then. */
void replay_broker_wipe(struct broker *broker);

static inline bool broker_is_open(const struct broker_order *order)
{
    return order->state <= BROKER_PARTIAL;
}

/* When the next order that is on its way meets the book; INT64_MAX: there is none. */
int64_t replay_broker_due(const struct broker *broker);
/* Those that are due by then meet it now, one after the other; now_ns() is that time. */
void replay_broker_arrive(struct broker *broker, int64_t until_ns);

/* Forgets the open orders that have ended, and does what follows for order lists: the functions above have
 * done so, replay_broker_place_list() has not. */
void replay_broker_settle(struct broker *broker);

/* A trade is played. */
void replay_broker_trade(struct broker *broker, int symbol, int64_t price, int64_t qty, bool buyer_maker);

#endif

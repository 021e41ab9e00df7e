/* A client's account at a venue, behind one table: its orders, fills and balances, asked for by signed
 * requests and pushed as user data. struct venue has the table; a venue without one takes no orders here.
 *
 * Only accounts of simulated money are opened: venue_account_host() refuses every host that is not on the
 * venue's list of paper hosts and not loopback. Redirects are not followed.
 *
 * An account neither decides nor repeats anything that may have had an effect: it reports what is known of
 * the outcome of each request, and the caller (daemon/execution/) decides. */
#ifndef EXCHANGE_VENUE_ACCOUNT_H
#define EXCHANGE_VENUE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/json.h"
#include "exchange/order.h"
#include "exchange/symbol.h"
#include "exchange/venue.h"

enum {
    VENUE_CLIENT_ID_MAX = 129, /* of orders from elsewhere; ours have at most 36 characters */
    VENUE_ORDER_ID_MAX = 40,   /* decimal, or a UUID */
    VENUE_TRADE_ID_MAX = 80,
    VENUE_BALANCE_SCALE = 8, /* of an asset that no symbol of the caller's has */
    VENUE_TIMEOUT_MS = 10 * 1000,
};

/* The caller's, whose orders and fills are read; one without a name is not there yet. */
struct venue_symbols {
    const struct symbol *list;
    size_t n;
};

enum venue_order_state {
    VENUE_ORDER_NEW, /* at the venue, whether it rests, waits for its stop, or for the market's opening */
    VENUE_ORDER_PARTIAL,
    VENUE_ORDER_FILLED,
    VENUE_ORDER_CANCELED, /* also one that another replaced */
    VENUE_ORDER_REJECTED,
    VENUE_ORDER_EXPIRED,
    VENUE_ORDER_STATES,
};

/* An order as the venue has it, by an answer or as user data. */
struct venue_order {
    char client_id[VENUE_CLIENT_ID_MAX]; /* of the order itself, also in the event of its cancel */
    char id[VENUE_ORDER_ID_MAX];         /* the venue's */
    char name[SYMBOL_NAME_MAX];          /* of its symbol */
    const struct symbol *symbol;         /* the config's; NULL: none of them, then there are no numbers */
    enum venue_order_state state;
    enum order_side side;
    enum order_type type;      /* ORDER_TYPES: one that we do not have */
    enum order_tif tif;        /* ORDER_TIFS: likewise */
    int64_t qty, filled;       /* qty_scale */
    int64_t price, stop_price; /* price_scale; 0 where it has none */
    int64_t ts_ns;             /* the venue's time of the event or of the order's last change; 0: not said */
    char reason[VENUE_DETAIL_MAX]; /* of REJECTED, EXPIRED; "" where it says none */
};

/* A fill of an order. Within an order fills ascend by `cumulative`. */
struct venue_fill {
    char client_id[VENUE_CLIENT_ID_MAX]; /* "" where the answer has only the id */
    char order_id[VENUE_ORDER_ID_MAX];
    char trade_id[VENUE_TRADE_ID_MAX];
    const struct symbol *symbol; /* not NULL: fills of other symbols are left out */
    enum order_side side;
    int64_t price, qty; /* price_scale, qty_scale */
    int64_t cumulative; /* quantity of the order that is filled with this one */
    int64_t notional;   /* quote_scale, as the venue books it; -1: not said */
    bool fee_said;      /* false: the venue takes fees that only the balances show */
    int64_t fee;        /* at fee_scale; 0: none */
    int fee_scale;
    char fee_asset[ASSET_NAME_MAX];
    bool maker;
    int64_t ts_ns; /* the venue's time */
};

struct venue_balance {
    char asset[ASSET_NAME_MAX];
    int scale; /* the symbols' of the asset where one has it; else VENUE_BALANCE_SCALE */
    int64_t free, locked;
};

/* What is known of the outcome of a request. */
enum venue_outcome {
    VENUE_DONE,          /* by the venue's answer; orders, fills or balances are there */
    VENUE_REFUSED,       /* the venue did nothing: `code` and `text` say why */
    VENUE_NOT_SENT,      /* no byte of it left, or the venue's limit refused it: not before retry_ms again */
    VENUE_EXISTS,        /* PLACE: an order of that client id lives, or (id_for_life) lived: query it */
    VENUE_ABSENT,        /* QUERY, CANCEL: the venue knows no such order (now) */
    VENUE_UNKNOWN,       /* an answer was lost, late, or says that it does not know: it may have been done */
    VENUE_DENIED,        /* keys or rights: no retry helps */
    VENUE_BAD_TIMESTAMP, /* the venue refused the request for its timestamp, and did nothing: it may be sent
                       again once its time was read again */
    VENUE_OUTCOMES,
};
const char *venue_outcome_name(enum venue_outcome outcome); /* "done", "refused" … */

struct venue_answer {
    enum venue_outcome outcome;
    int code;         /* the venue's: -2010, 40310000; 0: none */
    const char *text; /* one line: the venue's words, or what failed; "" for DONE */
    int64_t retry_ms; /* NOT_SENT: monotonic; else 0 */
    /* UNKNOWN of PLACE: the venue's time from which on the request can no longer take effect; 0: never sure,
     * as where the same id is safe (id_for_life). */
    int64_t settled_ns;
    const struct venue_order *orders; /* PLACE, CANCEL, QUERY: at most one; OPEN, RECENT: all */
    size_t n_orders;
    const struct venue_fill *fills; /* FILLS; of PLACE where the answer has them: ascending */
    size_t n_fills;
    const struct venue_balance *balances; /* BALANCES: all that are not 0 */
    size_t n_balances;
    int64_t ts_ns; /* the venue's time of the answer; 0: not said */
};
/* Everything lives during the callback. Comes once, from the loop, unless the account is destroyed before. */
typedef void venue_answer_done(void *user, const struct venue_answer *answer);

/* User data: called from the loop, never from within a call below; each may call any of them, destroy
 * included. An event may come twice, or after a later one: a connection is renewed beside the old one. */
struct venue_account_handler {
    /* The link of user data or its reason changed: UP once it is subscribed to, so that nothing that happens
     * from now on is missed. FINAL: keys, rights. What happened while it was not UP is not sent again. */
    void (*state)(void *user, const struct venue_status *status);
    void (*order)(void *user, const struct venue_order *order);
    void (*fill)(void *user, const struct venue_fill *fill); /* before the order's event that has it */
    /* Balances after a change; those that did not change may be left out. */
    void (*balances)(void *user, const struct venue_balance *balances, size_t n);
};

struct venue_account_config {
    struct net_context *net;
    const char *rest_url; /* https://HOST[:PORT]: of orders and accounts; NULL: the venue's paper host */
    const char *ws_url;   /* wss://HOST[:PORT]: of user data; NULL: the venue's paper host */
    /* id and secret. A secret that begins with "-----BEGIN" is an Ed25519 private key, PEM. */
    struct venue_keys keys;
    const struct symbol *symbols; /* whose orders and fills are read; the caller's for as long as it lives */
    size_t n_symbols;
    int64_t (*venue_ns)(
        void *user); /* the venue's time now, as far as it is known: requests are dated by it */
    /* The venue refused a request, or user data, for its timestamp: its time is to be read again. Called from
     * the loop; must not destroy the account. `user`: the handler's. NULL: it is not reported. */
    void (*bad_timestamp)(void *user);
    const struct venue_setting *settings;
    size_t n_settings;
    uint64_t jitter_seed;
    int64_t timeout_ms; /* of a request; 0: VENUE_TIMEOUT_MS */
    struct venue_ban ban;
};

/* What is asked of an account: a function of struct venue_accounts each. */
enum account_ask {
    ACCOUNT_PLACE,
    ACCOUNT_CANCEL,
    ACCOUNT_QUERY,
    ACCOUNT_OPEN,
    ACCOUNT_FILLS,
    ACCOUNT_BALANCES,
    ACCOUNT_RECENT,
    ACCOUNT_ASKS,
};

struct venue_account; /* one account at a venue, open */

struct venue_accounts {
    const char *const *paper_hosts; /* of simulated money; NULL at the end; a port may follow in a URL */
    const char *rest_url, *ws_url;  /* the paper account's own */
    uint32_t types, tifs;           /* that rest at the venue, as ORDER_SET() of exchange/order_rules.h */
    bool id_for_life;               /* a client id is refused when it is sent again, whatever became of it */

    /* 0; -EINVAL for a URL, or for keys that are none; -EPERM for a host that is not paper; -ENOMEM. The
     * handler must outlive it, the config's texts need not. Connects to user data at once. */
    int (*create)(const struct venue_account_config *config, const struct venue_account_handler *handler,
                  void *user, struct venue_account **ret);
    void (*destroy)(struct venue_account *account); /* no callback follows; NULL is fine */
    /* Another part of the program was banned, or is limited: as struct venue_ban says. */
    void (*hold)(struct venue_account *account, int64_t until_ns, const char *why);
    /* Of user data, as of now; `sent` counts requests too. Lives as long as the account. */
    const struct venue_status *(*status)(struct venue_account *account);

    /* They return 0, and `done` follows; or -ENOMEM, then it does not. `client_id`: at most 36 characters.
     * An order's numbers are as struct order has them, of config->symbols[order->symbol]: quantity, price,
     * stop price by type. */
    int (*place)(struct venue_account *account, const struct order *order, const char *client_id,
                 venue_answer_done *done, void *user);
    int (*cancel)(struct venue_account *account, int symbol, const char *client_id, venue_answer_done *done,
                  void *user);
    /* `venue_id`: which of the orders that had the client id; "": the one that the venue takes for it. */
    int (*query)(struct venue_account *account, int symbol, const char *client_id, const char *venue_id,
                 venue_answer_done *done, void *user);
    int (*open)(struct venue_account *account, venue_answer_done *done, void *user); /* all that live */
    int (*fills)(struct venue_account *account, int symbol, const char *order_id, venue_answer_done *done,
                 void *user); /* of one order, from its first on */
    int (*balances)(struct venue_account *account, venue_answer_done *done, void *user);
    /* The newest orders of a symbol, of any state, 500 at most. NULL: there is no such list, or no need of it
     * (id_for_life). */
    int (*recent)(struct venue_account *account, int symbol, venue_answer_done *done, void *user);
};

/* May orders be sent there? 0; -EPERM with one line in `why`: the host of the URL is not on the list, is no
 * loopback address, and was not named when the program was built (option production_hosts). */
int venue_account_host(const struct venue_accounts *accounts, const char *url, char *why, size_t why_size);

/* As numbers in full, or localhost: what a resolver makes of others is its own affair. */
bool venue_host_is_loopback(const char *host);

/* Is the host in the list, a comma between two, in any case? */
bool venue_host_listed(const char *list, const char *host);

/* What venues' accounts share: */

/* The config's URLs, or the venue's own. 0; -EINVAL for one with a path or of another scheme; -EPERM for a
 * host that is not paper. */
int venue_account_urls(const struct venue_accounts *accounts, const struct venue_account_config *config,
                       const char **ret_rest_url, const char **ret_ws_url);

/* By its name; NULL: it is none of them. */
const struct symbol *venue_symbols_find(const struct venue_symbols *symbols, struct json_text name);

/* The finest scale of an asset in the symbols; -1: it is in no pair of theirs. */
int venue_asset_scale(const struct venue_symbols *symbols, const char *asset);

/* What an answer lists, while it is read: from malloc(). */
struct venue_lists {
    struct venue_order *orders;
    struct venue_fill *fills;
    struct venue_balance *balances;
    size_t n_orders, n_fills, n_balances;
    int64_t ts_ns; /* the venue's time of the answer; 0: not said */
};
void venue_lists_free(struct venue_lists *lists); /* empties it */

/* Passes fills, then orders, then balances on, until a callback sets *ended (the account was destroyed). */
void venue_lists_push(const struct venue_lists *lists, const struct venue_account_handler *handler,
                      void *user, const bool *ended);

/* One more, zeroed, which counts once its n is raised; valid until the next one. NULL without memory. */
struct venue_order *venue_lists_order(struct venue_lists *lists);
struct venue_fill *venue_lists_fill(struct venue_lists *lists);
struct venue_balance *venue_lists_balance(struct venue_lists *lists);

#endif

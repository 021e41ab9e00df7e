/* The user's events: orders, accounts and money, as the engine gets them and a log keeps them. */
#ifndef ENGINE_COMMAND_H
#define ENGINE_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/account.h"
#include "exchange/order.h"
#include "exchange/trading_calendar.h"
#include "strategy/params.h"

struct policy;
struct strategy;

enum command_kind {
    COMMAND_PAUSE, /* strategies may no longer open; stops and closes still work */
    COMMAND_RESUME,
    COMMAND_FLATTEN, /* pause, cancel every order, close every position at market */
    COMMAND_ORDER,   /* one order, an OCO or a bracket */
    COMMAND_CANCEL,
    COMMAND_AMEND,
    COMMAND_ACCOUNT_CREATE,
    COMMAND_ACCOUNT_DEPOSIT, /* or withdraw */
    COMMAND_ACCOUNT_RESET,   /* cancels, closes the books on everything held, deposits again */
    COMMAND_ACCOUNT_TRANSFER,
    COMMAND_ACCOUNT_RESUME, /* an account that its drawdown locked trades again */
    COMMAND_ACCOUNT_POLICY, /* another policy, or none, in place of what traded: docs/policies.md, "Hand-over"
                             */
    COMMAND_CONFIGURE, /* the daemon's configuration was read again: other limits, strategies, parameters */
    COMMAND_ACCOUNT_CLOSE, /* takes what is left out of it; it takes no command from then on */
    COMMAND_KINDS,
};

/* How the orders of one request are linked. */
enum order_grouping {
    ORDERS_SINGLE, /* legs[0] */
    /* legs[0], legs[1]: of one account, symbol, side and time in force, both reduce-only or neither; one
     * trades, the other is cancelled */
    ORDERS_OCO,
    /* legs[0] enters; legs[1] and legs[2] (an OCO), or legs[1] alone, exit what it filled: of the other side,
     * reduce-only whether they say so or not, with the entry's quantity or 0, which means the same */
    ORDERS_BRACKET,
    ORDER_GROUPINGS,
};

enum { ORDER_LEGS_MAX = 3 };

/* New numbers of a live order; only those that `set` names change. They take effect like an order, after
 * the latency. An order whose quantity is only lowered keeps its place in the queue, any other goes to its
 * end. More must be left than is filled; a bracket's exit gets no more than its entry filled. */
enum { AMEND_QTY = 1, AMEND_PRICE = 2, AMEND_STOP = 4, AMEND_TRAIL = 8, AMEND_TRAIL_E6 = 16 };
struct order_amend {
    uint64_t order_id;
    unsigned set;
    int64_t qty, price, stop_price, trail;
    int32_t trail_e6;
};

/* An account as it is made: by the configuration, by a command, or as the database kept it. */
struct account_spec {
    char name[ACCOUNT_NAME_MAX];
    char currency[ASSET_NAME_MAX];
    int currency_scale;
    int64_t cash; /* deposited when the ledger has no row of this account yet */
    struct account_rules rules;
    enum session_choice session; /* whose bars its strategy, or its policy, sees; without a calendar: all */
    /* At most one of the two; neither: orders by hand only. */
    const struct strategy *strategy;
    const struct policy *policy;        /* the caller's, for as long as any engine has the account */
    double params[STRATEGY_PARAMS_MAX]; /* the strategy's */
};

/* What trades for an account: the strategy's name, "policy", or NULL. */
const char *account_spec_trader(const struct account_spec *spec);

enum { COMMAND_KEY_MAX = 37 };

struct event_command {
    enum command_kind kind;
    uint64_t command_id;       /* row in the table of commands; 0 for none */
    char key[COMMAND_KEY_MAX]; /* given with it: a command that is repeated with its key is not carried out
                                  twice */
    int64_t peer_uid, peer_pid;
    const char
        *args; /* JSON as it was given, for the record; NULL or "" for none; the caller's, for the call */
    union {
        struct {
            enum order_grouping grouping;
            struct order *legs; /* the caller's, for the call; at most ORDER_LEGS_MAX */
            int n_legs;
        } order; /* ORDER: of each leg the fields of RECORD_ASKED (record/order.h); a client id is unique
                    among the account's live orders, and a refused order with one that is not is recorded
                    without it */
        uint64_t order_id;           /* CANCEL: and the other leg of its OCO; of a bracket's entry: its exits
                                      * start with what it filled, or end with it */
        struct order_amend amend;    /* AMEND */
        struct account_spec account; /* ACCOUNT_CREATE */
        struct {
            int account, to; /* to: TRANSFER */
            int64_t amount;  /* of the currency; DEPOSIT: negative to withdraw; RESET: the new opening cash */
        } money; /* ACCOUNT_DEPOSIT, ACCOUNT_RESET, ACCOUNT_TRANSFER, ACCOUNT_RESUME, ACCOUNT_CLOSE */
        struct {
            int account;
            const struct policy *policy; /* as account_spec's; NULL: orders by hand only, from now on */
            bool close; /* all its orders are cancelled, and its positions, long and short, are closed at
                           market */
        } policy;       /* ACCOUNT_POLICY */
        struct {
            struct account_spec *accounts; /* by their names; the caller's, for the call */
            int n;                         /* 0 to ACCOUNTS_MAX */
        } configure; /* CONFIGURE: what each of them is from now on, its currency and cash apart; all, or
                        where one is refused none. Strategies that are others, or have other parameters, start
                        without memory, and see the recent bars as history */
    };
};

#endif

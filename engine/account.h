/* Paper accounts: what they hold, what open orders reserve of it, and their positions. */
#ifndef ENGINE_ACCOUNT_H
#define ENGINE_ACCOUNT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/position.h"
#include "exchange/corporate_action.h"
#include "exchange/fee_tiers.h"
#include "exchange/margin.h"
#include "exchange/symbol.h"
#include "strategy/record.h"
#include "strategy/risk.h"

enum {
    ACCOUNTS_MAX = 1024,
    ACCOUNT_ASSETS_MAX =
        2 * SYMBOLS_MAX + 16, /* a base and a quote a symbol, and assets that former symbols left */
    ACCOUNT_NAME_MAX = 32,
};

/* Is it a name for an account: 1 to ACCOUNT_NAME_MAX - 1 ASCII letters, digits, - _ and dots? */
bool account_name_good(const char *name);

struct balance {
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total;    /* the ledger's balance, never negative */
    int64_t borrowed; /* of total and of what was sold short of it: a liability to the lender */
    int64_t reserved; /* by live orders; total - reserved is free */
};

/* Where an account's orders are filled. Names are stored and shown. */
enum execution {
    EXECUTION_MODEL,       /* here, by the paper exchange: engine/match.c */
    EXECUTION_VENUE_PAPER, /* at the venue, in an account of simulated money: engine/venue_order.c */
    EXECUTIONS,
};
const char *account_execution_name(enum execution execution); /* "model", "venue-paper" */

/* An account's permissions and costs. */
struct account_rules {
    enum execution execution;
    struct fee_rates fees;
    struct risk_limits risk;
    bool shorts;            /* may it sell what it does not hold? */
    int32_t collateral_e4;  /* to open a short, the currency must be this much of its value: 15000 = 150 % */
    int32_t maintenance_e4; /* below this much the engine buys it back: 12500 = 125 % */
    int32_t borrow_rate_e6; /* a year's interest on what is borrowed: 50000 = 5 %; booked every hour */
    /* Of an account for US stocks (exchange/margin.h). With a margin, what a short needs is of these rules,
     * and neither collateral_e4 nor maintenance_e4. */
    enum margin_kind margin;
    enum day_trader_rule day_trader;
    enum settlement_rule settlement;
    bool class_fees; /* those of the symbol's class, where its venue says one, in place of `fees` */
    struct fee_rates crypto_fees, us_equity_fees;
    /* The schedule by which `fees` follow from the account's volume: exchange/fee_tiers.h; "": they stay. */
    char fee_tiers[FEE_TIERS_TEXT_MAX];
    bool regulatory_fees;   /* sales of stocks of the US cost those too: exchange/regulatory_fees.h */
    int32_t withholding_e6; /* the tax that is kept of dividends of what is held: 150000 = 15 % */
};

/* The rates that a trade in the symbol costs. */
const struct fee_rates *account_fees(const struct account_rules *rules, const struct symbol *symbol);

/* Its own rates before it has any volume: of its schedule's first step, else `fees`. */
struct fee_rates account_fees_first(const struct account_rules *rules);

/* NULL, or why rules contradict themselves: static text. Fees are 0 to 100 %; with shorts both shares are
 * at least 100 % of what is borrowed, the one to open not less than the one to keep. Unsettled cash buys
 * nothing only where there is no margin. */
const char *account_rules_check(const struct account_rules *rules);

/* The limits of a struct account_rules, as lists, the status and explain have them (record/account.h). */
extern const struct record engine_limits_record;

/* The indices of a symbol's two balances among an account's. */
struct account_pair {
    int base, quote;
};

/* What an account did in a stock on the day of its last fill there. */
struct day_trading {
    int64_t day;       /* exchange/business_day.h; 0: never */
    int64_t opened;    /* of the position, on that day: qty_scale */
    bool counts;       /* there was an opening since its last day trade: to close of it is another */
    int64_t funded_ns; /* bought with proceeds that settle then; 0: with settled cash */
};

/* Proceeds that settle later. */
struct settling {
    int64_t at_ns, amount;
};

/* An account's trades in stocks on a day: orders that traded, and day trades among them. */
struct traded_day {
    int64_t day, trades, day_trades;
};

enum { SETTLING_MAX = 8 };

/* What the rules for stocks remember of an account; 0: nothing. */
struct account_memory {
    struct settling settling[SETTLING_MAX]; /* by time; those that are past count no longer */
    int n_settling;
    struct traded_day traded[MARGIN_DAY_TRADE_DAYS]; /* the newest first */
    int n_traded;
    int64_t pattern_ns; /* when it became a pattern day trader's; 0: it is none's */
    int64_t deficit; /* what the day's trades made it lack by Regulation T, where the maintenance sufficed */
    int64_t overnight;  /* what is left of that of the days before: so much is to be closed */
    int64_t violations; /* sales of what was bought with cash that was not settled yet */
};

/* A dividend that is booked and not paid yet: from its ex-date on. The names are those of then. */
struct receivable {
    char symbol[SYMBOL_NAME_MAX], action[ACTION_ID_MAX];
    char asset[ASSET_NAME_MAX];
    int scale, qty_scale; /* of money; of qty */
    int64_t ex_ns, pay_ns;
    int64_t qty;             /* that was held; below 0: short */
    int64_t gross, withheld; /* gross: below 0 of a short, of which nothing is withheld */
    int64_t amount;          /* gross - withheld: what is paid */
    uint64_t booked;         /* the row that booked it */
};

/* What becomes of a dividend. Names are stored and shown. */
enum receivable_kind {
    RECEIVABLE_BOOKED,      /* at the ex-date */
    RECEIVABLE_PAID,        /* in cash: at the pay date, without one at once */
    RECEIVABLE_WRITTEN_OFF, /* the account was reset */
    RECEIVABLE_KINDS,
};

struct receivable_row {
    uint64_t id; /* 1, 2, 3 … */
    int64_t ts_ns;
    int account;
    enum receivable_kind kind;
    struct receivable of; /* PAID at once: `booked` is 0 */
    int64_t paid;         /* PAID: so much cash moved; of a short less than it should, for lack of cash */
    uint64_t ledger_id; /* PAID: the ledger's row of it, 0 where nothing moved; BOOKED: the last row before */
    uint64_t input_seq;
};

/* The venue's id of an order. */
struct venue_order_id {
    uint64_t order_id, client; /* ours; and the one whose client id it has: itself, or the one sent twice */
    char venue_id[40];         /* VENUE_UPDATE_ID_MAX */
};
enum { VENUE_ORDER_IDS_MAX = 64 };

/* An account with EXECUTION_VENUE_PAPER, at its venue. */
struct account_at_venue {
    bool attached, halted;
    char prefix[9]; /* of its orders' client ids */
    uint64_t seen;  /* the last order that the venue reported, of seen_symbol; 0: none yet */
    char seen_symbol[SYMBOL_NAME_MAX];
    struct venue_order_id
        ids[VENUE_ORDER_IDS_MAX]; /* [n_ids] of its live and last orders, the oldest first */
    int n_ids;
};

/* The arrays are the account's own; a balance stays where it is for as long as the account lives. */
struct account {
    char name[ACCOUNT_NAME_MAX];
    char currency[ASSET_NAME_MAX];
    int currency_scale;
    struct account_rules rules;
    struct balance *assets; /* assets[currency_at] is the currency's */
    int n_assets, cap_assets, currency_at;
    struct position *positions;    /* [symbols] */
    struct lots *lots;             /* [symbols] */
    struct record_keeper *records; /* [symbols] closed trades */
    struct account_pair *pairs;    /* [symbols] */
    struct day_trading *days;      /* [symbols] */
    struct account_memory memory;
    int shorts;       /* positions below zero */
    int64_t deposits; /* currency, lifetime: deposits and transfers in less those out */
    int64_t equity;   /* at the last mark */
    int64_t
        equity_peak; /* highest so far, for the drawdown; deposits and withdrawals move it in proportion */
    int64_t day, day_equity; /* UTC day number, and the equity at its start; also moved in proportion */
    int64_t point;           /* equity at the last point of its curve */
    int64_t day_base;        /* engine_day_base() of its day; no decision depends on either */
    int64_t opening_cash;    /* deposited by a reset without an amount */
    int64_t interest_ns;     /* the last hour that interest was booked for; 0: none yet */
    int64_t unpaid_interest; /* interest that the currency did not suffice for: booked once it does */
    struct receivable *receivables; /* [n_receivables], as they are due; engine/dividends.c */
    uint32_t n_receivables, cap_receivables;
    int64_t receivable, payable; /* sums of those in the currency, both >= 0: what is to come, and to pay */
    struct fee_volume volume;    /* of fills quoted in the currency: engine/fee_tiers.c */
    int64_t fee_day;             /* the UTC day that rules.fees are for; 0: to be computed */
    struct fee_rates tier_rates; /* the last ones that were emitted; maker_e6 < 0: none */
    int64_t margin_ns;           /* a margin call is not repeated before */
    int64_t killed_ns;           /* when its drawdown locked it, until it is resumed; 0: it trades */
    int64_t closed_ns;           /* when it was closed, for ever; 0: it is open */
    uint64_t refused[ORDER_REASONS]; /* its orders by refusal; accepted ones count for ORDER_OK */
    struct account_at_venue at_venue;
    bool started; /* it has a ledger: no opening deposit any more */
    bool moved;   /* by this event, filled or given money: its equity is a point of the curve */
    bool killing; /* it was just locked, and is to be liquidated at the end of the event */
};

/* An account's return in per cent: of the money put into it (deposits and transfers in less those out), or
 * for a span of time of its equity at the start and what was put in since. Both in the same unit; NaN:
 * nothing is left of what was put in. A report's returns are time-weighted (db/report/report.h). */
static inline double account_return_pct(double equity, double put_in)
{
    return put_in > 0 ? 100 * (equity / put_in - 1) : NAN;
}

#endif

/* A policy: decides at the close of each bar, an action an asset, and has the rules by which actions become
 * orders (strategy/policy/rules.h). The engine calls it in live trading, backtests and replays alike.
 *
 * A policy is read only once it is made, so that threads share it; its creator owns it, and it must outlive
 * all engines that trade by it. Engines keep its id, the SHA-256 of what it was read from: a state or a log
 * can only be read with the same policy, which a `struct policies` finds. */
#ifndef STRATEGY_POLICY_POLICY_H
#define STRATEGY_POLICY_POLICY_H

#include "exchange/symbol.h"
#include "exchange/trading_calendar.h"
#include "strategy/policy/rules.h"

enum {
    POLICY_ID_SIZE = 32,
    POLICY_ID_TEXT = 2 * POLICY_ID_SIZE + 1,
    POLICY_ERROR_MAX = 512,
    POLICY_MEMBERS_MAX = 16, /* of an ensemble */
};

/* indicators_gpu/indicators.h */
struct indicator_bar;
struct indicator_stream_fields;

struct policy_asset {
    char name[SYMBOL_NAME_MAX]; /* a symbol's, as BTCUSDT, or its base asset, as BTC */
    double least;               /* smallest quantity that it buys or sells, in units of the asset; >= 0 */
};

struct policy;

/* The memory of a policy that observes the market, for one account: created when the account begins to trade
 * by it, sees every bar that closes, including history, decides once a row, saved and restored with the
 * engine.
 *
 * Rows are the times of its interval; in a market with a calendar those of its session's bars, nights have
 * none. Row 0 is the first at which all its assets have bars and their features
 * values; it first decides at row lookback - 1. Where a bar is missing the last values repeat, and times
 * without any bar are rows too (trainer/data.h). One thread at a time uses a runtime. */
struct policy_runtime;
struct policy_vote {
    float action;
    double weight; /* of it in the ensemble's action, 0 to 1 */
    double sharpe; /* of the member's shadow account, a row's; NaN: unknown, or not needed */
};
struct policy_runtime_ops {
    /* Whose bars it sees from now on, in [from_ns, to_ns) of the calendar; borrowed until the next call.
     * NULL, and never called: a market that trades at all times. Of two bars that the calendar does not reach
     * one is the row after the other. NULL: its rows lie on the clock anyway. */
    void (*use)(struct policy_runtime *runtime, const struct trading_calendar *calendar);
    int (*create)(const struct policy *policy, struct policy_runtime **ret); /* 0 or -ENOMEM */
    void (*destroy)(struct policy_runtime *runtime);                         /* NULL is fine */
    /* A bar of an asset has closed. Each asset's come in order of time; one that is older than the newest row
     * corrects the rows from its own on. */
    void (*see)(struct policy_runtime *runtime, int asset, int64_t open_ns, const struct indicator_bar *bar);
    int64_t (*first)(
        const struct policy_runtime *runtime); /* when the bars of row 0 open; 0: not known yet */
    /* Has it all that it needs to decide at the row that opens at open_ns? Once it has decided it has,
     * however little the calendar reaches back. */
    bool (*ready)(const struct policy_runtime *runtime, int64_t open_ns);
    /* Decides at the close of the row that opens at open_ns, and before that, with the bars it has stored, at
     * the rows since the last decision. Cash in the currency, qty [n_assets] in units, both as they are for
     * rules.capital. ret_actions: policy_actions() of them; NULL: the row passes, no account trades by it. As
     * act() below; also false for a row that it has already decided. */
    bool (*act)(struct policy_runtime *runtime, int64_t open_ns, double cash, const double *qty,
                float *ret_actions);
    /* Visits all that it remembers: reading every field of one runtime and setting them in a new one of the
     * same policy makes a copy. */
    void (*visit)(struct policy_runtime *runtime, const struct indicator_stream_fields *fields);
    /* The vote of each member of an ensemble for an asset at the last row at which actions were wanted:
     * [policy->n_members]. NULL: it has no members. */
    void (*votes)(const struct policy_runtime *runtime, int asset, struct policy_vote *ret);
};

struct policy {
    const char *kind;    /* "recorded", "trained", "ensemble" */
    const char *backend; /* what computes its actions: "cpu-avx512"; "file" where they are recorded */
    uint8_t id[POLICY_ID_SIZE];
    int n_assets;
    const struct policy_asset *assets; /* [n_assets], in the order in which it decides */
    int64_t interval_ns;               /* of the bars that it decides on */
    /* The opening time of the bar whose closes scale its actions: row 0. With a runtime each account has its
     * own. */
    int64_t first_ns;
    /* [n_assets], > 0: the closes at first_ns, for when bars of that time are missing; NULL: only bars give
     * them. */
    const double *first_closes;
    /* The market's calendar, by its name, that it was trained on, and whose bars it sees; NULL, SESSION_ALL:
     * one that trades at all times. */
    const char *calendar;
    enum session_choice session;
    /* Task day-trade: one asset, whose two actions are a direction and a size. It trades beyond the
     * threshold, and is flat before the session's end: by the calendar, else by the zone's clock. */
    bool day_trade;
    double threshold;
    int session_close_s;
    const struct zone *zone; /* NULL: not that task, or with a calendar */
    int lookback;            /* bars that it has seen when it first decides */
    /* The rules that it was trained with. An account's own capital and fees replace these; `capital` is in
     * the currency here, and `spend` is not set. */
    struct policy_rules rules;
    int32_t slippage_e6;
    /* Its decision at the close of the bars that open at open_ns: [n_assets], finite. False: none, before its
     * first decision and after its last. */
    bool (*act)(const struct policy *policy, int64_t open_ns, float *ret_actions);
    const struct policy_runtime_ops *runtime; /* NULL: act() decides; else that is not called */
    /* What its evaluation said: the word and the sentence of strategy/metrics/verdict.h, as the file has
     * them; NULL: it was not evaluated, or by an older program. */
    const char *verdict, *verdict_text;
    int n_members;                       /* of an ensemble; 0: no ensemble */
    const struct policy *const *members; /* [n_members], trained ones */
    const char *const *member_names;     /* [n_members] as the ensemble's text names their files */
};

/* How many numbers an action has: one an asset, or two with day_trade. */
static inline int policy_actions(const struct policy *policy)
{
    return policy->day_trade ? 2 : policy->n_assets;
}

/* Where policies are found by their ids. */
struct policies {
    void *ctx;
    const struct policy *(*find)(void *ctx, const uint8_t id[static POLICY_ID_SIZE]); /* NULL: unknown id */
    const char *where; /* the directory of the files, for errors; NULL: unknown */
};

/* The index of an asset's symbol among n: the one of that name, or else the one of that base which is quoted
 * in `currency`; -1: there is none. */
int policy_find_symbol(const struct policy_asset *asset, const char *currency, const struct symbol *symbols,
                       int n);

/* "BTC" and "BTCUSDT" are one asset, in columns and lists. */
bool policy_same_asset(const char *a, const char *b);

/* Why an account of this currency cannot trade these symbols by the policy, on bars of this interval: a
 * clause in err; NULL: it can. */
const char *policy_refusal(const struct policy *policy, const char *currency, const struct symbol *symbols,
                           int n_symbols, int64_t interval_ns, char err[static POLICY_ERROR_MAX]);

/* What calendar_file_open() finds a calendar by, whose name is a policy's or a venue's; NULL of NULL. */
const char *policy_calendar_table(const char *name);

/* The same of one symbol's calendar ("": it trades at all times), as a clause of what the symbol has. A
 * policy of all hours of a calendar is always refused: where nothing is traded its environment has prices
 * that no order gets. */
const char *policy_calendar_refusal(const struct policy *policy, const char *calendar,
                                    char err[static POLICY_ERROR_MAX]);

/* Do two policies decide by the same rules for the same assets from the same bar on, so that one can continue
 * from the other's memory? Their actions and first_closes may differ; runtimes must be of one policy. */
bool policy_same_rules(const struct policy *a, const struct policy *b);

/* Is a name that of a policy in one file, a trained one or an ensemble? */
bool policy_names_one_file(const char *path);
/* A trained one's: F.safetensors? */
bool policy_names_trained(const char *path);
/* An ensemble's: NAME.ensemble.json, or ensemble.json? */
bool policy_names_ensemble(const char *path);

/* The id in hexadecimal digits, lower case, and read from them: 0, or -EINVAL and ret untouched. */
void policy_id_text(const uint8_t id[static POLICY_ID_SIZE], char ret[static POLICY_ID_TEXT]);
int policy_id_parse(const char *text, uint8_t ret[static POLICY_ID_SIZE]);

#endif

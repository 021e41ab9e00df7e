/* A policy: what it decides at the close of each bar, an action an asset, and the rules by which actions
 * become orders (strategy/policy/rules.h). The engine asks it, live, in a backtest and in a replay alike.
 *
 * A policy is read only once it is made, so that threads share it; it is its maker's and outlives all engines
 * that trade by it. Engines keep its id, the SHA-256 of what it was read from: a state or a log is read with
 * the same policy only, which a `struct policies` finds. */
#ifndef STRATEGY_POLICY_POLICY_H
#define STRATEGY_POLICY_POLICY_H

#include "exchange/symbol.h"
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

/* What a policy that looks at the market keeps of it for one account: made when the account begins to trade
 * by it, shown every bar that closes, history too, asked once a row, saved and restored with the engine.
 *
 * Rows are the times of its interval. Row 0 is the first at which all its assets have bars and their features
 * values; it first decides at row lookback - 1. What a missing bar leaves out repeats the last values, and
 * times without any bar are rows too (trainer/data.h). A runtime is its owner's own: one thread at a time. */
struct policy_runtime;
struct policy_vote {
    float action;
    double weight; /* of it in the ensemble's action, 0 to 1 */
    double sharpe; /* of the member's shadow account, a row's; NaN: it is not known, or not asked for */
};
struct policy_runtime_ops {
    int (*create)(const struct policy *policy, struct policy_runtime **ret); /* 0 or -ENOMEM */
    void (*destroy)(struct policy_runtime *runtime);                         /* NULL is fine */
    /* A bar of an asset has closed. Each asset's come in order of time; one that is older than the newest row
     * mends the rows from its own on. */
    void (*see)(struct policy_runtime *runtime, int asset, int64_t open_ns, const struct indicator_bar *bar);
    int64_t (*first)(
        const struct policy_runtime *runtime); /* when the bars of row 0 open; 0: not known yet */
    /* What it decides at the close of the row that opens at open_ns, and before it, where it remembers what
     * it saw, of the rows since the last one that it was asked of. Cash in the currency, qty [n_assets] in
     * units, both as they are for rules.capital. ret_actions NULL: the row passes, nobody trades by it. As
     * act() below; false too for a row that it was asked of. */
    bool (*act)(struct policy_runtime *runtime, int64_t open_ns, double cash, const double *qty,
                float *ret_actions);
    /* Shows all that it remembers: what was read from one and set in another of the same policy, just made,
     * makes of that the first one. */
    void (*visit)(struct policy_runtime *runtime, const struct indicator_stream_fields *fields);
    /* What each member of an ensemble said of an asset at the last row at which actions were wanted:
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
    /* Open of the bar whose closes scale its actions: row 0. With a runtime each account has its own. */
    int64_t first_ns;
    /* [n_assets], > 0: the closes at first_ns, where bars of then are not known; NULL: as bars say only. */
    const double *first_closes;
    int lookback; /* bars that it has seen when it first decides */
    /* What it was made for. An account's own capital and fees hold instead of these; `capital` is in the
     * currency here, and `spend` is not set. */
    struct policy_rules rules;
    int32_t slippage_e6;
    /* What it decides at the close of the bars that open at open_ns: [n_assets], finite. False: nothing,
     * before its first decision and after its last. */
    bool (*act)(const struct policy *policy, int64_t open_ns, float *ret_actions);
    const struct policy_runtime_ops *runtime; /* NULL: act() says all; else that is not called */
    int n_members;                            /* of an ensemble; 0: it is none */
    const struct policy *const *members;      /* [n_members], trained ones */
    const char *const *member_names;          /* [n_members] as the ensemble's text names their files */
};

/* Where policies are found by their ids. */
struct policies {
    void *ctx;
    const struct policy *(*find)(void *ctx,
                                 const uint8_t id[static POLICY_ID_SIZE]); /* NULL: it is not there */
    const char *where; /* the directory of the files, for errors; NULL: it is not known */
};

/* The symbol that an asset is, among n: that of its name, or else the one of that base which is quoted in
 * `currency`; -1: there is none. */
int policy_find_symbol(const struct policy_asset *asset, const char *currency, const struct symbol *symbols,
                       int n);

/* "BTC" and "BTCUSDT" are one asset, in columns and lists. */
bool policy_same_asset(const char *a, const char *b);

/* Why an account of this currency cannot trade these symbols by the policy, on bars of this interval: a
 * clause in err; NULL: it can. */
const char *policy_refusal(const struct policy *policy, const char *currency, const struct symbol *symbols,
                           int n_symbols, int64_t interval_ns, char err[static POLICY_ERROR_MAX]);

/* Do two policies decide by the same rules for the same assets from the same bar on, so that one can go on
 * with what the other remembers? Their actions and first_closes may differ; runtimes must be of one policy.
 */
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

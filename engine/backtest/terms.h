/* The terms on which strategies trade bars: cash, fees, rules, slippage and latency, as keys, and the account
 * that they make in a market. What the verbs' options are, and what other callers give as texts. */
#ifndef ENGINE_BACKTEST_TERMS_H
#define ENGINE_BACKTEST_TERMS_H

#include "engine/command.h"
#include "engine/market/market.h"
#include "record/config_key.h"

enum { BACKTEST_CASH_SCALE = 8, BACKTEST_TERMS_ERROR_MAX = 512 };

/* The keys, in the order of their table. */
enum backtest_term {
    BACKTEST_CASH,
    BACKTEST_FEE_MAKER,
    BACKTEST_FEE_TAKER,
    BACKTEST_SLIPPAGE,
    BACKTEST_LATENCY,
    BACKTEST_MARGIN,
    BACKTEST_DAY_TRADER,
    BACKTEST_SETTLEMENT,
    BACKTEST_COLLATERAL,
    BACKTEST_MAINTENANCE,
    BACKTEST_BORROW_RATE,
    BACKTEST_CLASS_FEES, /* of a venue's classes, by default */
    BACKTEST_TERMS = BACKTEST_CLASS_FEES + 4
};

struct backtest_terms {
    int64_t cash; /* at BACKTEST_CASH_SCALE */
    struct fee_rates fees;
    bool own_fees;              /* they were given */
    struct account_rules rules; /* of shorts and stocks, and a venue's fees by class */
    struct risk_limits risk;
    const char *venue; /* whose rules of orders hold, and its fees where no own ones are; NULL: none's */
    enum session_choice session;
    int32_t slippage_e6;
    int64_t latency_ns;
};

extern const struct config_key backtest_terms_keys[BACKTEST_TERMS]; /* of a struct backtest_terms */

/* Of a struct backtest_terms too: what fills cost beside their rates, and what is kept of dividends. */
enum { BACKTEST_CHARGES = 3 };
extern const struct config_key backtest_charge_keys[BACKTEST_CHARGES];

/* Every key's default, no limits, no venue, the regular session. */
void backtest_terms_init(struct backtest_terms *terms);

/* Sets one from text: a key of the tables, "shorts" (on or off), or a limit, as "risk.drawdown". 0; -ENOENT
 * for an unknown key, with the nearest; -EINVAL for a value that it does not take. */
int backtest_terms_set(struct backtest_terms *terms, const char *key, const char *text,
                       char err[static BACKTEST_TERMS_ERROR_MAX]);

/* The account of these terms in a market, without a strategy and a name. 0; -EXDEV where the market's symbols
 * are not quoted in one currency; -ERANGE for cash that the currency does not hold; err: the sentence, whose
 * subject is the symbols or the cash. */
int backtest_terms_account(const struct backtest_terms *terms, const struct market *market,
                           struct account_spec *ret, char err[static BACKTEST_TERMS_ERROR_MAX]);

/* The rows of a market whose bars open in [from_ns, to_ns), 0 for no bound. 0; -EINVAL where there is none,
 * with a sentence that names the bound. */
int backtest_terms_range(const struct market *market, int64_t from_ns, int64_t to_ns, size_t *ret_from,
                         size_t *ret_to, char err[static BACKTEST_TERMS_ERROR_MAX]);

#endif

/* The limits of strategy/policy/limit_rules.h as keys: [environment] of a training and `eval --set`, [arena]
 * of papertaped.ini, options of `policy promote`, parameters of a recorded policy; all take the same values
 * and have the same names. */
#ifndef STRATEGY_POLICY_LIMIT_KEYS_H
#define STRATEGY_POLICY_LIMIT_KEYS_H

#include "record/config_key.h"
#include "strategy/policy/limits.h"

enum { POLICY_LIMIT_TEXT_MAX = 64, POLICY_LIMITS_TEXT_MAX = 512 };

int policy_limits_read_cooldown(const struct config_key *key, const char *text, void *base,
                                char why[static CONFIG_WHY_MAX]);
void policy_limits_print_cooldown(const struct config_key *key, const void *base, FILE *to);
int policy_limits_read_profit(const struct config_key *key, const char *text, void *base,
                              char why[static CONFIG_WHY_MAX]);
void policy_limits_print_profit(const struct config_key *key, const void *base, FILE *to);

/* ROW(name, option, member, option's value, kind, sentence); the default is "0", none. */
#define POLICY_LIMIT_COOLDOWN(ROW) \
    ROW(cooldown, "cooldown", cooldown_s, "T", \
        KEY_OWN(policy_limits_read_cooldown, policy_limits_print_cooldown), \
        "how long nothing is bought after portfolio_trailing_stop has sold all, as 4h; 0: one bar")
#define POLICY_LIMIT_DAILY_LOSS(ROW) \
    ROW(daily_loss, "daily-loss", daily_loss, "P%", KEY_SHARE(0.99), \
        "of the UTC day's first equity; once lost, nothing is bought until the next day; 0: no limit")
#define POLICY_LIMIT_EXPOSURE(ROW) \
    ROW(exposure, "exposure", exposure, "P%", KEY_SHARE(1), \
        "most of equity in all assets together; 0: no limit")
#define POLICY_LIMIT_EXPOSURE_SYMBOL(ROW) \
    ROW(exposure_symbol, "exposure-symbol", exposure_symbol, "P%", KEY_SHARE(1), \
        "most of equity in one asset; 0: no limit")
#define POLICY_LIMIT_PORTFOLIO_TRAILING_STOP(ROW) \
    ROW(portfolio_trailing_stop, "portfolio-trailing-stop", portfolio_trailing_stop, "P%", KEY_SHARE(0.99), \
        "below the peak of equity, where all is sold; 0: off")
#define POLICY_LIMIT_STOP_LOSS(ROW) \
    ROW(stop_loss, "stop-loss", stop_loss, "P%", KEY_SHARE(0.99), \
        "below a position's average cost, where it is sold; 0: off")
#define POLICY_LIMIT_TAKE_PROFIT(ROW) \
    ROW(take_profit, "take-profit", take_profit, "P%:PART%", \
        KEY_OWN(policy_limits_read_profit, policy_limits_print_profit), \
        "above a position's average cost, and the part of it that is sold there once; 0: off")
#define POLICY_LIMIT_TRAILING_STOP(ROW) \
    ROW(trailing_stop, "trailing-stop", trailing_stop, "P%", KEY_SHARE(0.99), \
        "below the peak of a position's closes, where it is sold; 0: off")

/* All, sorted by name. */
#define POLICY_LIMIT_ROWS(ROW) \
    POLICY_LIMIT_COOLDOWN(ROW) \
    POLICY_LIMIT_DAILY_LOSS(ROW) \
    POLICY_LIMIT_EXPOSURE(ROW) \
    POLICY_LIMIT_EXPOSURE_SYMBOL(ROW) \
    POLICY_LIMIT_PORTFOLIO_TRAILING_STOP(ROW) \
    POLICY_LIMIT_STOP_LOSS(ROW) \
    POLICY_LIMIT_TAKE_PROFIT(ROW) \
    POLICY_LIMIT_TRAILING_STOP(ROW)

#define POLICY_LIMIT_COUNT_(name, option, member, value, kind, about) +1
enum { POLICY_LIMITS_N = 0 POLICY_LIMIT_ROWS(POLICY_LIMIT_COUNT_) };

/* Their names, each with a blank behind it. */
#define POLICY_LIMIT_NAME_(name, option, member, value, kind, about) #name " "
#define POLICY_LIMIT_NAMES                                           POLICY_LIMIT_ROWS(POLICY_LIMIT_NAME_)

extern const struct config_key policy_limit_keys[POLICY_LIMITS_N]; /* of a struct policy_limits */

/* Do they contradict each other? 0; -EINVAL with a sentence that names them. */
int policy_limits_check(const struct policy_limits *limits, char why[static CONFIG_WHY_MAX]);

bool policy_limits_same(const struct policy_limits *a, const struct policy_limits *b);

/* Sets one by its name; 0, -ENOENT for an unknown name, -EINVAL with what would be right. */
int policy_limits_set(struct policy_limits *limits, const char *name, const char *text,
                      char why[static CONFIG_WHY_MAX]);

/* Those that are set, as "exposure_symbol 0.3, stop_loss 0.05"; "none". */
void policy_limits_text(const struct policy_limits *limits, char ret[static POLICY_LIMITS_TEXT_MAX]);

/* Is the value of a row 0? */
bool policy_limit_off(const struct config_key *key, const struct policy_limits *limits);
/* The text of a limit that is set. False: it is off. */
bool policy_limit_text(const struct config_key *key, const struct policy_limits *limits,
                       char ret[static POLICY_LIMIT_TEXT_MAX]);

#endif

/* The strategies that have a rule in lanes. */
#include <string.h>

#include "engine/backtest/screen/internal.h"
#include "strategy/strategy.h"

/* Parameters by their index in the strategies' files; tests/engine/screen.c checks that they are still these.
 */
enum { CROSS_FAST, CROSS_SLOW, CROSS_FRACTION, CROSS_AVERAGE };
enum { RSI_FAST, RSI_SLOW, RSI_RSI, RSI_MAX, RSI_ATR, RSI_STOP_ATR, RSI_FRACTION, RSI_AVERAGE };
enum {
    RISK_FAST,
    RISK_SLOW,
    RISK_RSI,
    RISK_RSI_MAX,
    RISK_ATR,
    RISK_STOP_ATR,
    RISK_PROFIT_ATR,
    RISK_RISK,
    RISK_FRACTION_MAX,
    RISK_POSITIONS_MAX,
    RISK_AVERAGE
};
enum {
    TRIPLE_FAST,
    TRIPLE_SLOW,
    TRIPLE_RSI,
    TRIPLE_RSI_MIN,
    TRIPLE_RSI_MAX,
    TRIPLE_MACD_FAST,
    TRIPLE_MACD_SLOW,
    TRIPLE_MACD_SIGNAL,
    TRIPLE_ATR,
    TRIPLE_STOP_ATR,
    TRIPLE_PROFIT_ATR,
    TRIPLE_RISK,
    TRIPLE_FRACTION_MAX,
};

static struct screen_column average(double kind, double period)
{
    return (struct screen_column){kind == 0 ? COLUMN_SMA : COLUMN_EMA, {(uint32_t)period}};
}

static struct screen_column of(enum screen_kind kind, double period)
{
    return (struct screen_column){kind, {(uint32_t)period}};
}

static void cross_columns(const double *p, struct screen_column roles[static SCREEN_ROLES],
                          struct screen_column *atr)
{
    (void)atr;
    roles[ROLE_FAST] = average(p[CROSS_AVERAGE], p[CROSS_FAST]);
    roles[ROLE_SLOW] = average(p[CROSS_AVERAGE], p[CROSS_SLOW]);
}

static void cross_fill(const double *p, struct screen_group *g, int lane)
{
    g->accounts[lane].want = p[CROSS_FRACTION];
}

static void rsi_columns(const double *p, struct screen_column roles[static SCREEN_ROLES],
                        struct screen_column *atr)
{
    roles[ROLE_FAST] = average(p[RSI_AVERAGE], p[RSI_FAST]);
    roles[ROLE_SLOW] = average(p[RSI_AVERAGE], p[RSI_SLOW]);
    roles[ROLE_RSI] = of(COLUMN_RSI, p[RSI_RSI]);
    *atr = of(COLUMN_ATR, p[RSI_ATR]);
}

static void rsi_fill(const double *p, struct screen_group *g, int lane)
{
    g->accounts[lane].rsi_max = p[RSI_MAX];
    g->accounts[lane].stop_atr = p[RSI_STOP_ATR];
    g->accounts[lane].fraction = p[RSI_FRACTION];
}

static void risk_columns(const double *p, struct screen_column roles[static SCREEN_ROLES],
                         struct screen_column *atr)
{
    roles[ROLE_FAST] = average(p[RISK_AVERAGE], p[RISK_FAST]);
    roles[ROLE_SLOW] = average(p[RISK_AVERAGE], p[RISK_SLOW]);
    roles[ROLE_RSI] = of(COLUMN_RSI, p[RISK_RSI]);
    *atr = of(COLUMN_ATR, p[RISK_ATR]);
}

static void risk_fill(const double *p, struct screen_group *g, int lane)
{
    g->accounts[lane].rsi_max = p[RISK_RSI_MAX];
    g->accounts[lane].stop_atr = p[RISK_STOP_ATR];
    g->accounts[lane].profit_atr = p[RISK_PROFIT_ATR];
    g->accounts[lane].risk = p[RISK_RISK];
    g->accounts[lane].fraction_max = p[RISK_FRACTION_MAX];
}

static void triple_columns(const double *p, struct screen_column roles[static SCREEN_ROLES],
                           struct screen_column *atr)
{
    roles[ROLE_FAST] = of(COLUMN_SMA, p[TRIPLE_FAST]);
    roles[ROLE_SLOW] = of(COLUMN_SMA, p[TRIPLE_SLOW]);
    roles[ROLE_RSI] = of(COLUMN_RSI, p[TRIPLE_RSI]);
    roles[ROLE_HIST] = (struct screen_column){
        COLUMN_HIST,
        {(uint32_t)p[TRIPLE_MACD_FAST], (uint32_t)p[TRIPLE_MACD_SLOW], (uint32_t)p[TRIPLE_MACD_SIGNAL]}};
    *atr = of(COLUMN_ATR, p[TRIPLE_ATR]);
}

static void triple_fill(const double *p, struct screen_group *g, int lane)
{
    g->rsi_low[lane] = (float)p[TRIPLE_RSI_MIN];
    g->rsi_high[lane] = (float)p[TRIPLE_RSI_MAX];
    g->accounts[lane].stop_atr = p[TRIPLE_STOP_ATR];
    g->accounts[lane].profit_atr = p[TRIPLE_PROFIT_ATR];
    g->accounts[lane].risk = p[TRIPLE_RISK];
    g->accounts[lane].fraction_max = p[TRIPLE_FRACTION_MAX];
}

/* In the order of enum screen_rule; positions_max has no effect on one symbol. */
static const struct screen_rule_row rows[] = {
    {"sma-cross", SCREEN_CROSS, 4, 2, cross_columns, cross_fill, false, false},
    {"sma-cross-rsi", SCREEN_CROSS_RSI, 8, 2, rsi_columns, rsi_fill, true, true},
    {"sma-cross-rsi-risk", SCREEN_CROSS_RISK, 11, 2, risk_columns, risk_fill, true, true},
    {"triple-confirmation", SCREEN_TRIPLE, 14, 4, triple_columns, triple_fill, true, true},
};

const struct screen_rule_row *backtest_screen_rule(const struct strategy *strategy)
{
    for (size_t i = 0; !strategy->external && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].strategy, strategy->name) == 0)
            return &rows[i];
    return NULL;
}

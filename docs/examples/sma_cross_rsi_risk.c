/* The built-in sma-cross-rsi-risk again, as someone else would write it: from <papertape/strategy.h> and
 * docs/strategies.md alone. Its trades, orders and ledger are the built-in's, byte by byte.
 *
 *   cc -O3 -shared -fPIC -ffp-contract=off $(pkg-config --cflags papertape) -o mine.so sma_cross_rsi_risk.c -lm
 *   papertape backtest --strategy lib:./mine.so --bars BTCUSDT_5m.csv */
#include <math.h>
#include <papertape/strategy.h>
#include <stdio.h>
#include <string.h>

enum { FAST, SLOW, RSI, RSI_MAX, ATR, STOP_ATR, PROFIT_ATR, RISK, FRACTION_MAX, POSITIONS_MAX, AVERAGE };

static const struct papertape_param params[] = {
    {.name = "fast",
     .summary = "bars of the fast average",
     .fallback = 10,
     .min = 1,
     .max = 1000,
     .integer = 1},
    {.name = "slow",
     .summary = "bars of the slow average",
     .fallback = 30,
     .min = 2,
     .max = 5000,
     .integer = 1},
    {.name = "rsi", .summary = "bars of the RSI", .fallback = 14, .min = 2, .max = 1000, .integer = 1},
    {.name = "rsi_max", .summary = "no entry while the RSI is above", .fallback = 70, .min = 0, .max = 100},
    {.name = "atr", .summary = "bars of the ATR", .fallback = 14, .min = 1, .max = 1000, .integer = 1},
    {.name = "stop_atr", .summary = "stop this many ATR below", .fallback = 2, .min = 0.1, .max = 100},
    {.name = "profit_atr", .summary = "profit this many ATR above", .fallback = 3, .min = 0, .max = 100},
    {.name = "risk",
     .summary = "of equity that the stop may lose",
     .fallback = 0.01,
     .min = 0.0001,
     .max = 0.5},
    {.name = "fraction_max", .summary = "of equity, at most", .fallback = 0.5, .min = 0.001, .max = 1},
    {.name = "positions_max",
     .summary = "symbols held at once",
     .fallback = 3,
     .min = 1,
     .max = 1000,
     .integer = 1},
    {.name = "average",
     .summary = "of the averages",
     .fallback = 0,
     .min = 0,
     .max = 1,
     .integer = 1,
     .words = "sma ema"},
};

struct memory {
    int side; /* of the fast average: -1 below the slow one, 1 above, 0 not known yet */
};

static const char *check(const double *p)
{
    return p[FAST] < p[SLOW] ? NULL : "fast: fewer bars than slow are needed";
}

static size_t specs(const double *p, char out[][PAPERTAPE_SPEC_TEXT])
{
    const char *average = p[AVERAGE] == 0 ? "sma" : "ema";
    snprintf(out[0], PAPERTAPE_SPEC_TEXT, "%s:%d", average, (int)p[FAST]);
    snprintf(out[1], PAPERTAPE_SPEC_TEXT, "%s:%d", average, (int)p[SLOW]);
    snprintf(out[2], PAPERTAPE_SPEC_TEXT, "rsi:%d", (int)p[RSI]);
    snprintf(out[3], PAPERTAPE_SPEC_TEXT, "atr:%d", (int)p[ATR]);
    return 4;
}

static size_t enter(const double *p, double close, double atr, struct papertape_intent *intent)
{
    double stop = close - p[STOP_ATR] * atr, distance = close - stop;
    double profit = p[PROFIT_ATR] > 0 ? close + p[PROFIT_ATR] * atr : 0;
    if (!(stop > 0) || !(distance > 0) || (profit != 0 && !(profit > close)))
        return 0;
    double fraction = p[RISK] * close / distance;
    intent->kind = PAPERTAPE_ENTER;
    intent->fraction = fraction < p[FRACTION_MAX] ? fraction : p[FRACTION_MAX];
    intent->stop = stop;
    intent->profit = profit;
    intent->why = "cross up";
    return 1;
}

static size_t on_bar(const double *p, void *state, const struct papertape_input *bar,
                     struct papertape_intent *intents)
{
    struct memory *memory = state;
    const double *now = bar->indicators;
    for (int i = 0; i < 4; i++)
        if (isnan(now[i]))
            return 0;
    int before = memory->side;
    memory->side = now[0] > now[1] ? 1 : now[0] < now[1] ? -1 : before;
    if (bar->live_orders)
        return 0;
    if (bar->qty > 0 && memory->side < 0) {
        intents[0].kind = PAPERTAPE_EXIT;
        intents[0].why = "cross down";
        return 1;
    }
    if (bar->qty != 0 || before >= 0 || memory->side <= 0 || now[2] > p[RSI_MAX] ||
        bar->positions >= p[POSITIONS_MAX])
        return 0;
    return enter(p, bar->close, now[3], intents);
}

/* A bar matters where the averages change sides, and, to what is held, while the fast one is below. */
static void scan(const double *p, const struct papertape_columns *columns, uint64_t *flat, uint64_t *holding)
{
    const double *fast = columns->indicators[0], *slow = columns->indicators[1];
    const double *rsi = columns->indicators[2], *atr = columns->indicators[3];
    uint64_t above_before = 0, below_before = 0;
    (void)p;
    for (uint64_t from = 0; from < columns->n; from += 64) {
        uint64_t n = columns->n - from < 64 ? columns->n - from : 64, above = 0, below = 0, known = 0;
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = from + i;
            known |= (uint64_t)(!isnan(fast[at]) & !isnan(slow[at]) & !isnan(rsi[at]) & !isnan(atr[at])) << i;
            above |= (uint64_t)(fast[at] > slow[at]) << i;
            below |= (uint64_t)(fast[at] < slow[at]) << i;
        }
        above &= known;
        below &= known;
        uint64_t turns = (above & ~(above << 1 | above_before)) | (below & ~(below << 1 | below_before));
        above_before = above >> 63;
        below_before = below >> 63;
        flat[from / 64] = turns;
        holding[from / 64] = turns | (known & ~above);
    }
}

const struct papertape_strategy *papertape_strategy_v1(void)
{
    static const struct papertape_strategy table = {
        .size = sizeof table,
        .version = PAPERTAPE_STRATEGY_VERSION,
        .name = "sma-cross-rsi-risk",
        .summary = "sma-cross-rsi with positions sized by what their stop may lose",
        .params = params,
        .n_params = sizeof params / sizeof *params,
        .param_size = sizeof *params,
        .state_size = sizeof(struct memory),
        .check = check,
        .specs = specs,
        .on_bar = on_bar,
        .scan = scan,
    };
    return &table;
}

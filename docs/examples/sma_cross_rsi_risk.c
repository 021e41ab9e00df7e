/* The built-in sma-cross-rsi-risk again, as someone else would write it: from <papertape/strategy.h> and
 * docs/strategies.md alone. Its trades, orders and ledger are the built-in's, byte by byte.
 *
 *   cc -O3 -shared -fPIC -ffp-contract=off $(pkg-config --cflags papertape) -o mine.so sma_cross_rsi_risk.c
 * -lm papertape backtest --strategy lib:./mine.so --bars BTCUSDT_5m.csv */
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

/* ---- what makes backtests fast ---- */

/* Bit i is flags[i], each 0 or 1: the product gathers eight flags in its top byte. */
static uint64_t pack(const uint8_t flags[64])
{
    uint64_t mask = 0;
    for (int k = 0; k < 8; k++) {
        uint64_t eight;
        memcpy(&eight, flags + 8 * k, 8);
        mask |= (eight * 0x0102040810204080u >> 56) << 8 * k;
    }
    return mask;
}

/* Bits of the first n <= 64 values: a > b. Loops of one length and no branch are what compilers vectorise. */
static uint64_t above(const double *a, const double *b, uint64_t n)
{
    uint8_t flags[64] = {0};
    if (n == 64)
        for (int i = 0; i < 64; i++)
            flags[i] = a[i] > b[i];
    for (uint64_t i = 0; n < 64 && i < n; i++)
        flags[i] = a[i] > b[i];
    return pack(flags);
}

/* The first bar at which all four are there: NaNs are at the beginning alone. */
static uint64_t known_from(const struct papertape_columns *columns)
{
    uint64_t from = 0;
    for (int k = 0; k < 4; k++)
        while (from < columns->n && isnan(columns->indicators[k][from]))
            from++;
    return from;
}

/* A bar matters where the averages change sides, and, to what is held, while the fast one is below. */
static void scan(const double *p, const struct papertape_columns *columns,
                 const struct papertape_marks *marks)
{
    const double *fast = columns->indicators[0], *slow = columns->indicators[1];
    uint64_t up_before = 0, down_before = 0, from = known_from(columns);
    (void)p;
    for (uint64_t at = 0; at < columns->n; at += 64) {
        uint64_t n = columns->n - at < 64 ? columns->n - at : 64,
                 known = n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
        if (from > at)
            known = from - at < 64 ? known & UINT64_MAX << (from - at) : 0;
        uint64_t up = above(fast + at, slow + at, n) & known, down = above(slow + at, fast + at, n) & known;
        uint64_t turns = (up & ~(up << 1 | up_before)) | (down & ~(down << 1 | down_before));
        up_before = up >> 63;
        down_before = down >> 63;
        marks->flat[at / 64] = turns;
        marks->holding[at / 64] = turns | (known & ~up);
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

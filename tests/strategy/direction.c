/* Every strategy's short side is the mirror of its long one: prices p become 200 - p, oscillators x become
 * 100 - x, and what is long becomes short. On random bars, of which the indicators are random too, `short` in
 * the mirror asks for the mirror of what `long` asks for; `both` asks for what one of them does, and turns
 * with an exit before. */
#include "strategy/direction.h"

#include "tests/random.h"
#include "tests/strategy/ask.h"

enum { BARS = 4000, ROUNDS = 12 };

#define MINUTE_NS   60000000000LL
#define MIRROR      200.0
#define OSCILLATION 100.0

/* What a mirror does to an output. */
enum kind { OF_PRICE, OF_OSCILLATOR, OF_DIFFERENCE, OF_RANGE };

struct outputs {
    enum kind kinds[ASK_VALUES_MAX];
    size_t n;
};

static struct outputs outputs_of(const struct ask *ask)
{
    static const struct {
        const char *name;
        enum kind kind;
        size_t n;
    } rows[] = {{"sma:", OF_PRICE, 1},       {"ema:", OF_PRICE, 1},        {"rsi:", OF_OSCILLATOR, 1},
                {"macd:", OF_DIFFERENCE, 3}, {"stoch:", OF_OSCILLATOR, 2}, {"atr:", OF_RANGE, 1}};
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
    size_t n = ask->strategy->specs(ask->params, specs);
    struct outputs ret = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < sizeof rows / sizeof *rows && strncmp(specs[i], rows[k].name, strlen(rows[k].name)) != 0)
            k++;
        CHECK(k < sizeof rows / sizeof *rows);
        for (size_t o = 0; k < sizeof rows / sizeof *rows && o < rows[k].n; o++)
            ret.kinds[ret.n++] = rows[k].kind;
    }
    return ret;
}

/* Multiples of an eighth: every sum here is exact. */
static double eighths(struct random *random, double least, double most)
{
    return (double)random_between(random, (int64_t)(least * 8), (int64_t)(most * 8)) / 8;
}

static double value_of(struct random *random, enum kind kind)
{
    switch (kind) {
    case OF_PRICE:
        return eighths(random, 98, 102);
    case OF_OSCILLATOR:
        return eighths(random, 0, OSCILLATION);
    case OF_DIFFERENCE:
        return eighths(random, -1, 1);
    default:
        return random_chance(random, 5) ? 0 : eighths(random, 0, 4);
    }
}

static double mirrored(double value, enum kind kind)
{
    return kind == OF_PRICE        ? MIRROR - value
           : kind == OF_OSCILLATOR ? OSCILLATION - value
           : kind == OF_DIFFERENCE ? -value
                                   : value;
}

static void random_bar(struct random *random, struct ask *ask, int64_t i)
{
    struct strategy_input *input = &ask->input;
    double open = eighths(random, 95, 105);
    input->ts_ns = 1700000000 * 1000000000LL + i * 15 * MINUTE_NS;
    input->interval_ns = 15 * MINUTE_NS;
    input->open = open;
    input->close = eighths(random, 95, 105);
    input->high = fmax(input->open, input->close) + eighths(random, 0, 1);
    input->low = fmin(input->open, input->close) - eighths(random, 0, 1);
    input->volume = eighths(random, 0, 10);
    input->qty = random_chance(random, 50) ? 0 : random_chance(random, 80) ? 1.5 : -1.5;
    input->stop =
        input->qty != 0 && random_chance(random, 60) ? 100 - input->qty * eighths(random, 0, 10) : 0;
    input->live_orders = random_chance(random, 10);
    input->shorts = true;
    input->symbols = 3;
    input->positions = (int)random_between(random, input->qty != 0, 3);
    ask->record.losses = (uint32_t)(i / 400); /* after each third a pause */
    ask->record.losing = ask->record.losses % 3 == 2 ? 3 : 0;
}

static void mirror_bar(const struct ask *from, struct ask *to)
{
    const struct strategy_input *seen = &from->input;
    struct strategy_input *input = &to->input;
    *input = *seen;
    to->record = from->record;
    input->open = MIRROR - seen->open;
    input->close = MIRROR - seen->close;
    input->high = MIRROR - seen->low;
    input->low = MIRROR - seen->high;
    input->qty = -seen->qty;
    input->stop = seen->stop > 0 ? MIRROR - seen->stop : 0;
}

static enum intent_kind other_kind(enum intent_kind kind)
{
    return kind == INTENT_ENTER ? INTENT_SHORT : kind == INTENT_SHORT ? INTENT_ENTER : kind;
}

static double other_price(double price)
{
    return price > 0 ? MIRROR - price : 0;
}

/* An entry of a size that does not follow from its stop has the same in the mirror. */
static void check_mirror(const struct ask *a, const struct intent *x, const struct ask *b,
                         const struct intent *y)
{
    CHECK_INT(y->kind, other_kind(x->kind));
    CHECK(y->limit == other_price(x->limit) && y->good_ns == x->good_ns);
    CHECK(y->stop == other_price(x->stop));
    CHECK(y->profit == other_price(x->profit));
    if (!intent_enters(x->kind) || x->stop == 0 || x->fraction == y->fraction)
        return;
    double p = x->limit > 0 ? x->limit : a->input.close, q = y->limit > 0 ? y->limit : b->input.close;
    double risk = x->fraction * fabs(p - x->stop) / p, other = y->fraction * fabs(q - y->stop) / q;
    bool most = x->fraction > y->fraction ? risk < other : other < risk; /* the larger is cut */
    CHECK(most || fabs(risk - other) <= 1e-12);
}

static bool same(const struct intent *a, const struct intent *b)
{
    return a->kind == b->kind && a->fraction == b->fraction && a->stop == b->stop && a->profit == b->profit &&
           a->limit == b->limit && a->good_ns == b->good_ns && strcmp(a->why, b->why) == 0;
}

/* What one side asks for at the bar and with the memory of `both`; `left`: what it holds is left at it. */
static size_t ask_side(const struct ask *both, const char *direction, bool left,
                       const struct outputs *outputs, const double *values, struct intent *ret)
{
    struct ask side = *both;
    ask_set(&side, DIRECTION_NAME, direction);
    if (left) {
        side.input.qty = side.input.stop = 0;
        side.input.positions--;
    }
    size_t n = ask_values(&side, outputs->n, values);
    memcpy(ret, side.intents, n * sizeof *ret);
    return n;
}

/* `both` is what the side asks for that holds something, and once that is left, or while nothing is held, the
 * entry of either. Returns whether it turned. */
static bool check_both(struct ask *both, const struct outputs *outputs, const double *values, bool turning)
{
    const char *const first = both->input.qty < 0 ? "short" : "long",
                      *other = *first == 's' ? "long" : "short";
    struct intent wanted[2 * STRATEGY_INTENTS_MAX];
    size_t n_wanted = ask_side(both, first, false, outputs, values, wanted);
    bool leaves = n_wanted > 0 && wanted[0].kind == INTENT_EXIT;
    if ((leaves && turning) || (both->input.qty == 0 && n_wanted == 0))
        n_wanted += ask_side(both, other, leaves, outputs, values, wanted + n_wanted);
    CHECK_INT(ask_values(both, outputs->n, values), n_wanted);
    for (size_t i = 0; i < n_wanted && i < STRATEGY_INTENTS_MAX; i++)
        CHECK(same(&both->intents[i], &wanted[i]));
    return leaves && n_wanted > 1;
}

static struct ask ask_direction(const char *strategy, const char *direction)
{
    struct ask ask = ask_new(strategy);
    ask.loose = true; /* indicators that no bars would have */
    ask_set(&ask, DIRECTION_NAME, direction);
    return ask;
}

static void test_strategy(struct random *random, const char *name, bool turning)
{
    size_t entries = 0, exits = 0, turns = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct ask longs = ask_direction(name, "long"), mirror = ask_direction(name, "short");
        struct ask both = ask_direction(name, "both");
        const struct outputs outputs = outputs_of(&longs);
        for (int64_t i = 0; i < BARS; i++) {
            double values[ASK_VALUES_MAX], other[ASK_VALUES_MAX];
            random_bar(random, &longs, i);
            for (size_t k = 0; k < outputs.n; k++) {
                values[k] = value_of(random, outputs.kinds[k]);
                other[k] = mirrored(values[k], outputs.kinds[k]);
            }
            mirror_bar(&longs, &mirror);
            both.input = longs.input;
            both.record = longs.record;
            size_t n = ask_values(&longs, outputs.n, values);
            CHECK_INT(ask_values(&mirror, outputs.n, other), n);
            for (size_t k = 0; k < n; k++) {
                check_mirror(&longs, &longs.intents[k], &mirror, &mirror.intents[k]);
                entries += longs.intents[k].kind == INTENT_ENTER;
                exits += longs.intents[k].kind == INTENT_EXIT;
            }
            turns += check_both(&both, &outputs, values, turning);
        }
    }
    printf("%s: %zu entries, %zu exits, %zu turns\n", name, entries, exits, turns);
    CHECK(entries > 20 && (!turning || (exits > 20 && turns > 5)));
}

int main(void)
{
    struct random random = random_seeded("strategy/direction", 32);
    static const char *const turning[] = {"binance-day-trade",  "sma-cross",   "sma-cross-rsi",
                                          "sma-cross-rsi-risk", "trend-4h-1h", "triple-confirmation"};
    for (size_t i = 0; i < sizeof turning / sizeof *turning; i++)
        test_strategy(&random, turning[i], true);
    test_strategy(&random, "buy-and-hold", false);
    test_strategy(&random, "day-trade", false); /* one entry a session */
    return check_done("strategy/direction");
}

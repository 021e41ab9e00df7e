/* scan() against on_bar(), of every strategy that has one: on random columns, a bar that is left out is one
 * at which on_bar() wants nothing and remembers nothing, whatever the account; and a mark rests on no later
 * bar. */
#include <string.h>

#include "engine/specs.h"
#include "tests/random.h"
#include "tests/strategy/ask.h"

enum { BARS_MAX = 1000, WORDS = BARS_MAX / 64 + 2, ROUNDS = 60, ACCOUNTS = 4 };

#define MINUTE_NS 60000000000LL

static double store[ASK_VALUES_MAX][BARS_MAX + 1], prices[5][BARS_MAX + 1];
static int64_t opens[BARS_MAX + 1];

struct table {
    struct strategy_columns columns;
    const double *outputs[ASK_VALUES_MAX];
    size_t n_outputs;
};

static double random_share(struct random *random)
{
    return (double)random_between(random, 0, 1000000) / 1e6;
}

/* Levels that meet, cross and stay; oscillators on and around the bounds. */
static double value_at(struct random *random, double before, int kind)
{
    if (isnan(before))
        before = 0;
    if (kind == 0)
        return before + (double)random_between(random, -1, 1);
    return random_chance(random, 50) ? before : (double)random_between(random, 0, 20) * 5;
}

static void fill(struct random *random, struct table *table, size_t n)
{
    for (size_t k = 0; k < table->n_outputs; k++) {
        size_t warm = (size_t)random_between(random, 0, (int64_t)n / 4);
        int kind = (int)random_between(random, 0, 1);
        for (size_t i = 0; i < n; i++)
            store[k][i] = i < warm ? NAN : value_at(random, i > 0 ? store[k][i - 1] : 0, kind);
        table->outputs[k] = store[k];
    }
    for (size_t i = 0; i < n; i++) {
        opens[i] = (int64_t)i * MINUTE_NS;
        for (size_t k = 0; k < 5; k++)
            prices[k][i] = 100;
    }
    table->columns = (struct strategy_columns){n,         MINUTE_NS, opens,     prices[0],     prices[1],
                                               prices[2], prices[3], prices[4], table->outputs};
}

static void random_params(struct random *random, struct ask *ask)
{
    const struct strategy *strategy = ask->strategy;
    do {
        for (size_t k = 0; k < strategy->n_params; k++) {
            const struct strategy_param *param = &strategy->params[k];
            double most = fmin(param->max, 100),
                   value = param->min + random_share(random) * (most - param->min);
            if (param->integer || random_chance(random, 30))
                value = fmax(floor(value), param->min);
            ask->params[k] = value;
        }
    } while (strategy->check && strategy->check(ask->params));
}

static void random_account(struct random *random, struct ask *ask)
{
    ask->input.shorts = random_chance(random, 70);
    ask->input.qty = random_chance(random, 50)                        ? 0
                     : ask->input.shorts && random_chance(random, 50) ? -1.5
                                                                      : 1.5;
    ask->input.live_orders = random_chance(random, 20);
    ask->input.positions = (int)random_between(random, 0, 4);
    ask->input.symbols = (int)random_between(random, 1, 5);
    ask->record.wins = random_chance(random, 10);
    ask->record.losing = ask->record.losses = random_chance(random, 10);
}

static bool is_set(const uint64_t *words, size_t i)
{
    return words[i / 64] >> (i % 64) & 1;
}

struct counts {
    size_t bars, marked, acted;
};

static void compare(struct random *random, struct ask *ask, const struct table *table,
                    const struct strategy_marks *marks, struct counts *counts)
{
    unsigned char before[STRATEGY_STATE_SIZE];
    for (size_t i = 0; i < table->columns.n; i++) {
        double values[ASK_VALUES_MAX];
        for (size_t k = 0; k < table->n_outputs; k++)
            values[k] = store[k][i];
        ask->input.ts_ns = opens[i] + MINUTE_NS;
        random_account(random, ask);
        memcpy(before, ask->state, sizeof before);
        size_t n = ask_values(ask, table->n_outputs, values);
        double qty = ask->input.qty;
        bool marked = is_set(qty == 0 ? marks->flat : qty > 0 ? marks->holding : marks->shorted, i);
        CHECK(marked || (n == 0 && memcmp(before, ask->state, sizeof before) == 0));
        counts->bars++;
        counts->marked += marked;
        counts->acted += n;
    }
}

/* Bars after `keep` change: the marks up to it must not, nor may anything be written past the words. */
static void look_ahead(struct random *random, const struct ask *ask, struct table *table,
                       const struct strategy_marks *marks)
{
    size_t n = table->columns.n, keep = (size_t)random_between(random, 0, (int64_t)n - 1);
    uint64_t words[3][WORDS] = {0};
    const struct strategy_marks again = {words[0], words[1], words[2]};
    for (size_t k = 0; k < table->n_outputs; k++)
        for (size_t i = keep + 1; i < n; i++)
            store[k][i] = value_at(random, store[k][i - 1], 0);
    if (random_chance(random, 50))
        table->columns.n = keep + 1;
    ask->strategy->scan(ask->params, &table->columns, &again);
    for (size_t i = 0; i <= keep; i++)
        CHECK(is_set(marks->flat, i) == is_set(again.flat, i) &&
              is_set(marks->holding, i) == is_set(again.holding, i) &&
              is_set(marks->shorted, i) == is_set(again.shorted, i));
}

static void test_strategy(struct random *random, const struct strategy *strategy)
{
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, BARS_MAX};
    struct counts counts = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct table table;
        struct ask ask = ask_new(strategy->name);
        ask.loose = true;
        struct runner_spec specs[STRATEGY_SPECS_MAX];
        size_t n_specs;
        char err[SPECS_ERROR_MAX];
        CHECK_INT(engine_runner_specs(strategy, ask.params, MINUTE_NS, specs, &n_specs, err), 0);
        table.n_outputs = engine_runner_outputs(specs, n_specs);
        CHECK(table.n_outputs <= ASK_VALUES_MAX);
        if (round > 0)
            random_params(random, &ask);
        size_t n = sizes[round % (int)(sizeof sizes / sizeof *sizes)];
        fill(random, &table, n);
        uint64_t words[5][WORDS] = {0};
        const struct strategy_marks marks = {words[0], words[1], words[2]};
        strategy->scan(ask.params, &table.columns, &marks);
        for (size_t i = n; i < (size_t)WORDS * 64; i++)
            CHECK(!is_set(marks.flat, i) && !is_set(marks.holding, i) && !is_set(marks.shorted, i));
        /* Without shorts the other two are the same. */
        strategy->scan(ask.params, &table.columns, &(struct strategy_marks){words[3], words[4], NULL});
        CHECK(memcmp(words[0], words[3], 2 * sizeof words[0]) == 0);
        for (int k = 0; k < ACCOUNTS; k++) {
            memset(ask.state, 0, STRATEGY_STATE_SIZE);
            compare(random, &ask, &table, &marks, &counts);
        }
        if (n > 0)
            look_ahead(random, &ask, &table, &marks);
    }
    printf("%s: %zu bars, %zu marked, %zu intents\n", strategy->name, counts.bars, counts.marked,
           counts.acted);
    CHECK(counts.acted > 100 && counts.marked < counts.bars * 9 / 10);
}

int main(void)
{
    struct random random = random_seeded("strategy/scan", 20261121);
    size_t n, scanned = 0;
    const struct strategy *const *all = strategy_list(&n);
    for (size_t i = 0; i < n; i++) {
        if (!all[i]->scan)
            continue;
        test_strategy(&random, all[i]);
        scanned++;
    }
    CHECK(scanned >= 5);
    return check_done("strategy/scan");
}

/* The screen's kernels as block functions (indicators_gpu/cuda/block.h): a thread a parameter set, which
 * walks the bars with the rules of kernel.h and account.h on a group of one. A screen on the CPU whose
 * vectors have one lane does the same operations in the same stretches, so rows have its bits (powers of
 * figures.h apart, to the last ones).
 *
 * A thread reads its columns at each bar: [bar][column], sets sorted by their columns, so that a warp reads
 * neighbours or one value. What all threads read of a stretch's bars is a tile in shared memory. Accounts lie
 * in a thread's local memory and are touched where it trades and at a stretch's end; position and sums of a
 * stretch are registers. */
#ifndef ENGINE_BACKTEST_SCREEN_CUDA_BLOCKS_H
#define ENGINE_BACKTEST_SCREEN_CUDA_BLOCKS_H

#ifndef SCREEN_ALONE
#ifdef ENGINE_BACKTEST_SCREEN_LANES_H
#error "first of the screen's headers: groups have one set"
#endif
#define SCREEN_ALONE
#endif

#include <string.h>

#include "engine/backtest/screen/cuda/launch.h"
#include "engine/backtest/screen/kernel.h"
#include "indicators_gpu/cuda/block.h"

/* ---- columns ---- */

/* One chain of additions from each bar on has the sums of all periods, each in the reference's order. */
BLOCK_FN void block_screen_averages(const struct screen_averaging *l, unsigned block)
{
    BLOCK_PHASE(t, AVERAGE_THREADS)
    {
        const size_t start = (size_t)block * AVERAGE_THREADS + t;
        double sum = 0;
        size_t j = 0;
        for (size_t column = 0; column < l->n && start + l->periods[column] <= l->n_bars; column++) {
            const uint32_t period = l->periods[column];
            const size_t bar = start + period - 1;
            for (; j < period; j++)
                sum += l->real[start + j];
            l->columns[bar * l->n_columns + column] = (float)(sum / period - l->real[bar]);
        }
    }
}

struct screen_take_shared {
    double cell[TAKE_SIDE][TAKE_SIDE + 1]; /* one more keeps the rows off each other's banks */
};

/* Loads neighbouring bars of an output, stores neighbouring columns of a bar. */
BLOCK_FN void block_screen_take(const struct screen_taking *l, unsigned block, struct screen_take_shared *sh)
{
    const size_t across = (l->n_bars + TAKE_SIDE - 1) / TAKE_SIDE;
    const size_t bar = block % across * TAKE_SIDE, take = block / across * TAKE_SIDE;
    BLOCK_PHASE(t, TAKE_THREADS)
    {
        for (unsigned k = t; k < TAKE_SIDE * TAKE_SIDE; k += TAKE_THREADS) {
            const size_t i = bar + k % TAKE_SIDE, j = take + k / TAKE_SIDE;
            if (i < l->n_bars && j < l->n)
                sh->cell[k / TAKE_SIDE][k % TAKE_SIDE] = l->outputs[l->takes[j].from * l->stride + i];
        }
    }
    BLOCK_PHASE(t, TAKE_THREADS)
    {
        for (unsigned k = t; k < TAKE_SIDE * TAKE_SIDE; k += TAKE_THREADS) {
            const size_t i = bar + k / TAKE_SIDE, j = take + k % TAKE_SIDE;
            if (i >= l->n_bars || j >= l->n)
                continue;
            const double value = sh->cell[k % TAKE_SIDE][k / TAKE_SIDE];
            const struct screen_take *of = &l->takes[j];
            if (of->kind == TAKE_WIDE)
                l->wide[of->to * l->n_bars + i] = value;
            else
                l->columns[i * l->n_columns + of->to] =
                    (float)(of->kind == TAKE_DISTANCE ? value - l->real[i] : value);
        }
    }
}

/* ---- a set and the bars ---- */

/* Of a stretch: closes less its reference, lows and highs. */
struct screen_tile {
    float closes[SCREEN_STRETCH], lows[SCREEN_STRETCH], highs[SCREEN_STRETCH];
};

BLOCK_FN void screen_take_case(const struct screen_terms *terms, const struct screen_case *of,
                               struct screen_group *g)
{
    struct screen_account *account = &g->accounts[0];
    screen_start(terms, g, 0);
    g->active = 1;
    g->set[0] = of->set;
    g->first[0] = g->warm = of->first;
    BLOCK_UNROLL
    for (int role = 0; role < SCREEN_ROLES; role++)
        g->column[role][0] = of->column[role];
    g->rsi_low[0] = of->rsi_low;
    g->rsi_high[0] = of->rsi_high;
    account->atr = of->atr;
    account->want = of->want;
    account->fraction = of->fraction;
    account->rsi_max = of->rsi_max;
    account->stop_atr = of->stop_atr;
    account->profit_atr = of->profit_atr;
    account->risk = of->risk;
    account->fraction_max = of->fraction_max;
}

/* What a rule reads at each bar, and where it is read: a bar further after each reading. */
struct screen_values {
    float fast, slow, rsi, hist;
};
struct screen_reader {
    const float *fast, *slow, *rsi, *hist;
    size_t step;
};

BLOCK_FN struct screen_reader screen_reader(const struct screen_bars *bars, size_t i,
                                            const struct screen_group *g)
{
    const float *row = bars->columns + i * bars->bar_step;
    struct screen_reader reader = {row + g->column[ROLE_FAST][0], row + g->column[ROLE_SLOW][0],
                                   row + g->column[ROLE_RSI][0], row + g->column[ROLE_HIST][0],
                                   bars->bar_step};
    return reader;
}

BLOCK_FN struct screen_values screen_read(struct screen_reader *reader, const enum screen_rule rule)
{
    struct screen_values values = {*reader->fast, *reader->slow, 0, 0};
    reader->fast += reader->step;
    reader->slow += reader->step;
    if (rule != SCREEN_TRIPLE)
        return values;
    values.rsi = *reader->rsi;
    values.hist = *reader->hist;
    reader->rsi += reader->step;
    reader->hist += reader->step;
    return values;
}

/* Of a set, as all bars of a stretch are asked about it: what a call out of line would make it read again. */
struct screen_asked {
    unsigned from; /* the stretch's bar at which all its indicators have a value */
    float rsi_low, rsi_high;
};

/* As screen_sign() has them of all bars of a stretch. */
BLOCK_FN struct screen_conditions screen_look(const struct screen_stretch *stretch, unsigned i,
                                              const struct screen_group *g, const struct screen_asked *asked,
                                              const struct screen_values *values, const enum screen_rule rule)
{
    const unsigned known = i >= asked->from;
    struct screen_sides sides = {known & (unsigned)(values->fast > values->slow),
                                 known & (unsigned)(values->slow > values->fast)};
    if (known & ~(sides.up | sides.down))
        sides = screen_ties(stretch->bars, stretch->from + i, g, 0, 1);
    if (rule == SCREEN_TRIPLE)
        return screen_agree(sides, asked->rsi_low, asked->rsi_high, values->rsi, values->hist, known);
    struct screen_conditions conditions = {sides.up, sides.down, 0};
    return conditions;
}

BLOCK_FN struct screen_asked screen_ask(const struct screen_stretch *stretch, const struct screen_group *g)
{
    const size_t first = g->first[0], at = stretch->bars->first + stretch->from;
    struct screen_asked asked = {first > at ? (unsigned)(first - at) : 0, g->rsi_low[0], g->rsi_high[0]};
    return asked;
}

/* screen_walk() of one set, bar by bar: the next bar's values are on their way while this one's are used. One
 * bar is read beyond the last. */
BLOCK_FN void screen_alone(const struct screen_stretch *stretch, const struct screen_tile *tile,
                           struct screen_group *g, const enum screen_rule rule, const bool brackets)
{
    const unsigned n = (unsigned)(stretch->to - stretch->from);
    screen_refer(stretch, g);
    const struct screen_asked asked = screen_ask(stretch, g);
    struct screen_reader reader = screen_reader(stretch->bars, stretch->from, g);
    struct screen_signal signal = {g->enter, g->leave, g->below};
    struct screen_position position = screen_position(g, 0);
    struct screen_sums sums = screen_begin(g, 0);
    struct screen_values next = screen_read(&reader, rule);
    BLOCK_ROLLED
    for (unsigned i = 0; i < n; i++) {
        const struct screen_values values = next;
        unsigned trades = signal.enter | signal.leave;
        next = screen_read(&reader, rule);
        if (brackets)
            trades |= screen_hits(&position, tile->lows[i], tile->highs[i]);
        if (trades) {
            g->entering = signal.enter;
            g->leaving = signal.leave;
            screen_trades(stretch, i, g, 0, trades, brackets);
            screen_took(g, 0, trades, brackets, &position);
        }
        if (position.held | trades)
            screen_close(&sums, &position, tile->closes[i], true);
        screen_signal(screen_look(stretch, i, g, &asked, &values, rule), position.held, rule, &signal);
        if (rule != SCREEN_CROSS && signal.enter)
            signal.enter = screen_decide(stretch, stretch->from + i, g, 0, signal.enter, rule);
    }
    screen_end(g, 0, stretch->block, &sums, true);
    g->enter = signal.enter;
    g->leave = signal.leave;
    g->below = signal.below;
}

/* screen_warm() of one set: before the first traded bar. */
BLOCK_FN void screen_alone_warm(const struct screen_stretch *stretch, struct screen_group *g,
                                const enum screen_rule rule)
{
    const unsigned n = (unsigned)(stretch->to - stretch->from);
    const struct screen_asked asked = screen_ask(stretch, g);
    struct screen_reader reader = screen_reader(stretch->bars, stretch->from, g);
    struct screen_signal signal = {0, 0, g->below};
    for (unsigned i = 0; i < n; i++) {
        const struct screen_values values = screen_read(&reader, rule);
        screen_signal(screen_look(stretch, i, g, &asked, &values, rule), 0, rule, &signal);
    }
    g->below = signal.below;
}

BLOCK_FN void screen_fill_tile(const struct screen_stretch *stretch, unsigned t, struct screen_tile *tile)
{
    const struct screen_bars *bars = stretch->bars;
    for (size_t i = stretch->from + t; i < stretch->to; i += SCREEN_THREADS) {
        tile->closes[i - stretch->from] = (float)(bars->close[i] - stretch->reference);
        tile->lows[i - stretch->from] = bars->lows[i];
        tile->highs[i - stretch->from] = bars->highs[i];
    }
}

BLOCK_FN void block_screen_walk(const struct screen_launch *l, const enum screen_rule rule, unsigned block,
                                struct screen_tile *sh)
{
    const bool brackets = rule != SCREEN_CROSS;
    const size_t first = (size_t)block * SCREEN_THREADS;
    struct screen_stretch stretch;
    BLOCK_OWN(struct screen_group, own, SCREEN_THREADS);
    memset(&stretch, 0, sizeof stretch);
    stretch.terms = &l->terms;
    stretch.bars = &l->bars;
    stretch.closes = sh->closes;
    BLOCK_PHASE(t, SCREEN_THREADS)
    {
        memset(&BLOCK_MINE(own, t), 0, sizeof BLOCK_MINE(own, t));
        if (first + t < l->n)
            screen_take_case(&l->terms, &l->cases[first + t], &BLOCK_MINE(own, t));
    }
    for (stretch.from = 0; stretch.from < l->cuts.n; stretch.from = stretch.to) {
        stretch.to = screen_cut(&l->cuts, stretch.from, &stretch.block);
        stretch.reference = l->bars.close[stretch.from > 0 ? stretch.from - 1 : 0];
        BLOCK_PHASE(t, SCREEN_THREADS)
        {
            screen_fill_tile(&stretch, t, sh);
        }
        BLOCK_PHASE(t, SCREEN_THREADS)
        {
            if (first + t >= l->n)
                continue;
            if (stretch.from >= l->cuts.from)
                screen_alone(&stretch, sh, &BLOCK_MINE(own, t), rule, brackets);
            else
                screen_alone_warm(&stretch, &BLOCK_MINE(own, t), rule);
        }
    }
    BLOCK_PHASE(t, SCREEN_THREADS)
    {
        if (first + t >= l->n)
            continue;
        screen_figures(&l->terms, &l->span, &BLOCK_MINE(own, t), 0, &l->rows[first + t]);
        l->rows[first + t].state = SCREEN_RUN;
    }
}

/* ---- the best of them ---- */

struct screen_order_shared {
    struct screen_ranked ranked[RANK_ROWS];
    struct screen_luck luck[RANK_THREADS];
};

/* A step of the bitonic sort: pairs `apart`, in runs of 2 * `run` that fall and rise by turns. */
BLOCK_FN void screen_order_pair(struct screen_ranked *ranked, unsigned k, unsigned run, unsigned apart)
{
    const unsigned i = 2 * apart * (k / apart) + k % apart;
    const bool falls = (i & run) == 0;
    struct screen_ranked a = ranked[i], b = ranked[i + apart];
    if (screen_ranked_before(&b, &a) == falls) {
        ranked[i] = b;
        ranked[i + apart] = a;
    }
}

BLOCK_FN void block_screen_order(const struct screen_order *l, unsigned block, struct screen_order_shared *sh)
{
    const size_t first = (size_t)block * RANK_ROWS;
    BLOCK_PHASE(t, RANK_THREADS)
    {
        struct screen_luck luck = {0, 0, 0};
        for (unsigned k = t; k < RANK_ROWS; k += RANK_THREADS) {
            struct screen_ranked ranked = {-INFINITY, UINT32_MAX, 0};
            if (first + k < l->n) {
                const struct screen_row *row = &l->rows[first + k];
                const double sharpe = screen_row_sharpe(&l->by, row);
                luck.n += 1;
                luck.sum += sharpe;
                luck.squares += sharpe * sharpe;
                ranked.key = screen_key(&l->by, row);
                ranked.at = (uint32_t)(first + k);
            }
            sh->ranked[k] = ranked;
        }
        sh->luck[t] = luck;
    }
    BLOCK_PHASE(t, RANK_THREADS)
    {
        struct screen_luck luck = {0, 0, 0};
        if (t > 0)
            continue;
        for (unsigned k = 0; k < RANK_THREADS; k++) {
            luck.n += sh->luck[k].n;
            luck.sum += sh->luck[k].sum;
            luck.squares += sh->luck[k].squares;
        }
        l->luck[block] = luck;
    }
    for (unsigned run = 2; l->ranked && run <= RANK_ROWS; run *= 2)
        for (unsigned apart = run / 2; apart > 0; apart /= 2) {
            BLOCK_PHASE(t, RANK_THREADS)
            {
                for (unsigned k = t; k < RANK_ROWS / 2; k += RANK_THREADS)
                    screen_order_pair(sh->ranked, k, run, apart);
            }
        }
    BLOCK_PHASE(t, RANK_THREADS)
    {
        for (size_t k = t; l->ranked && k < l->keep; k += RANK_THREADS)
            l->ranked[block * l->keep + k] = sh->ranked[k];
    }
}

#endif

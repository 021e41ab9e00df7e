#include "trainer/study/fit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "exchange/fail.h"

#define say(err, ...) fail_with(-EINVAL, err, STUDY_FIT_ERROR_MAX, __VA_ARGS__)

/* Fewer returns have no deviation. */
enum { HOLDOUT_LEAST = 2, GROUP_LEAST = 2 };
/* More rows than any market has. */
#define ROWS_MOST ((size_t)1 << 40)

static const char *const candidates[] = {"cpcv:5,2", "kfold:5", "kfold:4", "walk-forward:1"};
enum { N_CANDIDATES = sizeof candidates / sizeof *candidates };

const char *study_split_text(const struct study_split *split, char buf[static STUDY_SPLIT_TEXT_MAX])
{
    static const char *const names[] = {"cpcv", "kfold", "walk-forward"};
    int n = snprintf(buf, STUDY_SPLIT_TEXT_MAX, "%s:%d", names[split->kind],
                     split->kind == SPLIT_WALK_FORWARD ? split->combinations : split->groups);
    if (split->kind == SPLIT_CPCV)
        snprintf(buf + n, STUDY_SPLIT_TEXT_MAX - (size_t)n, ",%d", split->tested);
    return buf;
}

/* ---- Rows. ---- */

static size_t least_episode(const struct study_demand *demand)
{
    return 2 * demand->lookback + 1;
}

static size_t usable(const struct study_demand *demand)
{
    size_t ends = demand->first + 2 * demand->lookback;
    return demand->rows > ends ? demand->rows - ends : 0;
}

static size_t gap_of(const struct study_demand *demand)
{
    size_t gap = demand->purge + demand->embargo;
    return gap > demand->lookback ? gap : demand->lookback;
}

void study_fit_lay_out(const struct study_demand *demand, struct study_fit *ret)
{
    const size_t all = usable(demand), from = demand->first + demand->lookback, to = from + all;
    const size_t held = (size_t)llround((double)all * demand->holdout), gap = held > 0 ? gap_of(demand) : 0;
    struct study_fit fit = {.needed = demand->episode > least_episode(demand) ? demand->episode
                                                                              : least_episode(demand)};
    fit.lack = all == 0                                      ? STUDY_LACK_ROWS
               : demand->holdout > 0 && held < HOLDOUT_LEAST ? STUDY_LACK_HOLDOUT
               : held + gap >= all                           ? STUDY_LACK_SEARCH
                                                             : STUDY_LACK_NOTHING;
    fit.gap = gap;
    fit.holdout = (struct split_rows){to - (held < all ? held : all), to};
    fit.search = (struct split_rows){from, held + gap < all ? to - held - gap : from};
    if (fit.lack == STUDY_LACK_NOTHING &&
        (fit.search.to - fit.search.from) / (size_t)(demand->split.groups + 1) < GROUP_LEAST)
        fit.lack = STUDY_LACK_GROUPS;
    *ret = fit;
}

/* ---- Splits. ---- */

static void take(struct study_extent *extent, size_t rows)
{
    extent->least = extent->most == 0 || rows < extent->least ? rows : extent->least;
    extent->most = rows > extent->most ? rows : extent->most;
}

/* The longest of the blocks; of them all, `extent` too. */
static size_t take_blocks(const struct split_rows *blocks, int n, struct study_extent *extent,
                          size_t *ret_sum)
{
    size_t longest = 0;
    *ret_sum = 0;
    for (int i = 0; i < n; i++) {
        size_t rows = blocks[i].to - blocks[i].from;
        take(extent, rows);
        longest = rows > longest ? rows : longest;
        *ret_sum += rows;
    }
    return longest;
}

void study_fit_splits(const struct study_demand *demand, study_fit_training *training, const void *ctx,
                      struct study_fit *fit)
{
    const struct study_split *split = &demand->split;
    const size_t rows = fit->search.to - fit->search.from;
    int chosen[SPLIT_GROUPS_MAX], which = 1;
    fit->longest = SIZE_MAX;
    split_begin(split, chosen);
    do {
        struct split_rows blocks[SPLIT_BLOCKS_MAX], tested[SPLIT_GROUPS_MAX];
        size_t sum;
        int n = training ? training(ctx, chosen, blocks)
                         : split_training(split, rows, chosen, demand->purge, demand->embargo, blocks);
        size_t longest = take_blocks(blocks, n, &fit->block, &sum);
        take(&fit->train, sum);
        take_blocks(tested, split_blocks(split, rows, chosen, tested), &fit->test, &sum);
        if (longest < fit->longest) {
            fit->longest = longest;
            fit->split = which;
        }
        which++;
    } while (split_next(split, chosen));
    fit->lack = fit->longest < fit->needed ? STUDY_LACK_BLOCK : STUDY_LACK_NOTHING;
}

struct study_fit study_fit_of(const struct study_demand *demand)
{
    struct study_fit fit;
    study_fit_lay_out(demand, &fit);
    if (fit.lack == STUDY_LACK_NOTHING)
        study_fit_splits(demand, NULL, NULL, &fit);
    return fit;
}

/* ---- What would be right. ---- */

static bool fits_with(const struct study_demand *demand, size_t more)
{
    struct study_demand larger = *demand;
    larger.rows += more;
    return study_fit_of(&larger).lack == STUDY_LACK_NOTHING;
}

size_t study_fit_more_rows(const struct study_demand *demand)
{
    size_t low = 0, high = 1;
    if (fits_with(demand, 0))
        return 0;
    for (; !fits_with(demand, high); high *= 2) {
        if (high >= ROWS_MOST)
            return SIZE_MAX;
        low = high;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(fits_with(demand, middle) ? &high : &low) = middle;
    }
    return high;
}

bool study_fit_auto(const struct study_demand *demand, struct study_split *ret)
{
    for (size_t i = 0; i < N_CANDIDATES; i++) {
        struct study_demand with = *demand;
        char err[SPLIT_ERROR_MAX];
        if (split_parse(candidates[i], &with.split, err) < 0)
            continue;
        *ret = with.split;
        if (fits_with(&with, 0))
            return true;
    }
    return false;
}

/* ---- Words. ---- */

enum { PART_MAX = 256 };

/* "195 rows more", "no number of rows". */
static void more_text(const struct study_demand *demand, char buf[static PART_MAX])
{
    size_t more = study_fit_more_rows(demand);
    if (more == SIZE_MAX)
        snprintf(buf, PART_MAX, "no number of rows suffices:");
    else
        snprintf(buf, PART_MAX, "%zu row%s more", more, more == 1 ? "" : "s");
}

/* Where the rows go. */
static void spent_text(const struct study_demand *demand, const struct study_fit *fit,
                       char buf[static PART_MAX])
{
    snprintf(
        buf, PART_MAX,
        "of %zu rows warm-up takes %zu, lookback %zu at each end, holdout %zu, purge and embargo before it "
        "%zu, which leaves %zu",
        demand->rows, demand->first, demand->lookback, fit->holdout.to - fit->holdout.from, fit->gap,
        fit->search.to - fit->search.from);
}

static int refuse_block(const struct study_demand *demand, const struct study_fit *fit, char *err)
{
    char split[STUDY_SPLIT_TEXT_MAX], other[STUDY_SPLIT_TEXT_MAX], more[PART_MAX], spent[PART_MAX],
        instead[PART_MAX] = "";
    const bool long_episode = demand->episode > least_episode(demand);
    const bool shorter = long_episode && fit->longest >= least_episode(demand);
    struct study_split fitting;
    int n = 0;
    study_split_text(&demand->split, split);
    more_text(demand, more);
    spent_text(demand, fit, spent);
    if (study_fit_auto(demand, &fitting))
        n = snprintf(instead, sizeof instead, ", validation = %s", study_split_text(&fitting, other));
    if (shorter)
        snprintf(instead + n, sizeof instead - (size_t)n, ", episode_bars of at most %zu", fit->longest);
    if (shorter && demand->searched)
        return say(
            err,
            "[search] episode_bars: %zu: split %d of %s trains on blocks of at most %zu rows; %s, with a "
            "purge of %zu and an embargo of %zu in each split: at most %zu, or %s, is right",
            demand->episode, fit->split, split, fit->longest, spent, demand->purge, demand->embargo,
            fit->longest, more);
    return say(
        err,
        "[study] validation: %s: split %d trains on blocks of at most %zu rows, and an episode needs %zu "
        "(%s): %zu too few; %s, with a purge of %zu and an embargo of %zu in each split: %s%s%s would be "
        "right",
        split, fit->split, fit->longest, fit->needed, long_episode ? "episode_bars" : "2 * lookback + 1",
        fit->needed - fit->longest, spent, demand->purge, demand->embargo, more, instead,
        instead[0] ? ": one of these" : "");
}

int study_fit_refuse(const struct study_demand *demand, const struct study_fit *fit,
                     char err[static STUDY_FIT_ERROR_MAX])
{
    char more[PART_MAX], split[STUDY_SPLIT_TEXT_MAX];
    const size_t rows = fit->search.to - fit->search.from;
    more_text(demand, more);
    switch (fit->lack) {
    case STUDY_LACK_ROWS:
        if (demand->first >= demand->rows) /* how long the warm-up is, these rows do not show */
            return say(err, "[data] bars: %zu rows: in no row do all features have a value: more are needed",
                       demand->rows);
        return say(err,
                   "[data] bars: %zu rows: the slowest feature has its first value after %zu, and lookback "
                   "takes %zu at each end: %s would be right",
                   demand->rows, demand->first, demand->lookback, more);
    case STUDY_LACK_HOLDOUT:
        return say(
            err,
            "[study] holdout: %.4g: of %zu rows that is %zu, and a verdict needs %d: 0, or %.4g, is right",
            demand->holdout, usable(demand), fit->holdout.to - fit->holdout.from, HOLDOUT_LEAST,
            (double)HOLDOUT_LEAST / (double)usable(demand));
    case STUDY_LACK_SEARCH:
        return say(
            err,
            "[study] holdout: %.4g: of %zu rows that, and %zu of purge and embargo, leave none to search "
            "on: fewer, or %s, would be right",
            demand->holdout, usable(demand), fit->gap, more);
    case STUDY_LACK_GROUPS:
        return say(err,
                   "[study] validation: %s: %zu rows are too few for %d groups: fewer, or %s, would be right",
                   study_split_text(&demand->split, split), rows, demand->split.groups, more);
    case STUDY_LACK_BLOCK:
        return refuse_block(demand, fit, err);
    case STUDY_LACK_NOTHING:
        break;
    }
    return say(err, "[study] validation: nothing lacks");
}

/* Which rows of a market a training learns from, which it chooses its policy by, and which judge that policy:
 * by the times of [data], or, where it gives none, by its shares. */
#ifndef TRAINER_TRAINING_RANGES_H
#define TRAINER_TRAINING_RANGES_H

#include "engine/market/market.h"
#include "trainer/config.h"

enum { RANGES_ERROR_MAX = MARKET_ERROR_MAX };

/* Rows [from, to) of the market; to 0: none. */
struct source_rows {
    size_t from, to;
};

struct training_ranges {
    struct source_rows train, validation, test;
    struct source_rows fit; /* of features */
};

/* Bars between what is trained on and what is tested, so that neither an observation nor an order of the one
 * reaches into the other: what an observation shows, what the environment remembers, and the bar at whose
 * opening the last order fills. */
size_t training_purge(size_t lookback, size_t forced_exit_bars, size_t cooldown_bars);

/* In shares: of the n rows in which all symbols are listed the newest round(n * test_share) are tested, those
 * before, less a purge, round(n * validation_share) validate, and the rest, less a purge, is trained on;
 * `whole`: all are. 0; -EINVAL with a sentence: a range without bars, by its key and the bars' own times; too
 * few rows, by their number. */
int training_ranges_find(const struct market *market, const struct train_config *config, bool whole,
                         struct training_ranges *ret, char err[static RANGES_ERROR_MAX]);

#endif

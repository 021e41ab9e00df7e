/* Places the bars of several sources on one grid. */
#ifndef ENGINE_MARKET_GRID_H
#define ENGINE_MARKET_GRID_H

#include "engine/market/market.h"
#include "exchange/bars_file.h"

enum { MARKET_ORIGIN_MAX = 256 };

/* Where a file's bars begin among those of its symbol. */
struct market_part {
    char origin[MARKET_ORIGIN_MAX];
    size_t first;
};

/* One symbol's bars. The caller who fills one finishes it: market_store_sources_finish(). */
struct market_source {
    char origin[MARKET_ORIGIN_MAX]; /* a file's path, or what else to name in a message; of several files the
                                     * one with most digits in its prices */
    struct market_part *parts;      /* [n_parts] of several files, else NULL */
    size_t n_parts;
    size_t file; /* its first place in the lists of market_terms */
    struct symbol symbol;
    struct bars_file bars; /* its interval_ns 0: not known, as with a single bar */
    int rounded_digits;    /* that its prices had before they were rounded to bars.price_digits; 0: none */
};

/* The sentence on two sources whose intervals differ. -EINVAL. */
int market_store_intervals_differ(const struct market_source *a, const struct market_source *b,
                                  char err[static MARKET_ERROR_MAX]);

void market_store_sources_finish(struct market_source *sources, int n);

/* Gives bars without a session that of options->calendar (sessions.c), except where a venue lists the symbol
 * without a calendar: files' have theirs already. 0; -EINVAL for a bar beyond its range, -ENOMEM, with the
 * sentence. */
int market_store_sessions(struct market_source *source, const struct market_options *options,
                          char err[static MARKET_ERROR_MAX]);

/* Is that bar among those that are wanted? */
static inline bool market_source_takes(const struct market_source *source, enum session_choice choice,
                                       size_t k)
{
    return !source->bars.session || session_takes(choice, (enum bar_session)source->bars.session[k]);
}

/* Makes the market. Bars are freed one symbol after the other as they are placed, so that memory holds them
 * once; the caller still finishes the sources. options->from_ns, to_ns, interval_ns, calendar, session,
 * keep_straddling and threads count. Returns as market_store_load_files(). */
int market_store_build(struct market_source *sources, int n, const struct market_options *options,
                       struct market **ret, char err[static MARKET_ERROR_MAX]);

/* Several files of one symbol, as an archive has them by month or by day, are one series (join.c).
 *
 * Makes one source of all that have the same bars.symbol, at the place of the first of them, with the bars in
 * the order of their time, in whatever order the files are; *n counts what is left. Each has at least one
 * bar. interval_ns: what the caller says that they have, or 0. 0; -EINVAL for files that overlap, have
 * different intervals or were given different terms, -ENOMEM, with the sentence; sources are still to be
 * finished. */
int market_store_join(struct market_source *sources, int *n, int64_t interval_ns,
                      const struct market_terms *terms, char err[static MARKET_ERROR_MAX]);

#endif

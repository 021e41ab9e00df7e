/* What an environment trades on (trainer/env/market.h), from the market store: turns a market of
 * market_store_load_files() or db_market_load(), or of market_store_compact(), into the columns of an
 * environment's source and the features that a policy sees, computed once. */
#ifndef TRAINER_DATA_H
#define TRAINER_DATA_H

#include "engine/market/features.h"
#include "strategy/policy/observation.h"
#include "strategy/policy/session_columns.h"
#include "trainer/env/market.h"

enum { TRAINER_DATA_ERROR_MAX = MARKET_ERROR_MAX, TRAINER_DATA_NOTE_MAX = 256 };

struct trainer_data;

/* Zeroed: all rows of the grid, closes and volumes, least quantities of 0. */
struct trainer_data_options {
    size_t from, rows; /* rows [from, from + rows) of the market; rows 0: to its end */

    /* Leave out rows in which any symbol has no bar, and count the others consecutively from `from` on, as
     * the reference environment does (ENV_REFERENCE takes no missing bars). Without it a missing bar is a row
     * that is marked as missing. */
    bool common;

    /* NULL: the closes, then the volumes. Else the name of a set that is built in (market14, wide110), or the
     * path of a set's text: n_symbols times its features in a row, an asset after the other. */
    const char *features;
    /* A set that is not fitted is fitted for each symbol on its bars in these rows of the market alone, which
     * are required (fit_to > fit_from); it must not see later rows. */
    size_t fit_from, fit_to;
    /* NULL, or [n_symbols] those of `features`, computed before: the set, fitted already or not, is then
     * fitted on the rows of fit_blocks [n_fit_blocks] together and on no other, and only the scaling is
     * computed again. */
    struct market_columns *const *columns;
    const struct feature_rows *fit_blocks;
    size_t n_fit_blocks;
    const char *const *sets; /* NULL, or instead of `features` each symbol's set as its text, fitted */
    enum feature_backend backend;
    /* After those, columns of each row's session by the market's calendar
     * (strategy/policy/session_columns.h); 0: none, without a calendar. The same rows, whatever bars are
     * missing. */
    unsigned session_columns;
    const struct trading_calendar *calendar;

    const double *min_order_qty; /* [n_symbols], units; NULL: 0 each */
    const struct market_options
        *store; /* cache and threads of market_store_features(); NULL: none, one a core */
};

/* Makes it. The market must outlive it. 0, for trainer_data_destroy(); -EINVAL for rows that the market does
 * not have, an invalid set, a set that must be fitted without rows to fit on, or one that has no row in which
 * all features have values; errors of market_store_features() and of reading the set; -ENOMEM; with a
 * sentence "what: where: what would be right". */
int trainer_data_create(const struct market *market, const struct trainer_data_options *options,
                        struct trainer_data **ret, char err[static TRAINER_DATA_ERROR_MAX]);
void trainer_data_destroy(struct trainer_data *data); /* NULL is fine */

/* For env_market_create(), which copies it. In rows of a missing bar, and before first_row, features repeat
 * the last values that there were, or are 0. */
const struct env_market_source *trainer_data_source(const struct trainer_data *data);

/* Bytes that grow with its rows. */
size_t trainer_data_bytes(const struct trainer_data *data);

/* The market's row of a row of the data. */
size_t trainer_data_row(const struct trainer_data *data, size_t row);

/* The features that data of these options has, unscaled, of each symbol: for options->columns of others. Of
 * the options `features` and `backend` count. *ret is [n_symbols], for trainer_columns_close(). Errors as of
 * trainer_data_create(). */
int trainer_columns_open(const struct market *market, const struct trainer_data_options *options,
                         struct market_columns ***ret, char err[static TRAINER_DATA_ERROR_MAX]);
void trainer_columns_close(const struct market *market, struct market_columns **columns); /* NULL is fine */

/* Whether symbols can be traded together in rows [from, to) of the market. 0; -EINVAL: one has no bar there,
 * or two have none of the same row; err names them. */
int trainer_data_check(const struct market *market, size_t from, size_t to,
                       char err[static TRAINER_DATA_ERROR_MAX]);

/* Bars of a symbol that are missing in rows [from, to) of the market, between its first and its last bar;
 * `note` (or NULL) becomes a sentence on them for the user, "" where no bar is missing. */
size_t trainer_data_missing(const struct market *market, int symbol, size_t from, size_t to,
                            char note[TRAINER_DATA_NOTE_MAX]);

/* The set as it was fitted for a symbol, for a policy's file; NULL without a set. */
const struct feature_set *trainer_data_set(const struct trainer_data *data, int symbol);

/* The hash of the observations that an environment of `params` on this data builds, whose assets a policy
 * calls `assets`, in the data's order. 0 or -ENOMEM. */
int trainer_data_observation(const struct trainer_data *data, const struct env_params *params,
                             const struct policy_asset *assets, char ret[static OBSERVATION_HASH_SIZE]);

#endif

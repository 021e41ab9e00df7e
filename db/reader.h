/* Reading papertape.db: beside a running daemon, after one, at any time. Nothing here writes, checkpoints,
 * or holds a lock for longer than one call (or from db_reader_begin to db_reader_end: keep that short).
 *
 * Every query passes rows to a callback; what they point to lives for the call. Queries return 0, or -errno
 * with db_reader_error(). An enumeration's name or a number that this program does not know is -EBADMSG,
 * and the text names the row. */
#ifndef DB_READER_H
#define DB_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/migrate.h"
#include "db/row.h"
#include "exchange/bar.h"
#include "exchange/fill.h"
#include "record/ledger_row.h"

struct db_reader;

/* 0; -ENOENT when there is no database; -ENODATA for an empty one; -EMEDIUMTYPE, -EOVERFLOW as
 * db_schema_check(); -ESTALE when its schema is older (the daemon migrates it when it starts; a saved
 * backtest is run again); -errno. err: one sentence without the path. */
int db_reader_open(const char *path, struct db_reader **ret, char *err, size_t err_size);
void db_reader_close(struct db_reader *reader);

/* The error of the last failed call. */
const char *db_reader_error(const struct db_reader *reader);

/* Queries between these read one snapshot of the database. */
int db_reader_begin(struct db_reader *reader);
void db_reader_end(struct db_reader *reader);

/* Ends a query that runs in another thread, which returns -EINTR; the reader stays usable. */
void db_reader_interrupt(struct db_reader *reader);

/* Each query that takes long ends so, too, while *stop is set, which outlives the reader. */
void db_reader_stop(struct db_reader *reader, const atomic_bool *stop);

/* From now on a row with a value that this program does not know is passed to unread() and left out, in
 * place of ending its query with -EBADMSG: `words` is what db_reader_error() would be, `at` its index among
 * the numbers that a db_list_*() was given, else -1. NULL: such rows end their queries again. */
void db_reader_leave_out(struct db_reader *reader, void (*unread)(void *ctx, int at, const char *words),
                         void *ctx);

/* A number that changes when another connection has changed the database. 0 or -errno. */
int db_reader_version(struct db_reader *reader, int64_t *ret);

/* Symbols by name, accounts by number; NULL or -ENOENT where there is none. Of symbols with the same name
 * from two venues, the one that was seen last. */
int db_reader_symbols(struct db_reader *reader, void (*row)(void *ctx, const struct db_symbol_row *row),
                      void *ctx);
int db_reader_accounts(struct db_reader *reader, void (*row)(void *ctx, const struct db_account_row *row),
                       void *ctx);
int db_reader_symbol(struct db_reader *reader, const char *name, struct db_symbol_row *ret);

/* A value of the table meta into buf; -ENOENT, -ENOSPC. */
int db_reader_meta(struct db_reader *reader, const char *key, char *buf, size_t size);

struct db_price_row {
    const struct db_symbol_row *symbol;
    struct db_price price; /* 0: not known */
};
int db_reader_prices(struct db_reader *reader, void (*row)(void *ctx, const struct db_price_row *row),
                     void *ctx);

struct db_position_row {
    const struct db_account *account;
    const struct db_symbol_row *symbol;
    struct position position;
};
/* All positions that ever were, flat ones too. */
int db_reader_positions(struct db_reader *reader, void (*row)(void *ctx, const struct db_position_row *row),
                        void *ctx);

struct db_equity_point {
    int64_t ts_ns, equity, cash; /* the account's currency_scale */
    int64_t peak;                /* the highest so far: equity / peak - 1 is the drawdown */
    int64_t day_equity;          /* what the UTC day began with, scaled by money in and out; 0: not known */
};
/* An account's equity from `from_ns` on, oldest first, thinned to at most `points`: the last of each of as
 * many equal spans of time. 0 points: all of them. */
int db_reader_equity(struct db_reader *reader, int account, int64_t from_ns, int points,
                     void (*row)(void *ctx, const struct db_equity_point *row), void *ctx);

/* The same of at most so many spans, each by up to four points: the last, the highest, the lowest, and the
 * one furthest below its peak. So no extreme of the curve is left out. */
int db_reader_equity_extremes(struct db_reader *reader, int account, int64_t from_ns, int spans,
                              void (*row)(void *ctx, const struct db_equity_point *row), void *ctx);

/* The first `limit` of an account's points after a time, oldest first: a page of the whole curve. */
int db_reader_equity_after(struct db_reader *reader, int account, int64_t after_ns, int64_t limit,
                           void (*row)(void *ctx, const struct db_equity_point *row), void *ctx);
/* The newest of an account's points before a time. -ENOENT: there is none. */
int db_reader_equity_before(struct db_reader *reader, int account, int64_t before_ns,
                            struct db_equity_point *ret);

struct db_mark_row {
    struct db_mark mark;
    const struct db_account *account;
    const struct db_symbol_row *symbol;
};
/* What positions were valued at, at points of equity at the ends of runs: by account, time and symbol. */
int db_reader_marks(struct db_reader *reader, void (*row)(void *ctx, const struct db_mark_row *row),
                    void *ctx);

/* The deepest fall from a peak that an account's stored points show, as a share: 0 or less. 0; -ENOENT: there
 * is no point. */
int db_reader_drawdown(struct db_reader *reader, int account, double *ret);
/* The interest that an account paid in that asset, by its ledger: in the asset's scale, 0 or more. */
int db_reader_interest(struct db_reader *reader, int account, const char *asset, int64_t *ret);

/* Money put into an account or taken out of it (DEPOSIT, TRANSFER), or its reset (RESET). */
struct db_flow {
    uint64_t id; /* of its ledger row */
    int64_t ts_ns;
    enum ledger_kind kind;
    int64_t amount; /* the currency's scale */
};
/* Of an account's currency, after that ledger row, oldest first. */
int db_reader_flows(struct db_reader *reader, int account, const char *currency, uint64_t after_id,
                    void (*row)(void *ctx, const struct db_flow *row), void *ctx);

struct db_order_row {
    struct order order;                 /* account and symbol: -1 where refused for being unknown */
    const struct db_account *account;   /* NULL when order.account is -1 */
    const struct db_symbol_row *symbol; /* NULL when order.symbol is -1 */
};
struct db_fill_row {
    struct fill fill;
    const struct db_account *account;
    const struct db_symbol_row *symbol;
    bool rate_known; /* false: stored before fee_e6 was */
};
/* limit 0: all, oldest first; else the newest `limit`, newest first. */
int db_reader_orders(struct db_reader *reader, bool only_live, int64_t limit,
                     void (*row)(void *ctx, const struct db_order_row *row), void *ctx);
/* Of one order: 0, -ENOENT or -errno. */
int db_reader_order_state(struct db_reader *reader, uint64_t order, enum order_state *ret);
int db_reader_fills(struct db_reader *reader, int64_t limit,
                    void (*row)(void *ctx, const struct db_fill_row *row), void *ctx);

/* Those with a higher id than `after`, oldest first, at most `limit`. */
int db_reader_fills_after(struct db_reader *reader, uint64_t after, int64_t limit,
                          void (*row)(void *ctx, const struct db_fill_row *row), void *ctx);

/* An order's, oldest first, at most `limit`. */
int db_reader_order_fills(struct db_reader *reader, uint64_t order, int64_t limit,
                          void (*row)(void *ctx, const struct db_fill_row *row), void *ctx);

struct db_ledger_row {
    struct ledger_row row;
    const struct db_account *account;
};
/* Those of an order's fills; of one fill; both oldest first, at most `limit`. The newest `limit` of an
 * account and asset, newest first. The other entries of an entry's moment, of the `limit` before it and the
 * `limit` after it. */
int db_reader_order_ledger(struct db_reader *reader, uint64_t order, int64_t limit,
                           void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx);
int db_reader_fill_ledger(struct db_reader *reader, uint64_t fill, int64_t limit,
                          void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx);
int db_reader_asset_ledger(struct db_reader *reader, int account, const char *asset, int64_t limit,
                           void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx);
int db_reader_moment_ledger(struct db_reader *reader, uint64_t id, int64_t limit,
                            void (*row)(void *ctx, const struct db_ledger_row *row), void *ctx);
/* All, oldest first. */
int db_reader_ledger(struct db_reader *reader, void (*row)(void *ctx, const struct db_ledger_row *row),
                     void *ctx);

enum db_alerts {
    DB_ALERTS_OPEN, /* neither acknowledged nor over */
    DB_ALERTS_HELD, /* those, and conditions that are acknowledged and not over */
    DB_ALERTS_ALL,  /* the open ones first */
};

/* Newest first, at most `limit` (0: all). */
int db_reader_alerts(struct db_reader *reader, enum db_alerts which, int64_t limit,
                     void (*row)(void *ctx, const struct db_alert *row), void *ctx);
/* How many are open. 0 or -errno. */
int db_reader_alerts_open(struct db_reader *reader, int64_t *ret);
/* The highest number that an alert ever had; 0: there was no alert. 0 or -errno. */
int db_reader_last_alert(struct db_reader *reader, uint64_t *ret);
/* The command that was carried out at a moment; nothing where there was none. */
int db_reader_command_at(struct db_reader *reader, int64_t ts_ns,
                         void (*row)(void *ctx, const struct db_command *row), void *ctx);
/* The command that asked for an order and was refused with it, or with its group; nothing of another order.
 */
int db_reader_order_refusal(struct db_reader *reader, uint64_t order_id,
                            void (*row)(void *ctx, const struct db_command *row), void *ctx);
/* Newest first, at most `limit` (0: all). */
int db_reader_commands(struct db_reader *reader, int64_t limit,
                       void (*row)(void *ctx, const struct db_command *row), void *ctx);

/* Bars whose open time is in [from_ns, to_ns], oldest first. -ENOENT for an unknown symbol. */
int db_reader_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, enum bar_source source,
                   int64_t from_ns, int64_t to_ns, void (*row)(void *ctx, const struct bar *row), void *ctx);
/* How many there are; and when the oldest of all opens, -ENOENT without bars. */
int db_reader_count_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                         enum bar_source source, int64_t from_ns, int64_t to_ns, int64_t *ret);
int db_reader_first_bar(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                        enum bar_source source, int64_t *ret_open_ns);
/* When the n-th newest of those opens that open in [from_ns, to_ns]. */
int db_reader_newest_bar(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                         enum bar_source source, int64_t from_ns, int64_t to_ns, int64_t n,
                         int64_t *ret_open_ns);
/* The least interval above `after_ns` that bars of a symbol are stored of. -ENOENT: there is none, or no such
 * symbol. */
int db_reader_interval_after(struct db_reader *reader, const char *symbol, int64_t after_ns, int64_t *ret);

/* The gaps that are not filled, oldest first, at most `limit`; their symbol is -1. */
int db_reader_open_gaps(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t limit,
                        void (*row)(void *ctx, const struct db_gap *row), void *ctx);
/* The newest n of them, oldest first. */
int db_reader_last_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                        enum bar_source source, int64_t n, void (*row)(void *ctx, const struct bar *row),
                        void *ctx);

/* The same in present shares: prices and volumes of bars from before a split are converted as the engine
 * converts what it remembers (engine/split.h). For computations on a series of bars. */
int db_reader_split_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                         enum bar_source source, int64_t from_ns, int64_t to_ns,
                         void (*row)(void *ctx, const struct bar *row), void *ctx);
int db_reader_last_split_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                              enum bar_source source, int64_t n,
                              void (*row)(void *ctx, const struct bar *row), void *ctx);

/* Part of them, oldest first: the newest n that open at `at_ns` or before, or the oldest n after that. */
int db_reader_split_bars_until(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               enum bar_source source, int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct bar *row), void *ctx);
int db_reader_split_bars_after(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               enum bar_source source, int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct bar *row), void *ctx);

struct db_chart_row {
    struct db_chart_series series; /* without its symbol's index */
    const struct db_symbol_row *symbol;
};
/* The chart's series of one symbol, by interval; of all of them with NULL. -ENOENT for an unknown symbol. */
int db_reader_chart_series(struct db_reader *reader, const char *symbol,
                           void (*row)(void *ctx, const struct db_chart_row *row), void *ctx);
/* The newest n bars of one, oldest first; prices and volume as bars have them. -ENOENT likewise. */
int db_reader_chart_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t n,
                         void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx);
/* As db_reader_split_bars_until() and …_after(). */
int db_reader_chart_bars_until(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx);
int db_reader_chart_bars_after(struct db_reader *reader, const char *symbol, int64_t interval_ns,
                               int64_t at_ns, int64_t n,
                               void (*row)(void *ctx, const struct db_chart_bar *row), void *ctx);

/* Bars of the order book's measures that open in [from_ns, to_ns], oldest first.
 * -ENOENT for an unknown symbol. */
int db_reader_book_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t from_ns,
                        int64_t to_ns, void (*row)(void *ctx, const struct engine_book_bar *row), void *ctx);
/* The newest n of them, oldest first. */
int db_reader_last_book_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns, int64_t n,
                             void (*row)(void *ctx, const struct engine_book_bar *row), void *ctx);

struct db_revision_row {
    struct db_revision revision;
    const struct db_symbol_row *symbol;
};
/* A venue's revisions of one symbol (NULL: of all) between two times of the engine, oldest first. -ENOENT
 * likewise. */
int db_reader_revisions(struct db_reader *reader, const char *symbol, int64_t from_ns, int64_t to_ns,
                        void (*row)(void *ctx, const struct db_revision_row *row), void *ctx);

struct db_action_row {
    struct db_action action;
    const struct db_symbol_row *symbol;
};
/* Splits and dividends of one symbol (NULL: of all), in the order in which they took effect. */
int db_reader_actions(struct db_reader *reader, const char *symbol,
                      void (*row)(void *ctx, const struct db_action_row *row), void *ctx);

/* What became of dividends, and changes of rates by volume, in their order; `account` NULL: there is none. */
int db_reader_receivables(struct db_reader *reader,
                          void (*row)(void *ctx, const struct receivable_row *row,
                                      const struct db_account *account),
                          void *ctx);
int db_reader_fee_rates(struct db_reader *reader,
                        void (*row)(void *ctx, const struct fee_rate_change *row,
                                    const struct db_account *account),
                        void *ctx);

/* When a symbol was added: the end of its first bar that was made of trades, or its first order, whichever
 * is earlier; without either there is no row. Bars from the venue may be older. */
int db_reader_first_moments(struct db_reader *reader,
                            void (*row)(void *ctx, const struct db_symbol_row *symbol, int64_t first_ns),
                            void *ctx);

/* By account; only of those whose rules ask for it. */
int db_reader_margins(struct db_reader *reader, void (*row)(void *ctx, const struct db_margin *row),
                      void *ctx);

/* By calendar; by venue. */
int db_reader_sessions(struct db_reader *reader, void (*row)(void *ctx, const struct db_session *row),
                       void *ctx);
int db_reader_venues(struct db_reader *reader, void (*row)(void *ctx, const struct db_venue *row), void *ctx);
int db_reader_bans(struct db_reader *reader, void (*row)(void *ctx, const struct db_ban *row), void *ctx);

/* Trainings, oldest first; one by its name with `name` (NULL: all). */
int db_reader_trainings(struct db_reader *reader, const char *name,
                        void (*row)(void *ctx, const struct db_training *row), void *ctx);
/* Of one: points and evaluations of more steps than `after`, by steps; by time the newest n states (0: all).
 */
int db_reader_training_points(struct db_reader *reader, const char *training, int64_t after,
                              void (*row)(void *ctx, const struct db_training_point *row), void *ctx);
int db_reader_training_evaluations(struct db_reader *reader, const char *training, int64_t after,
                                   void (*row)(void *ctx, const struct db_training_evaluation *row),
                                   void *ctx);
int db_reader_training_states(struct db_reader *reader, const char *training, int64_t n,
                              void (*row)(void *ctx, const struct db_training_state *row), void *ctx);

/* Devices and processes of ours, by name; those that are no longer there too, as long as they are kept. */
int db_reader_devices(struct db_reader *reader, void (*row)(void *ctx, const struct db_device *row),
                      void *ctx);
int db_reader_processes(struct db_reader *reader, void (*row)(void *ctx, const struct db_process *row),
                        void *ctx);

/* Samples of one device or role in [from_ns, to_ns], oldest first, at the finest resolution that is stored of
 * each moment, as no moment is covered twice: samples, before them minutes, before those tens of minutes. */
struct db_samples_wanted {
    const char *key;
    int64_t from_ns, to_ns; /* a period that reaches into them belongs to them */
    /* Single samples only from the minute of this on, minutes only from the ten minutes of that on, as far
     * as those before are summed up; INT64_MIN: all that there are. */
    int64_t fine_ns, minute_ns;
    bool extremes; /* DB_MIN and DB_MAX too, not only DB_SAMPLE and DB_MEAN */
};
int db_reader_device_samples(struct db_reader *reader, const struct db_samples_wanted *wanted,
                             void (*row)(void *ctx, const struct db_device_sample *row), void *ctx);
int db_reader_process_samples(struct db_reader *reader, const struct db_samples_wanted *wanted,
                              void (*row)(void *ctx, const struct db_process_sample *row), void *ctx);

/* Processes on devices that were seen from from_ns to to_ns, both included: by device, the ones seen last
 * first, those that hold most first of them. */
int db_reader_device_processes(struct db_reader *reader, int64_t from_ns, int64_t to_ns,
                               void (*row)(void *ctx, const struct db_device_process *row), void *ctx);

/* How busy each of a training's devices was while it was in a state (training_states): the mean and greatest
 * utilisation of the n single samples from from_ns to to_ns, both included, that fell into it, NaN where it
 * is not known. By the trainings' names, then by device and state. A device is a training's from when it was
 * first seen to hold memory there to when it was last; where a device's processes are not known, every
 * training's. */
struct db_device_phase {
    const char *training, *device, *state;
    int64_t n;
    double util_percent, util_percent_max;
};
int db_reader_device_phases(struct db_reader *reader, int64_t from_ns, int64_t to_ns,
                            void (*row)(void *ctx, const struct db_device_phase *row), void *ctx);

/* Policies of the arena, retired ones too, by name. */
int db_reader_policies(struct db_reader *reader, void (*row)(void *ctx, const struct db_policy *row),
                       void *ctx);
/* Of one order: 0, -ENOENT when no policy made it; ret->backend lives until the next call. */
int db_reader_order_policy(struct db_reader *reader, uint64_t order_id, struct db_order_policy *ret);

#endif

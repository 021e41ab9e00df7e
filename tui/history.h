/* What the dashboard reads from papertape.db: the past, and, without a daemon, its last state. */
#ifndef TUI_HISTORY_H
#define TUI_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/report/report.h"
#include "db/row.h"
#include "exchange/order.h"
#include "tui/history_devices.h"
#include "tui/statistics.h"
#include "tui/status.h"

enum {
    HISTORY_EQUITY_MAX = 2048, /* points, thinned to half of them */
    HISTORY_DAYS_MAX = 4000,   /* of profit or loss: 11 years */
    HISTORY_ROWS_MAX = 200,    /* newest fills, orders, alerts, log lines */
    HISTORY_LOG_ORDERS = 100,  /* newest orders that the log is made of */
    HISTORY_LOG_OTHERS = 50,   /* and alerts, and commands */
    HISTORY_BARS_MAX = 400,
    HISTORY_BARS_AFTER = 100, /* of them, after the last bar that is wanted */
    HISTORY_OUTPUTS_MAX = 32, /* of indicators that are shown */
    HISTORY_TIMEFRAMES_MAX = 8,
    HISTORY_FILLS_A_READ = 20000,
    HISTORY_POINTS_MAX = 512, /* of a learning curve, thinned; two a column of the widest chart */
    HISTORY_COMPARED_MAX = 6,
    HISTORY_BENCHMARK_MAX = 256,
    HISTORY_PHASES_MAX = 4096,
    HISTORY_EVALUATIONS_MAX = 64,
    HISTORY_PARAMETERS_MAX = 96,
    HISTORY_SPLITS_MAX = 64, /* newest ones */
    HISTORY_UNREAD_MAX = 8,
    HISTORY_UNREAD_TEXT_MAX = 120,
    HISTORY_UNREAD_SUM_MAX = HISTORY_UNREAD_TEXT_MAX + 32, /* one of them, and how many more */
};

struct history_equity {
    int64_t ts_ns;
    double equity;
    double peak; /* the highest so far; NaN: not known */
};

/* A symbol's closes at equal steps over the time of an account's curve, and at its end, in present shares. */
struct history_benchmark {
    char symbol[SYMBOL_NAME_MAX]; /* "": none */
    int64_t from_ns, step_ns, to_ns;
    double closes[HISTORY_BENCHMARK_MAX]; /* NaN: no bar had ended by then */
    double newest;                        /* at to_ns; likewise */
    int n;                                /* 0: of that symbol nothing is stored */
    char account[ACCOUNT_NAME_MAX];       /* whose curve it is beside */
    double fee;                           /* that account's for taking the symbol: a share of what it costs */
};

/* What one unit of money was worth then that bought it with the first of these closes, at the fee, as a
 * report's benchmarks (docs/report.md); NaN: not known. */
double tui_history_benchmark(const struct history_benchmark *benchmark, int64_t at_ns);

/* Profit or loss of a UTC day by its newest point; money in and out is neither. */
struct history_day {
    int64_t day; /* since 1970-01-01 */
    double profit;
};

/* How much of a curve is shown, up to its newest point. */
#define HISTORY_SPANS(SPAN)              SPAN(DAY, "24h", 1) SPAN(WEEK, "7d", 7) SPAN(MONTH, "30d", 30) SPAN(ALL, "all", 0)
#define HISTORY_SPAN_(name, words, days) SPAN_##name,
enum history_span { HISTORY_SPANS(HISTORY_SPAN_) SPANS };
const char *tui_history_span_name(enum history_span span);
int64_t tui_history_span_ns(enum history_span span); /* 0: all of it */

struct history_fill {
    RECORD_SHOWN(RECORD_SHOWN_FILL)
    char tag[STATUS_WORD_MAX * 2];
    char currency[ASSET_NAME_MAX]; /* of the fee */
    double value, rate_pct;        /* notional; the fee's share of it, NaN: not known */
    int price_decimals, qty_decimals;
};

/* A split: prices of fills from before it are times `price` on the chart, whose bars are in new shares. */
struct history_split {
    char symbol[SYMBOL_NAME_MAX];
    int64_t ex_ns;
    double price;
};

/* A closed round trip: struct db_trip. NaN: not known. */
struct history_trip {
    int64_t id, first_fill, fills, order;
    int64_t opened_ns, closed_ns;
    bool is_short;
    double qty, entry, exit, profit, fees, return_pct;
    int price_decimals, qty_decimals, quote_decimals; /* quote_decimals: all that money has */
    char account[ACCOUNT_NAME_MAX], symbol[SYMBOL_NAME_MAX], quote[ASSET_NAME_MAX];
    char strategy[DB_REPORT_SOURCE_MAX], reason[ORDER_TAG_MAX];
};

struct history_alert {
    RECORD_SHOWN(RECORD_SHOWN_ALERT)
    int64_t closed_ns; /* 0: not over, or an event */
    bool open;         /* neither */
    bool unstored;     /* of the daemon's status alone: the database does not have it yet */
};

/* Merges the alerts of the daemon's status that it could not store yet with those of the database: the
 * newest first. */
struct history;
void tui_history_take_unstored(struct history *history, const json_t *status);

/* "open", "acknowledged" or "closed". */
const char *tui_history_alert_state(const struct history_alert *alert);

struct history_log {
    int64_t ts_ns, id;
    char kind[12]; /* "alert", "command", "order" of that id */
    char text[DB_ALERT_TEXT_MAX];
    bool bad;
};

struct history_ledger {
    int64_t ts_ns, id;
    char account[ACCOUNT_NAME_MAX], asset[ASSET_NAME_MAX];
    const char *kind, *contra; /* static: ledger_row_word(), the account at the other end */
    int scale;                 /* of both */
    int64_t amount, balance;
    int64_t order, fill; /* 0: none */
};

struct history_bar {
    int64_t open_ns;
    double open, high, low, close, volume;
};

/* A bar of the list of them, as it is stored. */
struct history_list_bar {
    struct history_bar bar;
    double value;        /* volume in the quote asset; NaN: not known */
    int64_t trades;      /* -1: not known */
    const char *session; /* static; "" where its market trades at all times, or it is not known */
};

/* Closes of a symbol's newest bar and of the one 24 hours ago; NaN: not known. */
struct history_change {
    char symbol[SYMBOL_NAME_MAX];
    double newest, before;
};

/* An account's closed trades, as far as its fills have been read. */
struct history_account {
    char account[ACCOUNT_NAME_MAX];
    struct trade_statistics trades;
};

/* Figures of a learning curve, members of a point, in the order in which the chart offers them. */
#define HISTORY_FIGURES(FIGURE) \
    FIGURE(POLICY_LOSS, policy_loss, "policy loss") \
    FIGURE(VALUE_LOSS, value_loss, "value loss") \
    FIGURE(ENTROPY_LOSS, entropy_loss, "entropy loss") \
    FIGURE(KL, kl, "KL") \
    FIGURE(CLIP_FRACTION, clip_fraction, "clipped") \
    FIGURE(EXPLAINED_VARIANCE, explained_variance, "explained variance") \
    FIGURE(GRAD_NORM, grad_norm, "gradient norm") \
    FIGURE(LEARNING_RATE, learning_rate, "learning rate") \
    FIGURE(STEPS_S, steps_s, "steps/s") \
    FIGURE(RETURN, episode_return, "return")

#define HISTORY_FIGURE_(figure, member, words) FIGURE_##figure,
enum history_figure { HISTORY_FIGURES(HISTORY_FIGURE_) FIGURES };

/* It went into a state then; utilisation while that lasted, 1 a device or a processor; NaN. */
struct history_phase {
    int64_t ts_ns;
    char state[STATUS_WORD_MAX];
    double utilisation;
};

struct history_parameter {
    char section[STATUS_WORD_MAX], key[40], value[64];
};

/* One training's learning curve, going up, and how far it has been read. */
struct history_points {
    char training[STATUS_TRAINING_NAME_MAX]; /* whose it is; "" for none */
    int64_t steps[HISTORY_POINTS_MAX];
    double figures[FIGURES][HISTORY_POINTS_MAX]; /* NaN: not known */
    int n;
    int64_t seen, stride; /* points; every so manieth stays; stride 0: nothing has been read */
    bool passing;         /* the newest point is dropped when the next comes */
    int64_t newest_ns;    /* of the newest of them, which shows whether it is still there */
    int64_t attempts, created_ns;
};

/* One training's past, all of it going up. */
struct history_training {
    struct history_points points;
    struct history_phase phases[HISTORY_PHASES_MAX];
    struct db_training_evaluation evaluations[HISTORY_EVALUATIONS_MAX]; /* their names are NULL */
    struct history_parameter
        parameters[HISTORY_PARAMETERS_MAX]; /* of its configuration, in the file's order */
    int n_phases, n_evaluations, n_parameters;
};

/* What is shown: bars of one symbol and interval, the equity of one account, the past of one training. "":
 * no bars; the first; none. */
struct history_want {
    char symbol[SYMBOL_NAME_MAX], interval[STATUS_WORD_MAX], account[ACCOUNT_NAME_MAX];
    int64_t bars_end_ns; /* the bar that the chart ends with opens then or before; 0: the newest */
    char training[STATUS_TRAINING_NAME_MAX];
    char compared[HISTORY_COMPARED_MAX][STATUS_TRAINING_NAME_MAX]; /* whose learning curves; "": none */
    enum history_span span;                                        /* of the equity */
    char benchmark[SYMBOL_NAME_MAX];                               /* beside it; "": none */
};

bool tui_history_want_equal(const struct history_want *a, const struct history_want *b);

/* Different rows that could not be read and are left out, each by its table, number and value: the first of
 * so many. */
struct history_unread {
    char words[HISTORY_UNREAD_MAX][HISTORY_UNREAD_TEXT_MAX];
    int n; /* no more are counted than are kept */
};

/* "orders: row 12: unknown state; 2 more unreadable"; "": all can be read. */
const char *tui_history_unread_text(const struct history_unread *unread,
                                    char ret[static HISTORY_UNREAD_SUM_MAX]);

/* Newest first, except equity and bars, which go up in time, and days. */
struct history {
    struct history_equity equity[HISTORY_EQUITY_MAX];
    struct history_day days[HISTORY_DAYS_MAX]; /* of that account, each at `day` modulo their number */
    char equity_account[ACCOUNT_NAME_MAX];     /* whose it is; "" before any is known */
    enum history_span equity_span;
    struct history_benchmark benchmark; /* that is wanted */
    double equity_flows; /* money in less money out after the first point; of the whole curve from its start
                            on */
    struct history_account accounts[STATUS_ACCOUNTS_MAX];
    int n_accounts;
    bool fills_left;   /* their statistics lack fills that the next call reads */
    bool fills_unread; /* and are not known, since a fill cannot be read */
    struct history_unread unread;
    struct history_fill fills[HISTORY_ROWS_MAX];
    struct history_split splits[HISTORY_SPLITS_MAX];
    int n_splits;
    struct status_order orders[HISTORY_ROWS_MAX];
    struct history_alert alerts[HISTORY_ROWS_MAX];
    struct history_log log[HISTORY_ROWS_MAX];
    struct history_bar bars[HISTORY_BARS_MAX];
    int n_equity, n_fills, n_orders, n_alerts, n_log, n_bars;
    int64_t alerts_open; /* in the database, however many of them are here */
    char bars_symbol[SYMBOL_NAME_MAX], bars_interval[STATUS_WORD_MAX];
    bool bars_oldest, bars_newest;                         /* the database has none before them, after them */
    double outputs[HISTORY_OUTPUTS_MAX][HISTORY_BARS_MAX]; /* of the bars' indicators; NaN: none yet */
    char output_names[HISTORY_OUTPUTS_MAX][40];            /* "sma_20", "macd_12_26_9.signal" */
    char timeframes[HISTORY_TIMEFRAMES_MAX][STATUS_WORD_MAX]; /* of the symbol, going up: those that are kept,
                                                                 else those that bars are stored of */
    int n_outputs, n_timeframes;
    struct history_training training;                     /* that is wanted */
    struct history_points compared[HISTORY_COMPARED_MAX]; /* likewise, in their order */
    struct history_devices devices;
    struct history_change changes[SYMBOLS_MAX]; /* by name, of symbols whose status has none */
    int n_changes, changes_symbols;             /* how many symbols the status had then */
    int64_t changes_ns;                         /* when they were read, by the wall; 0: never */
    int64_t read_version;                       /* db_reader_version() when all of this was read; 0: never */
};

struct history_reader;

/* Opens the database for reading. 0; -ENOENT when there is none yet; another -errno. err: one sentence. */
int tui_history_open(const char *path, struct history_reader **ret, char *err, size_t err_size);
/* The same, as it was at a moment (db/as_of.h); wall_ns is that moment in all calls then. 0 ns: now. */
int tui_history_open_at(const char *path, int64_t at_ns, struct history_reader **ret, char *err,
                        size_t err_size);
void tui_history_close(struct history_reader *reader);

/* Reads all of *ret: the wanted span of the account's equity, up to its newest point; the newest rows of the
 * rest; the bars that are wanted; and the statistics of the accounts' trades (at most HISTORY_FILLS_A_READ
 * new fills a call, so that a long past takes a few). What neither the database nor *want has changed since
 * this reader filled *ret is not read again, except devices. What cannot be read of a row costs that row, or
 * the figure that needs it, alone: ret->unread. 0 or -errno with a sentence; *ret may be partly written. */
int tui_history_read(struct history_reader *reader, int64_t wall_ns, const struct history_want *want,
                     struct history *ret, char *err, size_t err_size);

/* Reads the bars that are wanted alone, likewise. */
int tui_history_read_chart(struct history_reader *reader, const struct history_want *want,
                           struct history *ret, char *err, size_t err_size);

/* Reads the bars that the change of 24 hours is computed from, of symbols whose status does not say it, at
 * most once a minute while their number is the same. What cannot be read is not known. */
void tui_history_read_changes(struct history_reader *reader, const struct status *status, int64_t wall_ns,
                              struct history *ret);

/* A symbol's change of 24 hours in percent: the status' one, else from the stored bar that ended 24 hours ago
 * (where the market is closed or the run a saved one, 24 hours before its newest bar ended) to its last
 * price; NaN: not known, as where stored bars are old or longer than an hour. */
double tui_history_change(const struct history *history, const struct status_symbol *symbol);

/* The account's profit or loss of that UTC day; 0 where it is not known. */
double tui_history_day_profit(const struct history *history, int64_t day);

/* The account's trades, or NULL: they are not known. */
const struct history_account *tui_history_account(const struct history *history, const char *name);

/* What a status would have contained when the database was last written: symbols with their prices,
 * positions, accounts, live orders, streams. Ages are from the stored wall times to wall_ns. Of a moment:
 * equity by its newest point, cash by the ledger. 0, for tui_status_finish(); -errno, and *ret is unchanged.
 */
int tui_history_status(struct history_reader *reader, int64_t wall_ns, struct status *ret,
                       int64_t *ret_accounts_age_ms, char *err, size_t err_size);

/* Of that the trainings and policies alone: all that there are. Likewise. */
int tui_history_known(struct history_reader *reader, int64_t wall_ns, struct status *ret);

#endif

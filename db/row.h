/* Rows that only the database has: what the writer takes and the reader returns, in addition to the
 * engine's and the exchange's own structs. Texts are the caller's: copied by the writer, the reader's for
 * the call only. */
#ifndef DB_ROW_H
#define DB_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/account.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "exchange/bar.h"
#include "exchange/symbol.h"
#include "record/device.h"
#include "record/field.h"
#include "strategy/params.h"

enum { DB_STRATEGY_NAME_MAX = STRATEGY_NAME_MAX };

/* Why an account has other terms than before. CONFIGURED of an account without any: it is OPENED, or KNOWN if
 * it is older than the rows of terms. */
enum db_terms_why {
    DB_TERMS_CONFIGURED, /* by papertaped.ini, at a start */
    DB_TERMS_KNOWN,
    DB_TERMS_OPENED,
    DB_TERMS_COMMAND, /* `command` */
    DB_TERMS_POLICY,  /* another policy, or none, trades */
    DB_TERMS_VOLUME,  /* another tier of fees */
    DB_TERMS_RESET,
    DB_TERMS_VENUE, /* what its venue says of it */
    DB_TERMS_CLOSED,
    DB_TERMS_WHYS,
};
struct db_terms_change {
    enum db_terms_why why;
    int64_t since_ns;
    uint64_t event;            /* that made them; of a start the last one before it */
    uint64_t command;          /* 0: of none */
    int64_t uid;               /* of its client; -1: of no command */
    char key[COMMAND_KEY_MAX]; /* "": none */
};

/* An account's number is its index in the engine and its id in the database, for ever: a daemon gives the
 * engine the accounts of the database first, in the order of their numbers, and new ones after them. */
struct db_account {
    int number;
    char name[ACCOUNT_NAME_MAX];
    char currency[ASSET_NAME_MAX];
    int currency_scale;
    int64_t created_ns; /* kept from when it was first put */
    int64_t cash;       /* that it was opened with, or reset to */
    struct account_rules rules;
    enum session_choice session;
    char strategy[DB_STRATEGY_NAME_MAX]; /* "": orders by hand only */
    double params[STRATEGY_PARAMS_MAX]; /* of that strategy; zeros where this program has none of that name */
    int64_t closed_ns;                  /* 0: it is open */
    struct db_terms_change change;      /* of what is put; a row of terms is stored where they are others */
};

/* The terms of an account from a time on. */
struct db_terms {
    uint64_t id;
    int64_t epoch;             /* 1, and one more after each reset */
    struct db_account account; /* `change` is what made them; without its name and created_ns */
    const char *params;        /* as db_account_row's */
};

struct db_symbol_row {
    int64_t id;                  /* in the database */
    char venue[SYMBOL_NAME_MAX]; /* symbol.venue is the same */
    struct symbol symbol;
    int64_t seen_ns;
    int streamed; /* by command: 0 removed, 1 added; -1: as the configuration says */
};

struct db_account_row {
    struct db_account account;
    int64_t equity_peak, day, day_equity, killed_ns; /* struct account's */
    bool unread; /* some of it is no value that this program knows: it names rows alone */
    /* Of a strategy from outside its parameters by name, JSON, whether it is open or not; else NULL. The
     * reader's, until it reads the accounts again. */
    char *params;
};

/* As it is stored in its table. */
struct db_account_stored {
    struct db_account_row row;
    const char *params; /* its strategy's by name, JSON */
};

/* The row of an account as it is run. */
void db_account_of(int number, const struct account_spec *spec, int64_t created_ns, struct db_account *ret);
/* The account of a row. 0, or -ENOENT when this program has no strategy of that name. */
int db_account_spec(const struct db_account *account, struct account_spec *ret);

struct db_price {
    int symbol;
    int64_t last, bid, ask, mark; /* price_scale; 0: not known */
    int64_t mark_ns;              /* when that mark was made; 0: not known */
    int64_t ts_ns, recv_wall_ns;  /* the engine's clock, the wall clock */
};

/* So long before the newest point of an account's equity every point is kept; before that one an hour, a
 * UTC day's first, those at movements of money and those with marks. */
#define DB_EQUITY_WHOLE_NS (8 * 24 * INT64_C(3600000000000))

/* What else a point of equity changes. */
enum db_equity_kind {
    DB_EQUITY_LIVE, /* the account's own figures; and what is old is thinned */
    DB_EQUITY_PAST, /* nothing: it is of a history that is kept whole, and newer ones follow */
    DB_EQUITY_LAST, /* the account's own figures: the last of such a history */
};
/* peak, day, day_equity and killed_ns are struct account's, kept for the recovery. */
struct db_equity {
    int account;
    enum db_equity_kind kind;
    int64_t ts_ns, equity, cash, peak, day, day_equity, killed_ns;
};

/* What a position was valued at, at the account's point of equity of that time: struct engine_mark. */
struct db_mark {
    int account, symbol;
    int64_t ts_ns, qty, mark, mark_ns;
};

/* An account whose rules ask for it: see engine_margin_figures(). */
struct db_margin {
    int account;
    int64_t ts_ns;
    struct margin_figures figures;
};

enum db_command_state { DB_COMMAND_PENDING, DB_COMMAND_DONE, DB_COMMAND_REFUSED };

struct db_command {
    uint64_t id;   /* 1, 2, 3 … */
    int64_t ts_ns; /* of its first event; while it is pending, when it was given */
    int64_t peer_uid, peer_pid;
    const char *cmd, *args; /* args: a JSON object */
    enum db_command_state state;
    const char *result; /* the refusal's code and words, or what it did; "" while pending */
    const char *key;    /* the client's, of this command alone; "" or NULL for none */
    uint64_t order_id;  /* the first order that it made, amended or cancelled; 0: none */
    uint64_t event;     /* its first in the event log; 0: it is none, or not known */
};

enum db_severity { DB_INFO, DB_WARNING, DB_ERROR };

enum { DB_ALERT_TEXT_MAX = 513 }; /* of an alert's text: 512 bytes and the NUL */

struct db_alert {
    uint64_t id;                   /* 1, 2, 3 … */
    int64_t ts_ns, last_ns, count; /* first and last seen, how often */
    enum db_severity severity;
    bool lasts;                  /* of a condition, whose end closes it; else of an event */
    int64_t acked_ns, closed_ns; /* 0: not acknowledged; not over, or an event */
    const char *code, *text;
};

/* A device that was sampled. Put with last_ns 0 there is no sample: one that is known keeps its own, and its
 * name and driver where the new ones are ""; one that is not stays so. */
struct db_device {
    const char *device, *name, *driver, *profile; /* record/device.h */
    const char *reason;                           /* why it is not sampled; "" while it is */
    bool processes_known;                         /* false: n/a, as in a container */
    int64_t first_ns, last_ns;                    /* its first and newest sample; wall clock */
};

/* The key of meta that has the reason why devices are not sampled; "": they are. */
#define DB_GPU_REASON_KEY "gpu_reason"

/* What a row of samples is: one sample, or of the samples of a period the least, mean or greatest of each
 * figure. */
enum db_statistic { DB_SAMPLE, DB_MIN, DB_MEAN, DB_MAX };

/* How samples are kept: docs/gpu.md. A period starts at a multiple of its length since 1970. */
enum {
    DB_SAMPLES_KEPT_S = 2 * 3600, /* each sample, for so long before the newest */
    DB_MINUTES_S = 60,            /* then the figures of a minute */
    DB_MINUTES_KEPT_S = 48 * 3600,
    DB_TENS_S = 600, /* then of ten minutes */
    DB_TENS_KEPT_S = 8 * 86400,
};

/* After its device's row. NaN: in no sample of the period is the figure known. */
struct db_device_sample {
    const char *device;
    int64_t period_s, ts_ns; /* 0 of a sample; of a period when it starts */
    int64_t n;               /* samples; 1 of a sample */
    enum db_statistic statistic;
    struct device_figures figures;
};

/* A process on a device, from when it was first seen there until it was no longer: `ts_ns` is the newest
 * sample that has it. Put with what a sample says; what the row has of before follows (the writer sets
 * first_ns, n and the greatest values). One that is seen again after more than a minute is another row. */
struct db_device_process {
    const char *device, *name;
    const char *role; /* "daemon", "trainer", a training's name; "": none of ours, or not known yet */
    int64_t pid, first_ns, ts_ns, n;
    double memory_bytes, memory_bytes_max, util_percent, util_percent_max;
};

/* A process of ours, by role, and what it used: as devices and their samples. */
struct db_process {
    const char *role;
    int64_t pid, first_ns, last_ns;
};
struct db_process_figures {
#define DB_PROCESS_FIGURE_(name) double name;
    RECORD_PROCESS_FIGURES(DB_PROCESS_FIGURE_)
#undef DB_PROCESS_FIGURE_
};
struct db_process_sample {
    const char *role;
    int64_t period_s, ts_ns, n;
    enum db_statistic statistic;
    struct db_process_figures figures;
};

/* The rows of a sample of that moment: of the device and its figures; of a process and its. Texts are the
 * sample's. */
void db_device_of(const struct device_sample *sample, int64_t ts_ns, struct db_device *ret,
                  struct db_device_sample *ret_sample);
void db_process_of(const struct process_sample *sample, int64_t ts_ns, struct db_process *ret,
                   struct db_process_sample *ret_sample);

/* The greatest of the throttle figures; NaN where all of them are. */
double db_throttled_most(const struct device_figures *figures);

enum db_feed_state {
    DB_FEED_OK,
    DB_FEED_CONNECTING,
    DB_FEED_RETRY,
    DB_FEED_STALE,
    DB_FEED_FAILED,
    DB_FEED_CLOSED, /* its market is: silence is no fault */
};

struct db_feed {
    int symbol; /* -1 for the connection itself */
    enum db_feed_state state;
    int64_t last_recv_ns; /* wall clock; 0: nothing yet */
    int64_t limit_ns;     /* older than this is stale; 0: never */
    int64_t frames, bytes, bad_frames, connects;
    const char *stream, *detail; /* "trade", "kline_1m", …; "connection" */
};

/* A venue as a whole. NaN where a figure is not known. */
struct db_venue {
    enum db_feed_state state;
    int64_t last_recv_ns; /* wall clock; 0: nothing yet */
    int64_t frames, bad_frames, connects, renewals;
    double latency_p50_ms, latency_p99_ms, clock_offset_ms;
    const char *venue, *detail;
    const char *market; /* "always", or its calendar's phase */
};

/* A ban: which venue may not be asked before `until_ns`, of the wall clock. */
struct db_ban {
    int64_t until_ns;
    const char *venue, *why;
};

/* A calendar's market and its phase since then. */
struct db_session {
    struct market_session session;
    int64_t since_ns;
};

enum db_run_state { DB_RUN_RUNNING, DB_RUN_STOPPED, DB_RUN_KILLED };

/* A run of the daemon, by the session's clock: put again it lasts longer, and never begins later. */
struct db_run {
    uint64_t run;
    int64_t began_ns, alive_ns;
    enum db_run_state state;
};

enum db_log_note_kind {
    DB_LOG_BEGAN,   /* the log lacked these events when notes began */
    DB_LOG_REMOVED, /* retention removes the segment that has them */
    DB_LOG_MISSING, /* they were found missing, and no note says why */
};

/* What the event log lacks, from some moment on: stored once a kind and to_seq, and never changed. */
struct db_log_note {
    enum db_log_note_kind kind;
    uint64_t from_seq, to_seq;                   /* to_seq below from_seq: no event */
    uint64_t known_seq;                          /* of BEGAN: the newest event then; else 0 */
    uint64_t last_order, last_fill, last_ledger; /* of BEGAN and MISSING: numbered by then; else 0 */
    int64_t ts_ns;
    uint64_t segment, bytes; /* of REMOVED */
    char digest[65];         /* of REMOVED: the hash of the segment's last block, in hexadecimal */
};

/* A run that is running says so at least so often. */
#define DB_RUN_ALIVE_NS (10 * INT64_C(1000000000))

/* A corporate action that took effect, once, with its event. */
struct db_action {
    uint64_t id; /* 1, 2, 3 …; 0: the next */
    int symbol;
    struct corporate_action action;
    int64_t ts_ns;
    uint64_t input_seq;
};

/* A venue's change of what it had reported, as struct engine_revision has it. */
struct db_revision {
    uint64_t id; /* likewise */
    enum revision_kind kind;
    enum bar_source source;
    int symbol;
    bool applied, has_old, has_now; /* of the bars */
    int64_t ts_ns, at_ns;
    struct market_correction correction; /* of a trade; BAR: ids -1, else zeros */
    struct bar old, now;                 /* without quote volume and trade ids */
    const char *old_bar, *new_bar;       /* the database's texts of them, in reading */
    uint64_t input_seq;
};

/* The row of a revision that event `input_seq` made. */
void db_revision_of(const struct engine_revision *revision, uint64_t input_seq, struct db_revision *ret);

enum { DB_BOOK_BARS_KEPT = 20000 }; /* intervals of a symbol */

/* Bars from from_open_ns to to_open_ns, both included, that are missing, or were (filled_ns). */
struct db_gap {
    int symbol;
    int64_t interval_ns, from_open_ns, to_open_ns;
    int64_t found_ns, filled_ns; /* filled_ns 0: still open */
};

/* One symbol and timeframe of the chart: what its bars contain, and the memory to continue with. */
struct db_chart_series {
    int symbol;
    int64_t interval_ns, base_ns;
    int64_t next_ns;           /* see chart_series in the schema */
    const char *specs, *names; /* words with blanks between */
    const void *memory;
    size_t memory_size;
};

/* A closed bar of it, with an output for each of the series' names; NaN: none yet. */
struct db_chart_bar {
    int symbol;
    int64_t interval_ns;
    struct bar bar; /* quote_volume, trades and ids are not kept */
    const double *outputs;
    size_t n_outputs;
};

enum {
    DB_CHART_BARS_KEPT = 1000, /* intervals of a series */
    DB_CHART_OUTPUTS_MAX = 64, /* of a bar */
};

/* A training as the co-process reports it (docs/serve.md). Texts "" and times 0 where there is none,
 * numbers NaN or -1 where they are not known. */
struct db_training {
    const char *name, *state, *reason, *cause, *device, *backend, *config, *checkpoint, *policy;
    const char *verdict, *verdict_text; /* of its last evaluation: strategy/metrics/verdict.h */
    int64_t priority, steps, total_steps, iteration, attempts;
    double steps_s, episode_return, cpu_s;
    int64_t memory_bytes;
    int64_t created_ns, started_ns, ended_ns, heard_ns;
    int64_t seq; /* of its events: those up to here are stored */
};

/* A point of its learning curve; NaN where a figure is not known. */
struct db_training_point {
    const char *training;
    int64_t steps, iteration, ts_ns;
    double steps_s, episode_return, reward;
    double policy_loss, value_loss, entropy_loss, loss, kl, clip_fraction, explained_variance, grad_norm;
    double learning_rate, std;
    double rollout_s, advantages_s, update_s;
    double device_utilisation, cpu_utilisation; /* busy seconds by wall seconds */
    double memory_bytes, learner_bytes;
};

struct db_training_evaluation {
    const char *training;
    int64_t steps, ts_ns;
    double reward, total_return, benchmark_return, drawdown; /* shares: 0.1 is 10 % */
};

/* It went into a state then; utilisation while that lasted, of the device or else of the processors. */
struct db_training_state {
    const char *training, *state;
    int64_t ts_ns;
    double utilisation;
};

/* The name of a training, and of a policy that it makes: an account's name, since it becomes one, without a
 * dot in front. */
bool db_training_name_good(const char *name);

enum {
    DB_TRAINING_POINTS_KEPT = 4096, /* of a training, its evaluations and states likewise */
    DB_TRAININGS_KEPT = 1000,       /* beyond them the oldest ended ones are deleted */
};

enum db_policy_role { DB_POLICY_CHALLENGER, DB_POLICY_CHAMPION, DB_POLICY_RETIRED };

/* The account that the champion trades for, in addition to its own. */
#define DB_CHAMPION_ACCOUNT "champion"

/* A policy in the arena: docs/policies.md. */
struct db_policy {
    const char *name, *account, *training, *path, *reason;
    const char *proposal; /* STUDY/TRIAL of its proposal; "": by hand */
    enum db_policy_role role;
    uint8_t id[POLICY_ID_SIZE];
    int64_t since_ns;   /* in that role */
    int64_t judged_ns;  /* from when on its days count */
    int64_t expires_ns; /* when it retires; 0: never */
};

/* Which policy made an order, and what computed it. */
struct db_order_policy {
    uint64_t order_id;
    uint8_t id[POLICY_ID_SIZE];
    const char *backend;
};

/* Does it trade for the account of that name: its own, the champion also for DB_CHAMPION_ACCOUNT, none once
 * it is retired? */
bool db_policy_trades_for(const struct db_policy *policy, const char *account);

extern const struct record_words db_words_statistic, db_words_asset_class, db_words_symbol_says,
    db_words_policy_role, db_words_severity, db_words_command_state, db_words_feed_state,
    db_words_revision_kind, db_words_bar_source, db_words_bar_session, db_words_action_kind,
    db_words_market_phase, db_words_run_state, db_words_log_note, db_words_terms_why;

const char *db_policy_role_name(enum db_policy_role role);      /* "challenger", "champion", "retired" */
const char *db_command_state_name(enum db_command_state state); /* "pending", "done", "refused" */
const char *db_severity_name(enum db_severity severity);        /* "info", "warning", "error" */
const char *db_revision_name(enum revision_kind kind);          /* "correction", "cancel", "bar" */

#endif

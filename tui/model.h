/* What the dashboard shows: the daemon's last status, and what the database holds, with the times at which
 * they were read. Collecting never touches the screen; drawing only reads this. */
#ifndef TUI_MODEL_H
#define TUI_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/freshness.h"
#include "tui/backtest_job.h"
#include "tui/depth.h"
#include "tui/history.h"
#include "tui/item.h"
#include "tui/list_source.h"
#include "tui/live_bars.h"
#include "tui/status.h"
#include "tui/study_source.h"

/* A moment on both clocks: the wall's for stored times, the monotonic one for ages. */
struct moment {
    int64_t wall_ns, mono_ms;
};

struct moment tui_model_now(void);

enum model_source {
    MODEL_NOTHING,  /* neither a daemon nor a database yet */
    MODEL_DATABASE, /* no daemon: its last stored state */
    MODEL_DAEMON,
};

enum {
    MODEL_LOG_LINES_MAX = 200,
    MODEL_LOG_LINE_MAX = 240,     /* bytes; the rest of a longer line is cut */
    MODEL_LOG_EXPECTED_MS = 2000, /* between two requests for it */
};

/* The newest lines that a training's worker wrote, from the daemon's train_log. */
struct model_log {
    char training[STATUS_TRAINING_NAME_MAX];             /* whose; "" before the first request */
    char lines[MODEL_LOG_LINES_MAX][MODEL_LOG_LINE_MAX]; /* oldest first, cleaned */
    int n;
    bool have;                   /* an answer has come */
    char words[STATUS_TEXT_MAX]; /* why the last request had no answer; "" */
    int64_t mono_ms;             /* when these lines were read */
};

/* The stored trainings and policies: those that the daemon's status leaves out are shown from here. */
struct model_known {
    struct status *stored; /* owned; NULL: not needed so far */
    int64_t mono_ms;       /* when they were read */
    uint64_t of, now;      /* what the daemon listed then; what it lists now */
    bool short_of;         /* its last status has left some out … */
    bool added;            /* … and these were added to it */
};

struct model {
    int64_t at_ns; /* the past moment that all of it is of, as the database has it; 0: it is of now */
    enum model_source source;
    enum model_source holdings; /* the source of symbols, accounts, positions and orders: a daemon that has
                                   not started does not know them, and the database's last state is shown */
    struct status status;
    int64_t status_mono_ms;  /* when the status was received; its ages count from there */
    int64_t interval_ms;     /* between two collections */
    int64_t accounts_age_ms; /* of the accounts' equity when the status was received; -1: not known */
    struct model_known known;
    struct history history;
    bool have_history;
    int64_t history_mono_ms;
    struct list_rows lists[DB_LISTS]; /* what was read of the long lists last, owned */
    struct model_log log;
    struct status_training page_training; /* whose page is shown, as it was known last; training "": none */
    struct depth_book depth;              /* of the chosen symbol, while the screen shows it */
    struct depth_tape tape;
    struct live_bars live;             /* of the chart that the screen shows */
    struct item_page item;             /* of the item that is shown, owned */
    struct tui_studies *studies;       /* the last that were read, owned; NULL before any were */
    struct tui_study_page *study_page; /* of the one that is shown, likewise */
    int64_t studies_mono_ms;           /* when the storage was read last, whether or not it had changed */
    int studies_error;                 /* of the last reading: 0 or -errno */
    bool studies_elsewhere; /* in a storage that is not the co-process': no training is one of them */
    bool studies_named;     /* the user has named the storage: that it is missing is reported */
    char studies_words[STUDY_WORDS_MAX];  /* why the last reading failed; "" */
    struct backtest_view backtest;        /* the last that was started here */
    bool reads_only;                      /* the daemon lets this user only read */
    char operators[32];                   /* the group that may do more */
    char daemon_words[STATUS_TEXT_MAX];   /* why there is no daemon; empty when there is */
    char database_words[STATUS_TEXT_MAX]; /* why there is no database; empty when there is */
};

/* The moment that what the model has is drawn at: its own of the past, else `now`. */
struct moment tui_model_moment(const struct model *model, struct moment now);

/* An empty model on the heap, or NULL. */
struct model *tui_model_create(int64_t interval_ms);
void tui_model_destroy(struct model *model);

/* Takes a status object that has just arrived, and adds the trainings and policies that it leaves out, as far
 * as they are known. 0, or -EPROTO, which leaves the model alone. */
int tui_model_take_status(struct model *model, const json_t *object, struct moment now);

/* Does the daemon's status lack what the database may know: the holdings, or a symbol's price? */
bool tui_model_wants_stored(const struct model *model);

/* Takes the database's last state, as it was read at `now` (tui_history_status()): all of it without a
 * daemon, the holdings where the daemon has not started, else the prices that it has not received yet. The
 * lists that are taken are the model's then: `stored` has them no more. */
void tui_model_take_stored(struct model *model, struct status *stored, int64_t accounts_age_ms,
                           struct moment now);

/* Does the daemon's status leave trainings or policies out that are not known, or that it had itself when
 * they were read? */
bool tui_model_wants_known(const struct model *model);

/* Takes the stored ones, whose rows are the model's then. */
void tui_model_take_known(struct model *model, struct status *stored, struct moment now);

/* A status has just been taken: adds what it leaves out. */
void tui_model_add_known(struct model *model, struct moment now);

/* The age now of something that was `age_ms` old when the status was received; -1 stays -1. */
int64_t tui_model_age(const struct model *model, int64_t age_ms, struct moment now);

/* Is it a saved backtest? It has no daemon, and nothing newer comes. */
static inline bool model_is_saved(const struct model *model)
{
    return model->source == MODEL_DATABASE && model->status.saved;
}

/* Is it a saved run, or of a past moment? Nothing in it becomes stale. */
static inline bool model_is_still(const struct model *model)
{
    return model->at_ns > 0 || model_is_saved(model);
}

/* What a panel says of which nothing is kept: of the past, static; NULL: the model is of now. */
const char *tui_model_unrecorded(const struct model *model);

/* Why no command can be sent, without MODEL_DAEMON: a sentence. */
const char *tui_model_no_daemon(const struct model *model);

/* Of the status itself. GONE when there is none. */
enum freshness tui_model_freshness(const struct model *model, struct moment now);

/* Of a symbol's prices; of a position's mark. */
enum freshness tui_model_symbol_freshness(const struct model *model, const struct status_symbol *symbol,
                                          struct moment now);
enum freshness tui_model_position_freshness(const struct model *model, const struct status_position *position,
                                            struct moment now);

/* Of the accounts' equity. */
enum freshness tui_model_accounts_freshness(const struct model *model, struct moment now);

/* Of a training's figures: one with a worker is expected to report every expected_ms; one that waits or is
 * paused is as fresh as the co-process, and without a daemon no report is expected; one that has ended
 * reports nothing more. */
enum freshness tui_model_training_freshness(const struct model *model, const struct status_training *training,
                                            struct moment now);
/* The co-process' own, by its last answer. */
enum freshness tui_model_trainer_freshness(const struct model *model, struct moment now);

/* Does it not answer, or speak another protocol, or is it not there while a training has not ended? */
bool tui_model_trainer_missed(const struct model *model);

/* Has it ended: done, failed or stopped? Does a worker work on it? */
bool tui_model_training_ended(const struct status_training *training);
bool tui_model_training_works(const struct status_training *training);

/* Row `row` (0 ≤ row < n_trainings) of the list: the newest first, whatever their states. */
const struct status_training *tui_model_training(const struct model *model, int row);

/* Of a policy's last decision: one is expected every interval. */
enum freshness tui_model_policy_freshness(const struct model *model, const struct status_policy *policy,
                                          struct moment now);

/* Takes the daemon's answer to train_log (its "lines", oldest first), or its error when it refused (lines
 * NULL). Lines of another training than before replace the old ones at once. */
void tui_model_take_log(struct model *model, const char *training, const json_t *lines, const char *words,
                        struct moment now);

/* Takes what was read of the studies, which is the model's then. */
void tui_model_take_studies(struct model *model, struct tui_study_reading *reading);

/* Of what is known of studies: since the storage was read. GONE: nothing is. */
enum freshness tui_model_studies_freshness(const struct model *model, struct moment now);

/* Rows of the list of studies, with two for an error of their storage. 0: there is nothing to show: no
 * study, and no error except that the state directory has no studies.db yet. */
int tui_model_studies_rows(const struct model *model);

/* Of a trial that runs, by its worker's heartbeat; without one, by the time since it began and what the
 * study's other trials took (tui/studies.h). FRESH of a trial that does not run. */
enum freshness tui_model_trial_freshness(const struct tui_study_trial *trial, struct moment now);

/* The trainings that the co-process runs the study's workers as, by the names of their runs: those that a
 * worker works at first, then those that wait, then those that have ended; of equals the newest study's, then
 * the newest training; at most so many. Returns how many. */
int tui_model_study_trainings(const struct model *model, const struct tui_study *study,
                              const struct status_training *ret[static STATUS_STUDY_TRAININGS_MAX]);
/* The first of these, whose state is the study's; NULL: none, as of a past run. */
const struct status_training *tui_model_study_training(const struct model *model,
                                                       const struct tui_study *study);

/* The symbol by name, or NULL. */
const struct status_symbol *tui_model_symbol(const struct model *model, const char *name);

/* The decimals that its prices are shown with; 2 where it is not known. */
int tui_model_price_decimals(const struct model *model, const char *symbol);

/* A live order by its number, with its symbol's decimals, and its time, where the database has it among the
 * newest; else 0. False: it has ended. */
bool tui_model_order(const struct model *model, int64_t id, struct status_order *ret);

/* The engine's clock now: it continues with the wall clock, or stands still when a replay drives it. 0:
 * unknown. */
int64_t tui_model_clock_ns(const struct model *model, struct moment now);
/* How long until then by that clock, or by the wall's where it is not known; 0: it is past. */
int64_t tui_model_until_ms(const struct model *model, int64_t at_ns, struct moment now);

/* How far an account is below its peak, "dd", or of a saved backtest the furthest that it was, "max dd"; in
 * per cent, NaN: not known. */
double tui_model_drawdown(const struct model *model, const struct status_account *account);
const char *tui_model_drawdown_name(const struct model *model);

/* The sum over all accounts of the first account's currency, or, `converted`, of all of them in it, by rates
 * that are streamed; NaN where nothing is known. */
struct model_total {
    double equity, return_pct, drawdown_pct; /* tui_model_drawdown() of the account that is worst */
    char currency[ASSET_NAME_MAX];
    char worst[ACCOUNT_NAME_MAX]; /* whose drawdown it is; "": it is not known */
    bool some;                    /* other accounts have another currency, which is not in it */
    bool converted;
};
struct model_total tui_model_total(const struct model *model);

/* All equity, each currency with its name and none added to another: "USDT 10,000.00 + USD 148,545.00", as
 * many as fit, then " + 2 more"; "158,545.00 USDT of 2 currencies" where it is converted; of one currency its
 * number. */
enum { MODEL_EQUITY_MAX = 56 };
void tui_model_equity(const struct model *model, int decimals, char buf[static MODEL_EQUITY_MAX]);

/* The header's parity: "parity ok 31d", "parity FAILED", "parity -", and its freshness: a comparison that
 * is late by three days is stale, by ten gone. */
enum { MODEL_PARITY_MAX = 64 };
enum freshness tui_model_parity(const struct model *model, struct moment now,
                                char buf[static MODEL_PARITY_MAX]);

/* Is trading paused by the user, by the daemon's last status? A halt is not his, and ends by itself. */
bool tui_model_trading_paused(const struct model *model);

/* Why, without the state at its beginning: "by the user" for "paused by the user". "" where there is no
 * reason. Points into the model. */
const char *tui_model_trading_reason(const struct model *model);

/* Alerts that are open, by the daemon or the database; -1 when not known. */
int64_t tui_model_alerts_open(const struct model *model);

#endif

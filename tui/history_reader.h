/* Shared by history.c, its parts and last_known.c: the open database, and the conversion of its rows. */
#ifndef TUI_HISTORY_READER_H
#define TUI_HISTORY_READER_H

#include "db/list.h"
#include "db/reader.h"
#include "exchange/bar.h"
#include "record/json.h"
#include "tui/history.h"

/* Money put into an account and taken out of it after a time, as far as it was read. */
struct history_flows {
    int64_t after_ns;
    uint64_t last_id; /* of the ledger */
    int128_t net;     /* less what was taken out; the currency's scale */
};

struct history_reader {
    struct db_reader *db;
    int64_t at_ns;   /* the moment of which it reads, tui_history_open_at(); 0: now */
    bool curve_read; /* that much of that account has been read; from there only what is new */
    char curve_account[ACCOUNT_NAME_MAX];
    enum history_span curve_span;
    struct history_flows flows; /* of that account */
    struct history_want want;   /* of the last reading, if `read` */
    bool read;
    struct statistics *statistics;
    struct history_unread unread;    /* since it was opened */
    int64_t equity_ns[ACCOUNTS_MAX]; /* of each account's newest point that was seen */
    double day_pnl[ACCOUNTS_MAX];    /* of the day of that point: of the one at day_ns */
    int64_t day_ns[ACCOUNTS_MAX];
    double drawdown[ACCOUNTS_MAX];     /* of a saved backtest's accounts, the deepest: at drawdown_ns */
    double interest[ACCOUNTS_MAX];     /* likewise, that was paid */
    int64_t drawdown_ns[ACCOUNTS_MAX]; /* the newest point then; 0: not read */
};

/* Digits after the point that a symbol's filters allow: "61837.63", however many its scale has. */
int tui_history_price_decimals(const struct db_symbol_row *row);
int tui_history_qty_decimals(const struct db_symbol_row *row);

/* Rows of the database as they are shown; a fill's tag, which is its order's, stays "". */
void tui_history_take_order(const struct db_order_row *row, struct status_order *ret);
void tui_history_take_fill(const struct db_fill_row *row, struct history_fill *ret);
void tui_history_take_trip(const struct db_trip *row, struct history_trip *ret);
void tui_history_take_alert(const struct db_alert *row, struct history_alert *ret);

void tui_history_take_ledger(const struct db_ledger_row *row, struct history_ledger *ret);

/* Lines of the log of them, and of a command: history_command.c. The first begins one, without its text. */
void tui_history_begin_line(struct history_log *line, int64_t ts_ns, const char *kind, int64_t id, bool bad);
void tui_history_log_order(const struct status_order *order, struct history_log *ret);
void tui_history_log_alert(const struct history_alert *alert, struct history_log *ret);
/* Of a refused command's stored result: "CODE: message", without JSON's syntax. */
void tui_history_refusal(char *buf, size_t size, const char *result);

void tui_history_log_command(const struct db_command *row, struct history_log *ret);

/* The members of an order that the database names otherwise than the status. */
extern const struct record_key tui_history_order_keys[1];

/* The bars that are wanted of one symbol and interval with what indicators are kept, and the intervals that
 * there are. 0 or -errno. */
int tui_history_read_bars(struct history_reader *reader, struct history *h, const struct history_want *want);

/* The names of all accounts, and of the one that is wanted, else the first, the curve with its days and
 * flows: whole, or what is new of it. 0 or -errno. */
int tui_history_read_equity(struct history_reader *reader, struct history *h, const struct history_want *want,
                            int64_t wall_ns);

/* A symbol's newest bar, in present shares, that ended then or before. 1: there is one; 0; -errno. */
int tui_history_bar_until(struct db_reader *db, const char *symbol, int64_t interval_ns, int64_t end_ns,
                          struct bar *ret);

/* The closes of a symbol ("" for none) over the time of the curve that was read; what is new of them where
 * that is longer by now. 0 or -errno. */
int tui_history_read_benchmark(struct history_reader *reader, struct history *h, const char *symbol);

/* The past of one training, "" for none: points and evaluations from where the last reading of it ended,
 * unless it has been started again or gone back since. 0 or -errno. */
int tui_history_read_training(struct history_reader *reader, struct history_training *past, const char *name);

/* The learning curve of one training alone, likewise. */
int tui_history_read_points(struct history_reader *reader, struct history_points *points, const char *name);

/* Devices and processes. 0 or -errno. */
int tui_history_read_devices(struct history_reader *reader, int64_t now_ns, struct history_devices *h);

/* The last state of trainings, policies and the champion in the database; after the accounts. 0 or -errno. */
int tui_history_status_trainings(struct history_reader *reader, int64_t wall_ns, struct status *status);

/* The keys and values of a configuration file, as many as fit. */
void tui_history_parameters(struct history_training *past, const char *config);

/* Between them a row that cannot be read is left out, and kept in reader->unread. */
void tui_history_leave_out(struct history_reader *reader, bool leaves);

/* What the result r of a reading costs where that was of a row that cannot be read: a figure, not all. The
 * row is kept in reader->unread. True: it was so. */
bool tui_history_unreadable(struct history_reader *reader, int r);

/* Passes the reader's error on; returns r. */
int tui_history_failed(struct history_reader *reader, int r, char *err, size_t err_size);

#endif

/* Fills the model: the status once an interval over the control socket, the past from the database; sends
 * the user's commands and reports their outcomes. Never touches the screen. */
#ifndef TUI_COLLECT_H
#define TUI_COLLECT_H

#include <jansson.h>

#include "cli/control_client.h"
#include "db/state.h"
#include "tui/backtest_job.h"
#include "tui/history.h"
#include "tui/model.h"
#include "tui/study_source.h"
#include "tui/sweep_job.h"
#include "tui/view.h"

/* Trainings for which the pending command is to be repeated, and the outcomes of those before. */
struct collector_rest {
    char command[24], names[STATUS_STUDY_TRAININGS_MAX][STATUS_TRAINING_NAME_MAX];
    char *configs[STATUS_STUDY_TRAININGS_MAX]; /* [n] with which, owned; NULL: with none */
    char now[STATUS_TRAINING_NAME_MAX];        /* whose command is pending; "": there is only one */
    int n, next;
    bool refused;
    char words[CANVAS_SIDE_MAX];
};

/* Trainings that are to be restarted with the same changes, tui/collect_each.c: first their configurations
 * are requested, then each is checked. */
struct collector_each {
    char names[STATUS_STUDY_TRAININGS_MAX + 1][STATUS_TRAINING_NAME_MAX]; /* the form's first */
    char *texts[STATUS_STUDY_TRAININGS_MAX + 1];                          /* [n] owned; NULL: not known yet */
    int n, at;                                                            /* n 0: no restart is under way */
    bool checks;
    int64_t id, sent_ms; /* of the request for `at` */
};

/* What `papertape explain` prints of the order whose page is shown, tui/collect_item.c. */
struct collector_explain {
    struct tui_child child;
    char *text;                      /* owned; NULL: nothing yet */
    char words[CHILD_COMPLAINT_MAX]; /* what it complained of; "" */
    int64_t started_ms, of_ns;       /* monotonic, 0: never; the order's last change then */
    int64_t at_ns;                   /* of which moment; 0: of now */
};

/* The book of a past moment, tui/collect_book.c; when its child has ended, the shown model has it. */
struct collector_book {
    struct tui_child child;
    char symbol[SYMBOL_NAME_MAX]; /* "": no book is wanted */
    int64_t at_ns;
};

struct collector {
    struct state_dir state;
    struct model *model; /* owned */
    struct control_client control;
    bool turned_away;                    /* by the operators' socket: the readers' is used */
    struct history_reader *reader;       /* NULL while the database cannot be opened */
    json_t *status_json;                 /* the last status as it came, owned; NULL */
    int64_t status_id, status_sent_ms;   /* of the pending request; id 0: none */
    int64_t command_id, command_sent_ms; /* likewise */
    char command[24];
    char *line;          /* of the command line, whose command it is, owned; NULL */
    int64_t late_id;     /* of a command that counts as unanswered, and may yet be answered; 0 */
    bool command_listed; /* of a training or a policy: their list shows its outcome */
    struct collector_rest rest;
    struct collector_each each;
    int64_t text_id, text_sent_ms; /* of the form's request for its text, or for a check */
    bool text_checks;
    int64_t plan_id;                        /* of the form's request for a study's plan; 0: none */
    int64_t log_id, log_sent_ms, log_at_ms; /* of the worker's log; when it is requested again */
    char log_training[STATUS_TRAINING_NAME_MAX];
    struct history_want want;           /* what is shown */
    char depth_symbol[SYMBOL_NAME_MAX]; /* whose book and trades are shown; "": none */
    int64_t book_id, tape_id;           /* of the requests for them; 0: nothing is pending */
    char live_symbol[SYMBOL_NAME_MAX];  /* whose chart is shown, and of what timeframe; "": none */
    char live_timeframe[STATUS_WORD_MAX];
    int64_t live_id;                  /* of the request for what forms; 0: nothing is pending */
    struct tui_study_reader *studies; /* NULL: without a thread there are no studies */
    struct tui_study_want study_want;
    struct tui_list_reader *lists; /* NULL: without a thread the lists have their newest rows */
    struct lists_want lists_want;
    struct tui_study_source *source;    /* of what is read without a thread; NULL: nothing was yet */
    char *studies_url, *studies_folder; /* owned */
    int64_t dry_id, dry_sent_ms;        /* of a dry run for the order's form; id 0: none */
    char dry_line[COMMAND_LINE_MAX];    /* whose */
    struct backtest_job job;
    struct sweep_job sweep;
    struct item item;                    /* whose page is shown */
    struct tui_past_reader *past_reader; /* NULL: nothing of the past was wanted yet */
    struct model *past;                  /* what is shown of a moment, owned; NULL: it is now */
    struct history_want past_want;       /* what was wanted of it last */
    struct history_reader *past_rows;    /* of that moment, for single rows; NULL: not opened yet */
    struct collector_book past_book;
    unsigned visit; /* how often the past was left */
    struct collector_explain explain;
};

/* `studies`: where studies are kept, as study_store_open() has it; NULL: studies.db of the state directory. 0
 * or -ENOMEM. */
int tui_collector_init(struct collector *collector, const struct state_dir *state, const char *studies,
                       int64_t interval_ms);
void tui_collector_finish(struct collector *collector);

/* Once an interval: connects if need be, asks for the status, reads the database. */
void tui_collector_tick(struct collector *collector, struct moment now);

/* What the next tick reads of the database. */
void tui_collector_want(struct collector *collector, const struct history_want *want);

/* Where the bars end that are read from now on: history_want.bars_end_ns. Reads them at once, where a tick
 * has read the database before. */
void tui_collector_bars(struct collector *collector, int64_t end_ns);
/* Whose page the next tick reads; the explanation of another order is stopped. */
void tui_collector_want_item(struct collector *collector, const struct item *item);
/* After poll() of collector->explain.child: true when there is something new to draw. */
bool tui_collector_explain_io(struct collector *collector, struct moment now);
/* Reads the lists of a layout and the page of view->item, a round trip's of its row, without the thread,
 * after tui_collector_once(); waits for an order's explanation at most timeout_ms: for what is printed. */
void tui_collector_page_once(struct collector *collector, struct view *view, const struct layout *layout,
                             int timeout_ms);
/* Internal: reads that page, and forgets it. */
void tui_collector_read_item(struct collector *collector, struct moment now);
void tui_collector_item_finish(struct collector *collector);

/* The model that is shown: of a past moment, or of now. */
struct model *tui_collector_shown(struct collector *collector);
/* What of the past is to be shown; how a visit is numbered is the collector's. Until it is read, what is
 * shown stays. */
void tui_collector_past(struct collector *collector, struct view *view, const struct past_want *want,
                        struct moment now);
void tui_collector_leave_past(struct collector *collector, struct view *view);
/* Of the thread that reads it, as tui_collector_studies_fd() and tui_collector_take_studies(). */
int tui_collector_past_fd(const struct collector *collector);
bool tui_collector_take_past(struct collector *collector, struct view *view, struct moment now);
/* Reads a moment at once, for what is printed so many columns wide. False: it could not be read, as the words
 * say. */
bool tui_collector_past_once(struct collector *collector, struct view *view, const struct past_want *go,
                             int width, char words[static STATUS_TEXT_MAX]);
/* The book of the past that is shown: of this symbol, "": of none. What is played for another is stopped. */
void tui_collector_want_book(struct collector *collector, const char *symbol);
/* After poll() of collector->past_book.child: true when there is something new to draw. */
bool tui_collector_book_io(struct collector *collector);
/* Waits for it at most timeout_ms: for what is printed. */
void tui_collector_book_once(struct collector *collector, const char *symbol, int timeout_ms);
void tui_collector_book_finish(struct collector *collector); /* internal */
/* Internal: the reader of the shown model's rows; NULL while it cannot be opened. */
struct history_reader *tui_collector_rows(struct collector *collector);

/* Whose order book and newest trades each tick requests from now on; "": none. */
void tui_collector_want_depth(struct collector *collector, const char *symbol);
/* Of which symbol and timeframe each tick requests the bar that is forming; "": of none. */
void tui_collector_want_live(struct collector *collector, const char *symbol, const char *timeframe);
/* Requests all of them, and waits at most timeout_ms: for what is printed. */
void tui_collector_depth_once(struct collector *collector, int timeout_ms);
/* Internal: requests them, unless they are requested already; an answer to one of these requests (false: to
 * none); the daemon closed the connection. */
void tui_collector_ask_depth(struct collector *collector);
bool tui_collector_depth_reply(struct collector *collector, int64_t id, const json_t *reply,
                               struct moment now);
void tui_collector_depth_lost(struct collector *collector);

/* What the next tick reads of the studies. */
void tui_collector_want_study(struct collector *collector, const struct tui_study_want *want);

/* The descriptor of the thread that reads the studies, to poll for input; -1: there is none. After poll():
 * takes what it has read. True when there is something to draw. */
int tui_collector_studies_fd(const struct collector *collector);
bool tui_collector_take_studies(struct collector *collector);

/* What is to be read of the long lists, at once: the next tick looks whether it has changed. */
void tui_collector_want_lists(struct collector *collector, const struct lists_want *want);

/* Likewise of the thread that reads them. */
int tui_collector_lists_fd(const struct collector *collector);
bool tui_collector_take_lists(struct collector *collector, struct view *view, struct moment now);

/* Reads them without the thread, after tui_collector_once(), for what is printed: an error goes to the
 * model's database_words. */
void tui_collector_lists_once(struct collector *collector, struct view *view, const struct layout *layout);

/* The descriptor to poll and its events; -1 when there is no connection. */
int tui_collector_fd(const struct collector *collector, short *ret_events);

/* After poll(): reads answers into the model, and passes a command's outcome to the view. True when there
 * is something new to draw. */
bool tui_collector_io(struct collector *collector, struct view *view, struct moment now);

/* Sends a command; the view says that it is pending. Takes `args`. One at a time: another is refused, as is
 * each that tui_view_barred() bars: a key may have been pressed before the past that is shown came. An
 * answer that comes after COMMAND_TIMEOUT_MS is shown, too, unless another command was sent. */
void tui_collector_command(struct collector *collector, struct view *view, const char *command, json_t *args,
                           struct moment now);

/* Does what a line of the command line says, as tui_collector_command(), or the view says why not: with
 * --readonly, and where this user may only read, nothing that changes something. The id of the command; 0:
 * nothing was sent. */
int64_t tui_collector_line(struct collector *collector, struct view *view, const char *text,
                           struct moment now);
/* What the line's verb says of the answer. */
enum outcome tui_collector_line_outcome(const char *text, const json_t *reply, char *words, size_t size);

/* What is shown of view->order_form, where there is one: the venue's rules of its symbol, and the dry run of
 * its line, which is requested when the line has changed, and `again`; tui/collect_order.c. */
void tui_collector_order_form(struct collector *collector, struct view *view, struct moment now, bool again);
/* Sends the form's line, as tui_collector_line(); done, the form closes. */
void tui_collector_order_send(struct collector *collector, struct view *view, struct moment now);
/* Internal: as tui_collector_train_reply(), tui_collector_train_lost(). */
bool tui_collector_order_reply(struct collector *collector, struct view *view, int64_t id,
                               const json_t *reply, struct moment now);
bool tui_collector_order_lost(struct collector *collector, struct view *view, bool hung_up,
                              struct moment now);

/* The same with the argument name: `name`, and then, one by one, each of view->also; the view gets the
 * outcome of all of them. */
void tui_collector_command_each(struct collector *collector, struct view *view, const char *command,
                                const char *name, struct moment now);

/* Restarts each by its text, which it takes, one by one. */
void tui_collector_restart_each(struct collector *collector, struct view *view, struct collector_each *each,
                                struct moment now);

/* Restarts the training of view->page and each of view->also with what was changed in the page, if all of
 * their configurations can be fetched and are valid with it; else none, and the view names the one that
 * failed. */
void tui_collector_each_begin(struct collector *collector, struct view *view, struct moment now);
void tui_collector_each_end(struct collector *collector);
/* As tui_collector_train_reply(), tui_collector_train_lost(). */
bool tui_collector_each_reply(struct collector *collector, struct view *view, int64_t id, const json_t *reply,
                              struct moment now);
bool tui_collector_each_lost(struct collector *collector, struct view *view, bool hung_up, struct moment now);

/* Requests the text of view->page: the training's configuration, or the default. The page gets it, or is
 * closed when none comes. */
void tui_collector_form(struct collector *collector, struct view *view, struct moment now);

/* Sends the text of view->page for a check: its errors go to their lines. */
void tui_collector_check(struct collector *collector, struct view *view, struct moment now);

/* Does it fit into a request's line? */
bool tui_collector_text_fits(const char *text);

/* Passes a check's errors to the page's lines. */
void tui_collector_form_errors(struct form_page *page, const json_t *errors);

/* Starts or restarts the training with what the page has, view->also too; done, the page closes. */
void tui_collector_send_form(struct collector *collector, struct view *view, struct moment now);

/* Requests the worker's log of a training every MODEL_LOG_EXPECTED_MS, at once when it is another; "":
 * none. */
void tui_collector_log(struct collector *collector, const char *training, struct moment now);

/* Internal: an answer to one of these requests, or to a train_ command (its page, then). False: to none. */
bool tui_collector_train_reply(struct collector *collector, struct view *view, int64_t id,
                               const json_t *reply, struct moment now);
void tui_collector_train_done(struct view *view, const char *command, const json_t *reply);
/* The daemon closed the connection, or did not answer in time. True when the view has changed. */
bool tui_collector_train_lost(struct collector *collector, struct view *view, bool hung_up,
                              struct moment now);

/* Starts a backtest of the account's strategy, or stops the one that runs; the view is notified. */
void tui_collector_backtest(struct collector *collector, struct view *view, const char *account,
                            struct moment now);
void tui_collector_stop_backtest(struct collector *collector, struct view *view, struct moment now);
/* Reads the backtest's output; the view is notified when it ends. True when there is something to draw. */
bool tui_collector_backtest_io(struct collector *collector, struct view *view, struct moment now);

/* tui/collect_sweep.c: does what the pages of sweeps want, and reads the files of all; where there are no
 * pages, ends what was asked for them. */
void tui_collector_sweeps(struct collector *collector, struct view *view, struct moment now);
/* Reads what its children print; true when there is something to draw. */
bool tui_collector_sweeps_io(struct collector *collector, struct view *view, struct moment now);

/* Notices a command that was not answered in time. True when the view has changed. */
bool tui_collector_expire(struct collector *collector, struct view *view, struct moment now);

enum { COLLECTOR_BUSY_MS = 2000 }; /* how long a printed screen waits for a lock of the studies */
/* The same once, waiting for the status at most timeout_ms, and for the studies: for what is printed. */
void tui_collector_once(struct collector *collector, int timeout_ms);

/* Then reads the database at once, with what is wanted of it; all fills, however many calls that takes. */
void tui_collector_read(struct collector *collector, const struct history_want *want);

/* Reads what has changed of the studies without the thread. `busy_ms`: how long to wait for a lock, the
 * same at each call. */
void tui_collector_studies_once(struct collector *collector, const struct tui_study_want *want, int busy_ms);

#endif

/* Reads windows of the long lists from papertape.db, in a thread of its own or at once. */
#ifndef TUI_LIST_SOURCE_H
#define TUI_LIST_SOURCE_H

#include "db/report/trips.h"
#include "tui/history.h"
#include "tui/list.h"

enum {
    LIST_NUMBERS_MAX = LIST_HEADS_MAX * 21 + 3, /* bytes of a JSON array of the heads' numbers */
    LIST_UNREAD_MAX = 120,
};

/* What is shown of a list. Compared as bytes: made of zeros. */
struct list_want {
    bool used;
    int64_t at_ns;              /* as of that moment, db/as_of.h; 0: now */
    struct db_list_query query; /* its `without` is NULL: the next member has them */
    char without[LIST_NUMBERS_MAX];
    int64_t id, at; /* as db_list_read() */
    int asked;      /* a search that was not answered yet; 0: none */
    bool back;
    int64_t from;
    char find[DB_LIST_WORDS_MAX];
};

struct lists_want {
    struct list_want list[DB_LISTS];
};

/* The rows that were read of a list, owned. */
struct list_rows {
    bool have;
    int64_t at_ns;              /* of when they are */
    struct db_list_query query; /* that they were read by; its `without` is NULL */
    char without[LIST_NUMBERS_MAX];
    struct db_list_window window;
    void *rows; /* [window.n] struct status_order, history_fill, history_alert, history_log,
                   history_trip, history_ledger or history_list_bar */
    char (*unread)[LIST_UNREAD_MAX]; /* [window.n] which of its values cannot be read, a row without is ""; or
                                        NULL: all can */
    bool summed;                     /* `sums` were read again; else the former ones hold */
    struct db_trip_sums sums;        /* of the round trips, of all accounts */
    char words[DB_ERROR_MAX];        /* why it could not be read; "" */
    int answered;                    /* the search that was answered */
    int64_t result;                  /* the row that it found; 0: none */
};

void tui_list_rows_finish(struct list_rows *rows);
size_t tui_list_row_size(enum db_list list);

/* Reads one list of an open database; `sums`: those of the round trips, too. 0; -EINTR: interrupted; -errno.
 * *ret changes on success only. */
int tui_list_source_read(struct db_reader *db, enum db_list list, const struct list_want *want, bool sums,
                         struct list_rows *ret);

/* Keeps the sums of `before`, which loses them, where `now` has not read them again. */
void tui_list_rows_keep_sums(struct list_rows *now, struct list_rows *before);

struct tui_list_reader;

/* Starts the thread, which opens the database when something is wanted. NULL without memory or a thread. */
struct tui_list_reader *tui_list_reader_create(const char *path);
void tui_list_reader_destroy(struct tui_list_reader *reader);

/* To poll for input: rows have come. */
int tui_list_reader_fd(const struct tui_list_reader *reader);

/* Never waits. A query that runs for another order, filter or search is interrupted. */
void tui_list_reader_want(struct tui_list_reader *reader, const struct lists_want *want);

/* Takes what has been read since: of the other lists, `have` is false. False: nothing new. */
bool tui_list_reader_take(struct tui_list_reader *reader, struct list_rows ret[static DB_LISTS]);

#endif

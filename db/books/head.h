/* The head of the books: what the record and the event log are at one moment, in one line of JSON: the schema
 * papertape.anchor/1. Kept elsewhere, signed (db/books/sign.h) and stamped (db/books/stamp.h), it is an
 * anchor: rows that it covers cannot be altered, put in another order or deleted without it no longer holding
 * (db/books/attest.h). */
#ifndef DB_BOOKS_HEAD_H
#define DB_BOOKS_HEAD_H

#include "db/books/chain.h"
#include "db/reader.h"
#include "exchange/journal/journal.h"

/* A row that had not settled. */
struct db_head_open {
    uint64_t id;
    uint8_t seal[DB_CHAIN_SIZE];
};

enum { DB_HEAD_NAME_MAX = 32 };

struct db_head_table {
    char name[DB_HEAD_NAME_MAX];
    uint64_t last; /* the greatest id of a table whose rows settle; else 0 */
    struct db_chain chain;
    struct db_head_open *open; /* n_open of them, by id */
    size_t n_open;
};

/* Why it was made: on request, at a daemon's start, daily, at a clean stop. */
enum db_head_occasion { DB_HEAD_ASKED, DB_HEAD_START, DB_HEAD_DAY, DB_HEAD_STOP };

struct db_head {
    enum db_head_occasion occasion;
    int64_t ts_ns;      /* the wall's */
    uint64_t event_seq; /* the newest event whose rows are in the record */
    int64_t run;        /* the newest row of runs; 0: none */
    bool stopped;       /* that run ended by a clean stop, or there is none */
    int version;        /* of the schema */
    bool logged;        /* is there an event log? */
    struct journal_head log;
    struct db_head_table *tables; /* in the order of db_tables */
    size_t n_tables;
};

/* Reads the record at one moment, and then the end of the log in that directory. 0; -errno, with err. */
int db_head_take(struct db_reader *reader, const char *events, enum db_head_occasion occasion, int64_t now_ns,
                 struct db_head **ret, char *err, size_t err_size);
/* The same without the log and the tables, in the caller's db_reader_begin(). A SQLite result code. */
int db_head_take_moment(struct db_reader *reader, struct db_head *head);
void db_head_destroy(struct db_head *head);

/* A table by its name; NULL. */
const struct db_head_table *db_head_table(const struct db_head *head, const char *name);

/* Its line, without a newline; the caller's. NULL without memory. */
char *db_head_text(const struct db_head *head);

/* Reads one, with or without signature and stamp. 0; -EINVAL with err: what is wrong; -ENOMEM. */
int db_head_parse(const char *text, size_t len, struct db_head **ret, char *err, size_t err_size);

/* "2026-11-29T16:20:01Z" */
enum { DB_HEAD_TIME_MAX = 32 };
const char *db_head_time(int64_t ts_ns, char text[static DB_HEAD_TIME_MAX]);

#endif

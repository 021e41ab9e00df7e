/* Which rows of the record the event log can still compute, and which rest on the database alone: their
 * events are gone from the log, or never were in it, so that no replay finds them altered. The ranges are of
 * numbers: every order, fill and ledger row from first to last. */
#ifndef DB_BOOKS_REACH_H
#define DB_BOOKS_REACH_H

#include <jansson.h>

#include "db/reader.h"

enum db_reach_why {
    DB_REACH_RETENTION, /* retention removed the segments, and noted each before */
    DB_REACH_HOLE,      /* the disk refused the events: the log itself says so */
    DB_REACH_BEFORE,    /* they were missing when the notes began: not known why */
    DB_REACH_UNLOGGED,  /* the record was written without a log, as a backtest's is */
    DB_REACH_MISSING,   /* no note says why: the log was removed, cut, or is another one */
    DB_REACH_WHYS,
};

enum db_reach_table { DB_REACH_LEDGER, DB_REACH_FILLS, DB_REACH_ORDERS, DB_REACH_TABLES };
extern const char *const db_reach_names[DB_REACH_TABLES]; /* of the tables */

struct db_reach_rows {
    uint64_t first, last; /* last < first: none */
};

struct db_reach_range {
    enum db_reach_why why;
    uint64_t from_seq, to_seq;   /* the events */
    uint64_t lost_from, lost_to; /* of MISSING: those of them that no note explains */
    bool open;                   /* the log ends before them: one that is being written may still have them */
    struct db_reach_rows rows[DB_REACH_TABLES];
};

struct db_reach {
    struct db_reach_range *ranges; /* oldest first; each has rows */
    size_t n;
    uint64_t event_seq;                           /* the record's newest event; 0: it has none */
    uint64_t begins;                              /* the log begins after this event; 0: with the first */
    struct db_reach_rows before[DB_REACH_TABLES]; /* the rows of before it */
    bool missing;                                 /* one is DB_REACH_MISSING */
    bool noted;                                   /* there are notes */
};

enum { DB_REACH_WORDS_MAX = 320 };

/* The row of `meta` where the daemon keeps db_reach_ledger_rows(), for who reads no log. */
#define DB_REACH_ROWS_KEY "database_rows"

/* Reads the notes and the log in the directory `events`; `reader` is at no row, and reads one snapshot if the
 * caller began one. 0; errors of engine_reach_read(); -errno; err: one sentence. */
int db_reach_read(struct db_reader *reader, const char *events, struct db_reach *ret, char *err,
                  size_t err_size);
void db_reach_finish(struct db_reach *reach);

const char *
db_reach_why_name(enum db_reach_why why); /* "retention", "hole", "before", "unlogged", "missing" */

/* "ledger rows 1..812, fills 1..45 and orders 1..30", and all of it: "… rest on the database alone: retention
 * removed events 1 to 8123". */
void db_reach_rows_words(const struct db_reach_range *range, char ret[static DB_REACH_WORDS_MAX]);
void db_reach_words(const struct db_reach_range *range, char ret[static DB_REACH_WORDS_MAX]);

/* How many ledger rows of the record rest on the database. */
uint64_t db_reach_ledger_rows(const struct db_reach *reach);

/* An array with an object for each table of each range: {"table": "ledger", "first": 1, "last": 812,
 * "from_seq": 1, "to_seq": 8123, "why": "retention"}. NULL without memory. */
json_t *db_reach_json(const struct db_reach *reach);

#endif

/* What the verbs share that list rows of the database: their options, the database, and one list in three
 * forms: a table for people, CSV with exact decimals, JSON with numbers. */
#ifndef CLI_STORED_H
#define CLI_STORED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "db/reader.h"
#include "db/state.h"
#include "record/json.h"
#include "record/option.h"
#include "record/value.h"

enum stored_form { STORED_TABLE, STORED_CSV, STORED_JSON };

enum stored_form cli_stored_form(const struct option_call *call);

/* A time as such an option takes it, STORED_TIME_WORDS. False: it is none. */
bool cli_stored_time_parse(const char *text, int64_t *ret_ns);
/* "-90s", "-1h": how long before, nanoseconds. False: it is none. */
bool cli_stored_ago_parse(const char *text, int64_t *ret_ns);
/* Takes one into the int64_t at row->at, nanoseconds. */
int cli_stored_take_time(struct option_call *call, const struct option_row *row, const char *value);
#define STORED_TIME_WORDS "ISO 8601 (UTC without a zone), epoch in s, ms, us or ns, or as -1h before now"

/* A symbol's name as venues list it, in upper case: people write it in either. Returns name, cut to fit. */
const char *cli_stored_symbol(const char *word, char name[static SYMBOL_NAME_MAX]);

/* Prints `papertape: VERB: WHAT: WORDS` and returns the status. */
int cli_stored_fail(int status, const char *verb, const char *what, const char *words);

/* The log of an argument: a log's directory, one segment, or a state directory, whose log is in its
 * events/. An exit status. */
int cli_stored_find_log(const char *verb, const char *given, char path[static STATE_PATH_MAX]);

/* The state directory of --state, which must have an event log; else reports why not. An exit status. */
int cli_stored_state(const struct option_call *call, struct state_dir *ret);

/* Of a database that is missing while a daemon runs on its state. */
#define CLI_STORED_GONE \
    "it is gone, while papertaped runs on it: stop that, and put the file back, or papertape restore --from-events"

/* Opens the state directory's database, or one by its path, or reports why not. An exit status. */
int cli_stored_open(const char *verb, const char *state, struct db_reader **ret);
int cli_stored_open_file(const char *verb, const char *database, struct db_reader **ret);

/* Closes it; r is the queries' result: an exit status, after reporting a failure. */
int cli_stored_close(const char *verb, struct db_reader *reader, int r);

/* ---- lists ---- */

enum {
    STORED_COLUMNS_MAX = 64,
    STORED_CELL = RECORD_TEXT_MAX,
    STORED_JSON_ONLY = 1000, /* widths of a record's list: in JSON alone, */
    STORED_NOWHERE,          /* in no form */
};

/* How a column of objects shows a member: a text unchanged, whatever the kind; "" for null. */
enum stored_kind {
    STORED_TEXT,
    STORED_INTEGER,
    STORED_REAL,
    STORED_COUNT, /* "1.2M" in a table */
    STORED_AGE,   /* of milliseconds */
    STORED_TIME,  /* of nanoseconds; 0: none */
};

struct stored_column {
    const char *name; /* a table, which shows nanoseconds as times, heads NAME_ns with NAME */
    int width;        /* at least, in the table; negative: aligned to the left; 0: not in the table */
    enum stored_kind kind;
    int decimals; /* of a real; of a record's: 0 is as many as it takes */
    /* Of a record's list: a value that is not a field of it, or shown otherwise. */
    const char *(*derived)(const void *row, const struct record_context *context);
    bool json; /* its text is JSON */
};

/* It begins with its first row. CSV has behind its columns one in ISO 8601 for each of times
 * (record/times.h): so each column keeps its name and its place. A table's columns are as wide as their
 * widest cells of the first rows. */
struct stored_list {
    const char *name; /* "fills": schema papertape.fills/1 */
    const char *key;  /* of the rows in JSON; NULL: name */
    enum stored_form form;
    const struct stored_column *columns; /* NULL: own */
    int n_columns;
    const struct record *record; /* NULL: cells and objects are given */
    struct stored_column own[STORED_COLUMNS_MAX];
    unsigned long rows;
    int r;      /* -ENOMEM once a row could not be written */
    FILE *out;  /* NULL: stdout */
    bool fits;  /* a table's lines are cut to the terminal's width */
    bool plain; /* CSV without the columns in ISO 8601: what reads it has types */
    bool started;
    char *kept; /* a table's rows, before the widths are known */
    char *tail; /* what stands behind them: lines of a table, members of a JSON object with a comma before
                   each; freed at its end; NULL: nothing */
    size_t n_kept, cap_kept;
    int widths[STORED_COLUMNS_MAX];
};

/* A list of `record` with `columns` in that order. Fields that it does not name stand behind them, in the
 * record's order; a table has texts and the numbers of other rows of them. `out`: NULL is stdout. */
struct stored_list cli_stored_list_of(const struct record *record, const struct stored_column *columns, int n,
                                      enum stored_form form, FILE *out);
void cli_stored_record_row(struct stored_list *list, const void *row, const struct record_context *context);
/* A derived column's value of such a row's object. NULL without memory. */
json_t *cli_stored_derived(const struct stored_column *column, const void *row,
                           const struct record_context *context);

/* A field's text in a table or in CSV, in `buf` or the row's own; "" for none. `decimals` of a real: 0 is as
 * many as it takes. `context` may lack symbol and account. */
const char *cli_stored_cell(enum stored_form form, char buf[static STORED_CELL],
                            const struct record_field *field, int decimals, const void *row,
                            const struct record_context *context);

/* The lists of orders, fills and ledger rows, whose amounts have their own scale. */
struct stored_list cli_orders_list(enum stored_form form, FILE *out);
struct stored_list cli_fills_list(enum stored_form form, FILE *out);
/* Into a fill's object: what its list has that is no field of its record, as fee_asset and rate. */
void cli_fills_derived(json_t *object, const struct fill *fill, const struct record_context *context);
struct stored_list cli_ledger_list(enum stored_form form, FILE *out);
void cli_ledger_row(struct stored_list *list, const struct ledger_row *row, const char *account);

/* Writes a text as a cell of CSV, quoted where it must be. What is no UTF-8, and control characters, line
 * ends among them, are '?': a row is a line. */
void cli_stored_csv(FILE *out, const char *text);

/* A row's texts, one a column; for the table and CSV. */
void cli_stored_row(struct stored_list *list, const char *const *cells);
/* A row's object, which it takes; NULL counts as -ENOMEM. */
void cli_stored_object(struct stored_list *list, json_t *object);
void cli_stored_end(struct stored_list *list);

/* Prints the rows that read() finds at one moment of the state directory's database. Nothing is printed where
 * it fails before the first. An exit status. */
int cli_stored_print_list(struct option_call *call, const char *verb, struct stored_list *list,
                          int (*read)(struct db_reader *reader, const struct option_call *call,
                                      struct stored_list *list));

/* The same of a reader, which it closes. */
int cli_stored_print_of(struct option_call *call, const char *verb, struct db_reader *reader,
                        struct stored_list *list,
                        int (*read)(struct db_reader *reader, const struct option_call *call,
                                    struct stored_list *list));

/* An object, which it takes, in one line on stdout. An exit status. */
int cli_stored_print(const char *verb, json_t *object, size_t digits);

/* Texts into buf[STORED_CELL], which they return: every decimal of the scale in CSV, no trailing zeros in a
 * table; "" for a value of 0 that means none; nanoseconds in CSV, with milliseconds else, in a table in
 * the zone of cli_format_local(); a hash's bytes. */
const char *cli_stored_decimal(enum stored_form form, char *buf, int128_t units, int scale);
const char *cli_stored_decimal_or_none(enum stored_form form, char *buf, int64_t units, int scale);
const char *cli_stored_time(enum stored_form form, char *buf, int64_t ts_ns);
const char *cli_stored_integer(char *buf, long long value);
const char *cli_stored_hash(char *buf, const uint8_t hash[static LEDGER_HASH_SIZE]);

/* A number for JSON; null for a value of 0 that means none. */
json_t *cli_stored_number_or_null(int64_t units, int scale);

#endif

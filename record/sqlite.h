/* A record's rows in SQLite: RECORD_COLUMNS and RECORD_VALUES (record/field.h) are the statement's. */
#ifndef RECORD_SQLITE_H
#define RECORD_SQLITE_H

#include <sqlite3.h>

#include "record/field.h"

/* The mapping between a process's numbers of accounts and symbols and the database's ids. An account's number
 * is its id. A function that is NULL takes every id as it is. */
struct record_ids {
    void *ctx;
    int64_t (*symbol_id)(void *ctx, int index); /* 0: none, stored as null */
    bool (*account)(void *ctx, int64_t id);     /* does it exist? */
    int (*symbol)(void *ctx, int64_t id);       /* its index; -1: there is none */
};

/* Binds every value to the parameter with the name of its column, if the statement has it. Texts and hashes
 * are borrowed from the row, which must outlive the step. */
void record_sqlite_bind(sqlite3_stmt *stmt, const struct record *record, const void *row,
                        const struct record_ids *ids);

/* The same in two steps, for a statement of many rows: the parameter of each field, 0 for none, looked up
 * once; then a row's values. */
struct record_places {
    const struct record *record;
    uint8_t at[RECORD_FIELDS_MAX];
};
void record_sqlite_places(sqlite3_stmt *stmt, const struct record *record, struct record_places *ret);
void record_sqlite_bind_at(sqlite3_stmt *stmt, const struct record_places *places, const void *row,
                           const struct record_ids *ids);

/* Reads a row whose first columns are the record's. NULL; or the first field with an invalid value: an
 * unknown word, account or symbol, a text that is too long, a hash of another size, a volume that is no
 * number, a number that the member cannot hold. Then the fields before it are set. Null is 0, "", NaN, the
 * first word, or -1: an account, a symbol, an unknown value. A RECORD_STRING is the statement's until its
 * next step. */
const struct record_field *record_sqlite_read(sqlite3_stmt *stmt, const struct record *record, void *row,
                                              const struct record_ids *ids);

/* ---- values outside of records: a statement's parameters ?1, ?2 … and columns, in order ---- */

/* RECORD_PARAMS(id, name, 0.5): numbers, texts (NULL: null) and reals by their type; or a struct
 * record_param. Texts and blobs must outlive the step. Parameters that a statement lacks are skipped. */
struct record_param {
    enum {
        RECORD_PARAMS_END,
        RECORD_PARAM_NUMBER,
        RECORD_PARAM_REAL,
        RECORD_PARAM_TEXT,
        RECORD_PARAM_BLOB
    } kind;
    int64_t number; /* of a blob its size */
    double real;
    const void *bytes;
};
void record_sqlite_params(sqlite3_stmt *stmt, const struct record_param *params);

/* RECORD_INTO(&id, &name, &value): where a row's columns are stored, by the type of each. Null is 0, NULL,
 * NaN; a text is the statement's until its next step. Or a struct record_into, as of the two functions
 * below. */
struct record_into {
    enum {
        RECORD_INTO_END,
        RECORD_INTO_INT64,
        RECORD_INTO_INT,
        RECORD_INTO_BOOL,
        RECORD_INTO_REAL,
        RECORD_INTO_STRING,
        RECORD_INTO_CHARS,
        RECORD_INTO_BYTES
    } kind;
    void *at;
    size_t size;
};
void record_sqlite_take(sqlite3_stmt *stmt, const struct record_into *into);

/* The column after a record's, a blob of any size: the statement's until its next step. */
const void *record_sqlite_blob(sqlite3_stmt *stmt, const struct record *record, size_t *ret_size);

/* A query for its first row alone. SQLITE_ROW; SQLITE_DONE, with nothing written: there is none; another
 * result code. Texts only by record_into_chars(). */
int record_sqlite_ask(sqlite3 *db, const char *sql, const struct record_param *params,
                      const struct record_into *into);

/* A copy of a text, truncated where it is too long. */
static inline struct record_into record_into_chars(char *text, size_t size)
{
    return (struct record_into){RECORD_INTO_CHARS, text, size};
}
/* A blob of that size; one of another size changes nothing. */
static inline struct record_into record_into_bytes(void *bytes, size_t size)
{
    return (struct record_into){RECORD_INTO_BYTES, bytes, size};
}
static inline struct record_param record_param_blob(const void *bytes, size_t size)
{
    return (struct record_param){RECORD_PARAM_BLOB, .number = (int64_t)size, .bytes = bytes};
}

/* clang-format off */
#define RECORD_PARAMS(...) ((const struct record_param[]){RECORD_EACH_(RECORD_PARAM_, __VA_ARGS__) {0}})
#define RECORD_INTO(...) ((const struct record_into[]){RECORD_EACH_(RECORD_INTO_, __VA_ARGS__) {0}})

static inline struct record_param record_param_number(int64_t n) { return (struct record_param){RECORD_PARAM_NUMBER, .number = n}; }
static inline struct record_param record_param_unsigned(uint64_t n) { return record_param_number((int64_t)n); }
static inline struct record_param record_param_real(double r) { return (struct record_param){RECORD_PARAM_REAL, .real = r}; }
static inline struct record_param record_param_text(const char *t) { return (struct record_param){RECORD_PARAM_TEXT, .bytes = t}; }
static inline struct record_param record_param_same(struct record_param p) { return p; }
/* 0 is null */
static inline struct record_param record_param_id(int64_t id) { return id ? record_param_number(id) : record_param_text(NULL); }
#define RECORD_PARAM_(value) \
    _Generic((value), char *: record_param_text, const char *: record_param_text, double: record_param_real, \
             uint64_t: record_param_unsigned, struct record_param: record_param_same, \
             default: record_param_number)(value),

static inline struct record_into record_into_int64(void *p) { return (struct record_into){RECORD_INTO_INT64, p, 0}; }
static inline struct record_into record_into_int(void *p) { return (struct record_into){RECORD_INTO_INT, p, 0}; }
static inline struct record_into record_into_bool(void *p) { return (struct record_into){RECORD_INTO_BOOL, p, 0}; }
static inline struct record_into record_into_real(void *p) { return (struct record_into){RECORD_INTO_REAL, p, 0}; }
static inline struct record_into record_into_string(void *p) { return (struct record_into){RECORD_INTO_STRING, p, 0}; }
static inline struct record_into record_into_same(struct record_into i) { return i; }
#define RECORD_INTO_(to) \
    _Generic((to), int64_t *: record_into_int64, uint64_t *: record_into_int64, int *: record_into_int, \
             bool *: record_into_bool, double *: record_into_real, const char **: record_into_string, \
             struct record_into: record_into_same)(to),

/* DO(a) DO(b) … for one to eleven. */
#define RECORD_EACH_(DO, ...) RECORD_EACH_N_(__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )(DO, __VA_ARGS__)
#define RECORD_EACH_N_(a, b, c, d, e, f, g, h, i, j, k, n, ...) RECORD_EACH_##n##_
#define RECORD_EACH_1_(DO, a) DO(a)
#define RECORD_EACH_2_(DO, a, ...) DO(a) RECORD_EACH_1_(DO, __VA_ARGS__)
#define RECORD_EACH_3_(DO, a, ...) DO(a) RECORD_EACH_2_(DO, __VA_ARGS__)
#define RECORD_EACH_4_(DO, a, ...) DO(a) RECORD_EACH_3_(DO, __VA_ARGS__)
#define RECORD_EACH_5_(DO, a, ...) DO(a) RECORD_EACH_4_(DO, __VA_ARGS__)
#define RECORD_EACH_6_(DO, a, ...) DO(a) RECORD_EACH_5_(DO, __VA_ARGS__)
#define RECORD_EACH_7_(DO, a, ...) DO(a) RECORD_EACH_6_(DO, __VA_ARGS__)
#define RECORD_EACH_8_(DO, a, ...) DO(a) RECORD_EACH_7_(DO, __VA_ARGS__)
#define RECORD_EACH_9_(DO, a, ...) DO(a) RECORD_EACH_8_(DO, __VA_ARGS__)
#define RECORD_EACH_10_(DO, a, ...) DO(a) RECORD_EACH_9_(DO, __VA_ARGS__)
#define RECORD_EACH_11_(DO, a, ...) DO(a) RECORD_EACH_10_(DO, __VA_ARGS__)
/* clang-format on */

#endif

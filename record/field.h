/* One description of a record's fields, from which its columns in the database, its bytes in a state, its
 * texts in lists and the comparison of two are derived.
 *
 * A record NAME is a list of its fields, in the order of its columns and bytes (record/order.h):
 *
 *   #define RECORD_NAME(FIRST, NEXT)
 *       FIRST(member, column, name, KIND, FIXED or CHANGES, FLAGS, words)
 *       NEXT(member, …)
 *
 *   member   of the struct; the field's name in a comparison
 *   column   in the database
 *   name     in lists, CSV and JSON
 *   KIND     enum record_kind, without RECORD_
 *   FIXED    a row that is stored again has the same value; CHANGES: it may differ
 *   FLAGS    OPTIONAL: 0 means no value: an empty cell, null in JSON; NULLABLE: in the database too;
 *            UNKNOWN: as NULLABLE, but a value below 0 means none; ABSENT: INT64_MIN; or REQUIRED;
 *            SINCE_2, SINCE_8: states have it from that layout on, loading an older one leaves it unchanged;
 *            ASKED: it is in the event that asks for the row. ASKED | RECORD_SINCE(8): both
 *   words    of RECORD_WORD: the names of its values (struct record_words); else none
 *
 * A field is added by its member, its line in the list, and a migration that adds the column. */
#ifndef RECORD_FIELD_H
#define RECORD_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_kind {
    RECORD_UNSIGNED, /* uint64_t, uint32_t */
    RECORD_SIGNED,   /* int64_t, int32_t, int */
    RECORD_BOOL,
    RECORD_TEXT,     /* char[], ended by '\0' */
    RECORD_STRING,   /* const char *: owned by the code that set it; NULL is "" */
    RECORD_REAL,     /* double; optional: NaN means no value */
    RECORD_VOLUME,   /* int128_t, units; a decimal text in the database */
    RECORD_WORD,     /* an enumeration of 0 .. n-1, by the names of its values */
    RECORD_TIME,     /* int64_t, ns since 1970 */
    RECORD_PRICE,    /* int64_t of the symbol's price_scale */
    RECORD_QTY,      /* of its qty_scale */
    RECORD_QUOTE,    /* of its quote_scale */
    RECORD_E6,       /* int32_t, a share: 1,000,000 is all; shown in percent */
    RECORD_SHARE_E6, /* int32_t, a share, shown as such */
    RECORD_SHARE_E4,
    RECORD_E9,      /* int64_t, ns shown in seconds, or money */
    RECORD_SCALE,   /* int, 0 to DECIMAL_SCALE_MAX */
    RECORD_ACCOUNT, /* int: the account's number; -1: unknown */
    RECORD_SYMBOL,  /* int: the symbol's index in the process; -1: unknown */
    RECORD_HASH,    /* bytes */
};

enum {
    RECORD_REQUIRED = 0,
    RECORD_OPTIONAL = 1,
    RECORD_NULLABLE = 3,
    RECORD_UNKNOWN = 7,
    RECORD_ABSENT = 17, /* INT64_MIN means no value */
    RECORD_ASKED = 32,
    RECORD_WHOLE = 67,    /* a REAL, NaN for no value, shown as a whole number */
    RECORD_PERCENT = 131, /* a REAL, NaN for no value: a share, shown in percent */
    RECORD_LAYOUT = 8,    /* bits below the first layout of states that has the field */
    RECORD_SINCE_2 = 2 << RECORD_LAYOUT,
    RECORD_SINCE_8 = 8 << RECORD_LAYOUT,
};
#define RECORD_SINCE(layout) ((layout) << RECORD_LAYOUT)

/* An enumeration's values by name: by a table, or where that is NULL by functions. `parse` may be NULL. */
struct record_words {
    int n;
    const char *(*name)(int value);
    int (*parse)(const char *name); /* -EINVAL for an unknown name */
    const char *const *names;
};

struct record_field {
    const char *member, *column, *name;
    enum record_kind kind;
    unsigned flags;
    size_t offset, size;
    const struct record_words *words;
};

struct record {
    const char *table;
    const struct record_field *fields;
    int n;
    size_t size; /* of a row */
};

/* ---- of a list, as strings for SQL ---- */
/* clang-format off */

/* "id, account, …" */
#define RECORD_COLUMNS(LIST) LIST(RECORD_COLUMN_FIRST_, RECORD_COLUMN_NEXT_)
#define RECORD_COLUMN_FIRST_(member, column, name, kind, changes, flags, words) column
#define RECORD_COLUMN_NEXT_(member, column, name, kind, changes, flags, words) ", " column

/* ":id, :account, …": the parameters of record_sqlite_bind(), in order */
#define RECORD_VALUES(LIST) LIST(RECORD_VALUE_FIRST_, RECORD_VALUE_NEXT_)
#define RECORD_VALUE_FIRST_(member, column, name, kind, changes, flags, words) ":" column
#define RECORD_VALUE_NEXT_(member, column, name, kind, changes, flags, words) ", :" column

/* ", tif = excluded.tif, …": the changing columns; not the key */
#define RECORD_SET(LIST) LIST(RECORD_SET_FIRST_, RECORD_SET_NEXT_)
#define RECORD_SET_FIRST_(member, column, name, kind, changes, flags, words)
#define RECORD_SET_NEXT_(member, column, name, kind, changes, flags, words) RECORD_SET_##changes##_(column)
#define RECORD_SET_FIXED_(column)
#define RECORD_SET_CHANGES_(column) ", " column " = excluded." column

/* Inserts a row, or replaces the row with its `key`, "(id)" or "", of a list of which `changes` changes: of
 * two assignments the last counts. */
#define RECORD_INSERT(table, LIST) \
    "INSERT INTO " table " (" RECORD_COLUMNS(LIST) ") VALUES (" RECORD_VALUES(LIST) ")"
#define RECORD_UPSERT(table, key, changes, LIST) \
    RECORD_INSERT(table, LIST) \
    " ON CONFLICT " key " DO UPDATE SET " changes " = excluded." changes RECORD_SET(LIST)
/* ", tif = :tif, …" */
#define RECORD_ASSIGN(LIST) LIST(RECORD_ASSIGN_FIRST_, RECORD_ASSIGN_NEXT_)
#define RECORD_ASSIGN_FIRST_(member, column, name, kind, changes, flags, words)
#define RECORD_ASSIGN_NEXT_(member, column, name, kind, changes, flags, words) \
    RECORD_ASSIGN_##changes##_(column)
#define RECORD_ASSIGN_FIXED_(column)
#define RECORD_ASSIGN_CHANGES_(column) ", " column " = :" column

/* The columns that do not change: OWN "id, account, …", EXCLUDED "excluded.id, …", GIVEN ":id, …" */
#define RECORD_FIXED(LIST, PREFIX) \
    LIST(RECORD_FIXED_FIRST_##PREFIX##_, RECORD_FIXED_NEXT_##PREFIX##_)

#define RECORD_FIXED_FIRST_OWN_(member, column, name, kind, changes, flags, words) column
#define RECORD_FIXED_NEXT_OWN_(member, column, name, kind, changes, flags, words) \
    RECORD_FIXED_##changes##_(", " column)
#define RECORD_FIXED_FIRST_EXCLUDED_(member, column, name, kind, changes, flags, words) "excluded." column
#define RECORD_FIXED_NEXT_EXCLUDED_(member, column, name, kind, changes, flags, words) \
    RECORD_FIXED_##changes##_(", excluded." column)
#define RECORD_FIXED_FIRST_GIVEN_(member, column, name, kind, changes, flags, words) ":" column
#define RECORD_FIXED_NEXT_GIVEN_(member, column, name, kind, changes, flags, words) \
    RECORD_FIXED_##changes##_(", :" column)
#define RECORD_FIXED_FIXED_(text) text
#define RECORD_FIXED_CHANGES_(text)
/* clang-format on */

/* The fields as struct record_field, and the record of them; ROW is the struct. Once for a list in one .c
 * file, where ROW is defined. */
#define RECORD_FIELDS(LIST) LIST(RECORD_FIELD_, RECORD_FIELD_)
#define RECORD_OF(table, fields) \
    { \
        table, fields, RECORD_COUNT(sizeof fields / sizeof *fields), sizeof(ROW) \
    }
/* n, checked to be at most a record's limit. */
enum { RECORD_FIELDS_MAX = 96 };
#define RECORD_COUNT(n) ((int)(n) + 0 * (int)sizeof(char[(n) <= RECORD_FIELDS_MAX ? 1 : -1]))
/* Both, for a plain list. */
#define RECORD_LIST(table, LIST) \
    { \
        table, (const struct record_field[]){RECORD_FIELDS(LIST)}, \
            RECORD_COUNT(0 LIST(RECORD_ONE_, RECORD_ONE_)), sizeof(ROW) \
    }
#define RECORD_ONE_(member, column, name, kind, changes, flags, words) +1
#define RECORD_FIELD_(member, column, name, kind, changes, flags, words) \
    { \
        #member, \
        column, \
        name, \
        RECORD_##kind, \
        RECORD_##flags, \
        offsetof(ROW, member), \
        sizeof(((ROW *)0)->member), \
        words},

/* The newest layout of a list's fields, below 32; 0: they always existed. */
#define RECORD_NEWEST(LIST) (31 - __builtin_clz(1u LIST(RECORD_NEWEST_, RECORD_NEWEST_)))
#define RECORD_NEWEST_(member, column, name, kind, changes, flags, words) \
    | 1u << ((RECORD_##flags) >> RECORD_LAYOUT)

/* By its name in lists; NULL: there is none. */
const struct record_field *record_find(const struct record *record, const char *name);

/* Sets in `ret` the members that `row` has under the same name; a STRING's text is borrowed. False where a
 * text was truncated. Kinds must be the same in both, except of texts. */
bool record_copy(const struct record *record, const void *row, const struct record *ret_record, void *ret);

/* The first field in which two rows differ, to the last bit; NULL: none. Symbols are not compared: their
 * indices are a process's own. */
const struct record_field *record_compare(const struct record *record, const void *a, const void *b);

/* ---- a field's value ---- */

/* Has the field the flag, and not only some of its bits? */
bool record_field_is(const struct record_field *field, unsigned flag);

/* Is it a number with a scale? */
bool record_is_decimal(const struct record_field *field);

/* As a number; 0 for kinds that are not. */
int64_t record_field_number(const struct record_field *field, const void *row);
/* The member must be able to hold the number. */
void record_field_set_number(const struct record_field *field, void *row, int64_t number);
/* RECORD_REAL */
double record_field_real(const struct record_field *field, const void *row);
void record_field_set_real(const struct record_field *field, void *row, double value);
/* Has an optional field no value: of texts ""? */
bool record_field_none(const struct record_field *field, const void *row);
/* RECORD_TEXT and RECORD_STRING, which keeps the pointer. Set: false where it does not fit. */
const char *record_field_text(const struct record_field *field, const void *row);
bool record_field_set_text(const struct record_field *field, void *row, const char *text);
/* A row's texts of that kind, in order, into at most RECORD_STRINGS_MAX; returns how many. The second
 * function sets them in the row from memory where they follow each other, each with its '\0'. */
enum { RECORD_STRINGS_MAX = 16 };
int record_strings(const struct record *record, const void *row, const char *ret[static RECORD_STRINGS_MAX]);
void record_set_strings(const struct record *record, void *row, const char *texts);
/* RECORD_WORD: the name of the row's value. The value of a name, or -EINVAL. */
int record_words_parse(const struct record_words *words, const char *name);
const char *record_field_word(const struct record_field *field, const void *row);

#endif

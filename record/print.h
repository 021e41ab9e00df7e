/* A struct's members as JSON: a short form for a record of a single output. Unknown values (a REAL that is
 * NaN, a COUNT below 0, a WORD "", a 0 of kinds with _OR_NONE) are null. */
#ifndef RECORD_PRINT_H
#define RECORD_PRINT_H

#include "record/json.h"

/* Of ROW's members, in the order of the output. */
#define PRINT_RECORD(...) \
    { \
        "", (const struct record_field[]){__VA_ARGS__}, \
            (int)(sizeof((const struct record_field[]){__VA_ARGS__}) / sizeof(struct record_field)), \
            sizeof(ROW) \
    }
#define PRINT_FIELD_(kind, flags, member, key, words) \
    { \
        key, key, key, RECORD_##kind, RECORD_##flags, offsetof(ROW, member), sizeof(((ROW *)0)->member), \
            words \
    }
#define PRINT_AS(kind, flags, member, key) PRINT_FIELD_(kind, flags, member, key, NULL)
#define PRINT_ENUM(flags, member, words)   PRINT_FIELD_(WORD, flags, member, #member, words)
#define PRINT_TEXT(member)                 PRINT_AS(TEXT, REQUIRED, member, #member)
#define PRINT_WORD(member)                 PRINT_AS(TEXT, OPTIONAL, member, #member)
#define PRINT_REAL(member)                 PRINT_AS(REAL, OPTIONAL, member, #member)
#define PRINT_PERCENT(member, key)         PRINT_AS(REAL, PERCENT, member, key)
#define PRINT_COUNT(member)                PRINT_AS(SIGNED, UNKNOWN, member, #member)
#define PRINT_WHOLE(member)                PRINT_AS(SIGNED, REQUIRED, member, #member)
#define PRINT_BOOL(member)                 PRINT_AS(BOOL, REQUIRED, member, #member)
#define PRINT_PRICE(member)                PRINT_AS(PRICE, REQUIRED, member, #member)
#define PRINT_PRICE_OR_NONE(member, key)   PRINT_AS(PRICE, OPTIONAL, member, key)
#define PRINT_QTY(member)                  PRINT_AS(QTY, REQUIRED, member, #member)
#define PRINT_QUOTE(member)                PRINT_AS(QUOTE, REQUIRED, member, #member)
/* null at this place, until the caller sets it. */
#define PRINT_LATER(key) \
    { \
        key, key, key, RECORD_ACCOUNT, RECORD_REQUIRED, 0, sizeof(int), NULL \
    }

/* The object of a row; its scales are the symbol's (NULL: it has no amount). The caller's; NULL without
 * memory. */
json_t *record_print(const struct record *record, const void *row, const struct symbol *symbol);

/* The same as a function of that name, for rows of that type. */
#define PRINT_OBJECT(function, of, ...) \
    static json_t *function(const of *row, const struct symbol *symbol) \
    { \
        typedef of ROW; \
        static const struct record_field printed_fields[] = {__VA_ARGS__}; \
        static const struct record printed = RECORD_OF("", printed_fields); \
        return record_print(&printed, row, symbol); \
    } \
    static json_t *function(const of *row, const struct symbol *symbol)

#endif

/* The JSON of the status, field by field: the daemon writes it by these lists (docs/control.md), the
 * dashboard reads it by them. A list takes two macros, of texts and of other fields:
 *
 *   #define RECORD_SHOWN_NAME(TEXT, FIELD)
 *       TEXT(SIZE, FLAGS, member)   or   TEXT(SIZE, FLAGS, member, "name")
 *       FIELD(KIND, FLAGS, member)  …
 *
 *   SIZE         a text's, of RECORD_BYTES_SIZE where it is shown, RECORD_KEPT_SIZE where the daemon keeps it
 *   name         in JSON, where it is not the member's
 *   KIND, FLAGS  of record/field.h: UNSIGNED (ages, counts), SIGNED, TIME, REAL, BOOL, SCALE; OPTIONAL: null
 *                for "" and 0; NULLABLE: for NaN; UNKNOWN: for values below 0; WHOLE */
#ifndef RECORD_SHOWN_H
#define RECORD_SHOWN_H

#include "record/field.h"

/* clang-format off */
/* The members of a struct: for the shown values; for those that the daemon keeps; for those that it reads,
 * with borrowed texts. */
#define RECORD_SHOWN(LIST) LIST(RECORD_SHOWN_TEXT_, RECORD_SHOWN_MEMBER_)
#define RECORD_KEPT(LIST) LIST(RECORD_KEPT_TEXT_, RECORD_SHOWN_MEMBER_)
#define RECORD_VIEW(LIST) LIST(RECORD_VIEW_TEXT_, RECORD_SHOWN_MEMBER_)
/* Their fields, of ROW. */
#define RECORD_SHOWN_FIELDS(LIST) LIST(RECORD_SHOWN_TEXT_FIELD_, RECORD_SHOWN_FIELD_)
#define RECORD_VIEW_FIELDS(LIST) LIST(RECORD_VIEW_TEXT_FIELD_, RECORD_SHOWN_FIELD_)

#define RECORD_SHOWN_TEXT_(size, flags, member, ...) char member[RECORD_BYTES_##size];
#define RECORD_KEPT_TEXT_(size, flags, member, ...) char member[RECORD_KEPT_##size];
#define RECORD_VIEW_TEXT_(size, flags, member, ...) const char *member;
#define RECORD_SHOWN_MEMBER_(kind, flags, member, ...) RECORD_SHOWN_##kind##_ member;
#define RECORD_SHOWN_UNSIGNED_ int64_t
#define RECORD_SHOWN_SIGNED_ int64_t
#define RECORD_SHOWN_TIME_ int64_t
#define RECORD_SHOWN_REAL_ double
#define RECORD_SHOWN_BOOL_ bool
#define RECORD_SHOWN_SCALE_ int

#define RECORD_SHOWN_TEXT_FIELD_(size, flags, ...) RECORD_SHOWN_FIELD_(TEXT, flags, __VA_ARGS__)
#define RECORD_VIEW_TEXT_FIELD_(size, flags, ...) RECORD_SHOWN_FIELD_(STRING, flags, __VA_ARGS__)
#define RECORD_SHOWN_FIELD_(kind, flags, member, ...) \
    {#member, RECORD_NAMED_(0, ##__VA_ARGS__, #member, 0), RECORD_NAMED_(0, ##__VA_ARGS__, #member, 0), \
     RECORD_##kind, RECORD_##flags, offsetof(ROW, member), sizeof(((ROW *)0)->member), NULL},
#define RECORD_NAMED_(none, name, ...) name

/* A function that returns the record of a struct by its list: with its own texts, with borrowed texts. */
#define RECORD_SHOWN_RECORD(function, of, LIST) RECORD_RECORD_(function, of, RECORD_SHOWN_FIELDS(LIST))
#define RECORD_VIEW_RECORD(function, of, LIST) RECORD_RECORD_(function, of, RECORD_VIEW_FIELDS(LIST))
#define RECORD_RECORD_(function, of, ...) \
    static const struct record *function(void) \
    { \
        typedef struct of ROW; \
        static const struct record_field fields[] = {__VA_ARGS__}; \
        static const struct record record = RECORD_OF("", fields); \
        return &record; \
    } \
    static const struct record *function(void)
/* clang-format on */

#endif

/* What is shown of a thing, field by field: the daemon writes these lists' JSON (docs/control.md), the
 * dashboard reads it by them. A list takes two macros, of texts and of other fields:
 *
 *   #define RECORD_SHOWN_NAME(TEXT, FIELD)
 *       TEXT(own, shown, member, "name", FLAGS)
 *       FIELD(KIND, member, "name", FLAGS)
 *
 *   own, shown   bytes of a text that the daemon keeps, and that the dashboard does
 *   name         in JSON
 *   KIND, FLAGS  of record/field.h: UNSIGNED (ages, counts), SIGNED, TIME, REAL, BOOL, SCALE; OPTIONAL: null
 *                for "" and 0; NULLABLE: for NaN; UNKNOWN: for what is below 0 */
#ifndef RECORD_SHOWN_H
#define RECORD_SHOWN_H

#include "record/field.h"

/* clang-format off */
/* The members of a struct: what is shown; what the daemon keeps; what it looks at, with texts of others. */
#define RECORD_SHOWN(LIST) LIST(RECORD_SHOWN_TEXT_, RECORD_SHOWN_MEMBER_)
#define RECORD_KEPT(LIST) LIST(RECORD_KEPT_TEXT_, RECORD_SHOWN_MEMBER_)
#define RECORD_VIEW(LIST) LIST(RECORD_VIEW_TEXT_, RECORD_SHOWN_MEMBER_)
/* Their fields, of ROW. */
#define RECORD_SHOWN_FIELDS(LIST) LIST(RECORD_SHOWN_TEXT_FIELD_, RECORD_SHOWN_FIELD_)
#define RECORD_VIEW_FIELDS(LIST) LIST(RECORD_VIEW_TEXT_FIELD_, RECORD_SHOWN_FIELD_)

#define RECORD_SHOWN_TEXT_(own, shown, member, name, flags) char member[shown];
#define RECORD_KEPT_TEXT_(own, shown, member, name, flags) char member[own];
#define RECORD_VIEW_TEXT_(own, shown, member, name, flags) const char *member;
#define RECORD_SHOWN_MEMBER_(kind, member, name, flags) RECORD_SHOWN_##kind##_ member;
#define RECORD_SHOWN_UNSIGNED_ int64_t
#define RECORD_SHOWN_SIGNED_ int64_t
#define RECORD_SHOWN_TIME_ int64_t
#define RECORD_SHOWN_REAL_ double
#define RECORD_SHOWN_BOOL_ bool
#define RECORD_SHOWN_SCALE_ int

#define RECORD_SHOWN_TEXT_FIELD_(own, shown, member, name, flags) \
    RECORD_SHOWN_FIELD_(TEXT, member, name, flags)
#define RECORD_VIEW_TEXT_FIELD_(own, shown, member, name, flags) \
    RECORD_SHOWN_FIELD_(STRING, member, name, flags)
#define RECORD_SHOWN_FIELD_(kind, member, name, flags) \
    {#member, name, name, RECORD_##kind, RECORD_##flags, offsetof(ROW, member), sizeof(((ROW *)0)->member), NULL},

/* The record of a struct by its list, as a function of that name: of texts kept, of texts borrowed. */
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

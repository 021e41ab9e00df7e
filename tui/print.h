/* The model for scripts and pipes: text, and JSON of a versioned schema. */
#ifndef TUI_PRINT_H
#define TUI_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "record/json.h"
#include "tui/model.h"

/* The state in lines of text: feed, trading, accounts, prices, positions, database, devices, trainings,
 * policies. */
void tui_print_status(FILE *out, const struct model *model, struct moment now);

/* Of it the co-process, the trainings (newest first) and the policies. */
void tui_print_trainings(FILE *out, const struct model *model, struct moment now);

/* The same with orders, fills and alerts. */
void tui_print_overview(FILE *out, const struct model *model, struct moment now);

/* One line of JSON, "schema": "papertape.dashboard/1": the daemon's status object as it came (`status`, null
 * without a daemon), and positions, equity, fills, orders, alerts, log, trainings and policies, which are the
 * status' or the database's, and studies (null: never read). 0 or -ENOMEM. */
json_t *tui_print_trainings_json(const struct model *model, struct moment now);
json_t *tui_print_policies_json(const struct model *model);
int tui_print_json(FILE *out, const struct model *model, const json_t *status);

/* As papertape.alerts/1 has them. */
json_t *tui_print_alerts_json(const struct history *history);

/* Is something shown that is too old: the feed, a symbol's price, or a stopped database? */
bool tui_print_is_stale(const struct model *model, struct moment now);

/* A record of ROW's members as they are printed: what is not known, a number that is none, below 0 of a
 * count, or "" of a word, is null. */
#define PRINT_RECORD(...) \
    { \
        "", (const struct record_field[]){__VA_ARGS__}, \
            (int)(sizeof((const struct record_field[]){__VA_ARGS__}) / sizeof(struct record_field)), \
            sizeof(ROW) \
    }
#define AS(kind, flags, member, key) \
    { \
        key, key, key, RECORD_##kind, RECORD_##flags, offsetof(ROW, member), sizeof(((ROW *)0)->member), \
            NULL \
    }
#define TEXT(member)  AS(TEXT, REQUIRED, member, #member)
#define WORD(member)  AS(TEXT, OPTIONAL, member, #member)
#define REAL(member)  AS(REAL, OPTIONAL, member, #member)
#define COUNT(member) AS(SIGNED, UNKNOWN, member, #member)
#define WHOLE(member) AS(SIGNED, REQUIRED, member, #member)

json_t *tui_print_object(const struct record *record, const void *row);

#endif

/* The model for scripts and pipes: text, and JSON of a versioned schema. */
#ifndef TUI_PRINT_H
#define TUI_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "record/print.h"
#include "tui/model.h"

/* The state in lines of text: feed, trading, accounts, prices, positions, database, devices, trainings,
 * policies. */
void tui_print_status(FILE *out, const struct model *model, struct moment now);

/* Of it the co-process, the trainings (newest first) and the policies. */
void tui_print_trainings(FILE *out, const struct model *model, struct moment now);

/* The same with orders, fills and alerts. */
void tui_print_overview(FILE *out, const struct model *model, struct moment now);

/* One part of it, or all: "overview", "prices", "orders" …; false: it is the name of none. Their names, in
 * order, with what each has; NULL: past the last. */
bool tui_print_part(FILE *out, const char *name, const struct model *model, struct moment now);
const char *tui_print_part_name(size_t i, const char **ret_words);

/* A line of the log. */
void tui_print_log(FILE *out, const struct history_log *entry);

/* One line of JSON, "schema": "papertape.dashboard/1": the daemon's status object as it came (`status`, null
 * without a daemon), and positions, equity, fills, orders, alerts, log, trainings and policies, which are the
 * status' or the database's, and studies (null: never read). 0 or -ENOMEM. */
json_t *tui_print_trainings_json(const struct model *model, struct moment now);
json_t *tui_print_policies_json(const struct model *model);
int tui_print_json(FILE *out, const struct model *model, const json_t *status);

/* ---- devices ---- */

/* A line of a device, which ends with `more`. */
void tui_print_device(FILE *out, const struct status_device *device, const char *more);
/* The database's, with ages, and what the day before the newest sample was; why there are none. */
void tui_print_devices(FILE *out, const struct history_devices *stored, struct moment now);
/* Their last figures, mean and greatest of that day, by the names of papertape.gpu/1. */
json_t *tui_print_devices_json(const struct history_devices *stored);

/* An alert as papertape.alerts/1 has it, and all of them. */
struct print_alert {
    struct history_alert alert;
    char state[STATUS_WORD_MAX];
    bool acked;
};
extern const struct record tui_print_alert_record;
struct print_alert tui_print_alert(const struct history_alert *alert);
json_t *tui_print_alerts_json(const struct history *history);

/* ---- studies: papertape.study/1 ---- */

/* A line a study: how far it is, its best trial. Why the storage could not be read comes first. */
void tui_print_studies(FILE *out, const struct model *model, struct moment now);
void tui_print_studies_table(FILE *out, const struct model *model, struct moment now);
void tui_print_studies_csv(FILE *out, const struct model *model, struct moment now);

/* The same as an array of objects; null where the storage was never read. */
json_t *tui_print_studies_json(const struct model *model, struct moment now);

/* One study with its trials, parameters and their importance; validation where it was read. NULL without
 * memory. */
json_t *tui_print_study_json(const struct tui_study_page *page, struct moment now);

/* As text: the line, its parameters by importance, its trials best first, at most `most` of them. */
void tui_print_study(FILE *out, const struct tui_study_page *page, struct moment now, int most);

/* Is anything shown that is too old: the feed, a symbol's price, or a stopped database? */
bool tui_print_is_stale(const struct model *model, struct moment now);

#endif

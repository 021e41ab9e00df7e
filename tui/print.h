/* The model for scripts and pipes: text, and JSON of a versioned schema. */
#ifndef TUI_PRINT_H
#define TUI_PRINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

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

#endif

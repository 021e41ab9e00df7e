/* An explanation for people, in sections, and as JSON. */
#ifndef CLI_EXPLAIN_PRINT_H
#define CLI_EXPLAIN_PRINT_H

#include <jansson.h>

#include "db/row.h"
#include "engine/explain.h"

/* Onto standard output. `origin`: the policy that the database recorded as the order's; NULL: none. `full`:
 * every fill and change; else of many the first and the last few. */
void cli_explain_print(const struct explanation *explanation, const struct db_order_policy *origin,
                       bool full);

/* Was it accepted here, and then refused by its venue, or never there? */
bool cli_explain_venue_refused(const struct explanation *explanation);

/* Why it was refused, in words with the numbers. */
const char *cli_explain_refusal(const struct explanation *explanation);

/* A new reference, or NULL without memory. Numbers are numbers; what is not known is null. */
json_t *cli_explain_object(const struct explanation *explanation, const struct db_order_policy *origin);

#endif

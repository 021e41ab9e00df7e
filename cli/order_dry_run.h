/* What `order … --dry-run` prints: the answer of docs/control.md's dry_run, in lines. */
#ifndef CLI_ORDER_DRY_RUN_H
#define CLI_ORDER_DRY_RUN_H

#include <jansson.h>
#include <stdio.h>

void cli_order_dry_run_print(FILE *out, const json_t *result);

#endif

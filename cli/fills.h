/* papertape fills: every execution ever. */
#ifndef CLI_FILLS_H
#define CLI_FILLS_H

#include "cli/stored.h"

/* The list that it prints, for fills from elsewhere. out: NULL is stdout. */
struct stored_list cli_fills_list(enum stored_form form, FILE *out);
void cli_fills_row(struct stored_list *list, const struct fill *fill, const struct symbol *symbol,
                   const char *account);

#endif

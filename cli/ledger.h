/* papertape ledger verify|export: the invariants, and the rows. */
#ifndef CLI_LEDGER_H
#define CLI_LEDGER_H

#include "cli/stored.h"

/* The list that export prints, for rows from elsewhere. out: NULL is stdout. */
struct stored_list cli_ledger_list(enum stored_form form, FILE *out);
void cli_ledger_list_row(struct stored_list *list, const struct ledger_row *row, const char *account);

#endif

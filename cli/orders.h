/* papertape orders: every order ever, refused ones too. */
#ifndef CLI_ORDERS_H
#define CLI_ORDERS_H

#include "cli/stored.h"

/* The list that it prints, for orders from elsewhere; symbol and account are NULL where they are not known.
 * out: NULL is stdout. */
struct stored_list cli_orders_list(enum stored_form form, FILE *out);
void cli_orders_row(struct stored_list *list, const struct order *order, const struct symbol *symbol,
                    const char *account);

#endif

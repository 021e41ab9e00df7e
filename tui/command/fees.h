/* `fees`: what venues charge, by tier. */
#ifndef TUI_COMMAND_FEES_H
#define TUI_COMMAND_FEES_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange/fees.h"

int command_fees(int argc, char **argv);

/* The tier that a word names, of any venue: "vip1". False when there is none of that name: err is a sentence
 * with the nearest one. */
bool fees_take(const char *word, struct fee_rates *ret, char *err, size_t err_size);

#endif

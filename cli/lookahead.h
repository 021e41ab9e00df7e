/* papertape lookahead: does a strategy see the future? */
#ifndef CLI_LOOKAHEAD_H
#define CLI_LOOKAHEAD_H

#include "cli/guard_args.h"

/* A verdict as text, and as papertape.lookahead/1 (an exit status). */
void cli_lookahead_print(const struct guard_args *args, const struct guard_lookahead *verdict);
int cli_lookahead_print_json(const struct guard_args *args, const struct guard_lookahead *verdict);

#endif

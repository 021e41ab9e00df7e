/* papertape warmup: how much history does a strategy need? */
#ifndef CLI_WARMUP_H
#define CLI_WARMUP_H

#include "cli/guard_args.h"

/* A verdict as text, and as papertape.warmup/1 (an exit status). */
void cli_warmup_print(const struct guard_args *args, const struct guard_warmup *verdict);
int cli_warmup_print_json(const struct guard_args *args, const struct guard_warmup *verdict);

#endif

/* What papertape lookahead and papertape warmup share: their options, the bars, and how a decision reads. */
#ifndef CLI_GUARD_ARGS_H
#define CLI_GUARD_ARGS_H

#include <jansson.h>

#include "cli/run_args.h"
#include "engine/backtest/guard.h"
#include "engine/backtest/guard_bars.h"

struct guard_args {
    struct run_args run;
    int64_t cuts, seed; /* cuts: 0 by default */
    bool json, done;
    struct guard_bars made;      /* without --bars */
    struct market *loaded;       /* with them */
    const struct market *market; /* of the two the one that is used, cut to --from and --to */
    struct account_spec account;
};

/* Parses, and loads or makes the bars; made ones are long enough for what the strategy needs. EXIT_OK, or a
 * status with its line on stderr; to be finished in either case. */
int guard_args_open(int argc, char **argv, const char *help, bool has_cuts, struct guard_args *ret);
void guard_args_finish(struct guard_args *args);

struct guard_config guard_args_config(const struct guard_args *args);

/* The lines that both print first: the strategy, and the bars. */
void guard_print_head(const struct guard_args *args);

/* "ENTER fraction 0.5, stop 41200 (cross up)", or "nothing". */
void guard_decision_text(const struct guard_decision *decision, bool there, char *buf, size_t size);
void guard_order_text(const struct guard_difference *difference, const struct market *market, bool whole,
                      char *buf, size_t size);

/* The difference as JSON: row, time, symbol and both versions. */
json_t *guard_difference_json(const struct guard_args *args, const struct guard_difference *difference);

/* Prints an object, which it takes. An exit status. */
int guard_print_json(const char *verb, json_t *object);

#endif

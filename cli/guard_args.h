/* What papertape lookahead and papertape warmup share: their options, the bars, and how a decision reads. */
#ifndef CLI_GUARD_ARGS_H
#define CLI_GUARD_ARGS_H

#include <jansson.h>

#include "cli/progress.h"
#include "cli/run_args.h"
#include "engine/backtest/guard.h"
#include "engine/backtest/guard_bars.h"

struct guard_args {
    struct run_args run;
    int64_t cuts, seed;          /* cuts: 0 by default */
    struct guard_bars generated; /* without --bars */
    struct market *loaded;       /* with them */
    const struct market *market; /* the one of the two that is used, cut to --from and --to */
    struct account_spec account;
};

/* As a verb's rows have them: init with its name, finish. */
void cli_guard_init(struct guard_args *args, const char *verb);
void cli_guard_finish(void *into);

/* Of a line that was parsed: loads or generates the bars, as long as the strategy needs, and lets find()
 * fill the result (0, or -errno with one sentence), with a progress bar on stderr. EXIT_OK, or a status
 * with its line. */
int cli_guard_run(struct option_call *call, void *verdict,
                  int (*find)(const struct guard_config *config, void *verdict, char *err, size_t err_size));

/* The lines that both print first: the strategy, and the bars. */
void cli_guard_print_head(const struct guard_args *args);

/* What a difference is between, "ENTER fraction 0.5, stop 41200 (cross up)", an order, or "nothing". */
enum { GUARD_TEXT_MAX = 512 };
void cli_guard_texts(const struct guard_difference *difference, const struct market *market,
                     char whole[static GUARD_TEXT_MAX], char changed[static GUARD_TEXT_MAX]);

/* The difference as JSON: row, time, symbol and both versions. */
json_t *cli_guard_difference_json(const struct guard_args *args, const struct guard_difference *difference);

/* {"schema": …, KEY: passed, "strategy", "set", "rows", …} in one line, of the result's object, which it
 * takes. An exit status. */
int cli_guard_print_json(const struct guard_args *args, const char *key, bool passed, json_t *verdict);

/* The verbs' results as text, and as papertape.lookahead/1 and papertape.warmup/1 (an exit status). */
void cli_lookahead_print(const struct guard_args *args, const struct guard_lookahead *verdict);
int cli_lookahead_print_json(const struct guard_args *args, const struct guard_lookahead *verdict);
void cli_warmup_print(const struct guard_args *args, const struct guard_warmup *verdict);
int cli_warmup_print_json(const struct guard_args *args, const struct guard_warmup *verdict);

#endif

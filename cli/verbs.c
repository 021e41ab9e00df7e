#include "cli/verbs.h"

#include <string.h>

#include "cli/text.h"
#include "db/names.h"
#include "db/state.h"
#include "strategy/strategy.h"

const struct option_row cli_globals[CLI_GLOBALS] = {
    {"state", "DIR",
     "the daemon's state directory; else $STATE_DIRECTORY, else of $XDG_STATE_HOME/papertape "
     "(~/.local/state/papertape) and the service's " STATE_SERVICE_DIR " the first that has one",
     offsetof(struct option_call, state)},
    {"json", NULL, "one JSON object, with \"schema\": \"papertape.NAME/1\"; what is not known is null",
     offsetof(struct option_call, json)},
    {"csv", NULL, "of lists: CSV with exact decimals, times in nanoseconds",
     offsetof(struct option_call, csv)},
    OPTION_HELP,
    OPTION_VERSION,
};

void cli_say(const char *line)
{
    cli_text_print(stderr, line);
    fputc('\n', stderr);
}

void cli_names(const char *kind, const struct option_call *call, void *ctx,
               void (*offer)(void *ctx, const char *name))
{
    size_t n;
    const struct strategy *const *strategies = strategy_list(&n);

    for (size_t i = 0; i < n && strcmp(kind, "STRATEGY") == 0; i++)
        offer(ctx, strategies[i]->name);
    db_names(kind, call->state, ctx, offer);
}

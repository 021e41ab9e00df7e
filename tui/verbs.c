#include "tui/verbs.h"

#include "cli/verbs.h"

#define VERB(verb) &verb,
static const struct option_verb *const verbs[] = {CLI_VERBS(VERB)};

const struct option_program tui_papertape = {
    .name = "papertape",
    .version = PAPERTAPE_VERSION,
    .bare = &tui_dashboard,
    .verbs = verbs,
    .n_verbs = sizeof verbs / sizeof *verbs,
    .global = cli_globals,
    .n_global = CLI_GLOBALS,
    .say = cli_say,
    .names = cli_names,
};

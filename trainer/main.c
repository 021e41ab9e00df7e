#include "db/names.h"
#include "db/studies/store.h"
#include "trainer/command/args.h"

#define VERB(name) &trainer_##name##_verb,
static const struct option_verb *const verbs[] = {TRAINER_VERBS(VERB)};
static const struct option_row globals[] = {
    {"state", "DIR",
     "the state directory; else the first of $STATE_DIRECTORY, $XDG_STATE_HOME/papertape and "
     "~/.local/state/papertape",
     offsetof(struct option_call, state)},
    {"json", NULL, "JSON, on a terminal too", offsetof(struct option_call, json)},
    OPTION_HELP,
    OPTION_VERSION,
};

static void names(const char *kind, const struct option_call *call, void *ctx,
                  void (*offer)(void *ctx, const char *name))
{
    db_names(kind, call->state, ctx, offer);
}

static const struct option_program program = {
    .name = "papertape-trainer",
    .version = PAPERTAPE_VERSION,
    .about = "Trains trading policies, and runs the environment that they are trained in.",
    .verbs = verbs,
    .n_verbs = sizeof verbs / sizeof *verbs,
    .global = globals,
    .n_global = sizeof globals / sizeof *globals,
    .names = names,
};

int main(int argc, char **argv)
{
    study_store_hide_passwords(argc, argv);
    return option_main(&program, argc, argv);
}

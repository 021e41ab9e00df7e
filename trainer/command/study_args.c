#include "trainer/command/study_args.h"

#include <ctype.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/study/pool.h"

enum { TRIALS_MAX = 1000000, MEMORY_MAX = 1 << 24, NAME_BYTES_MAX = 200, STATUS_MAX = 125 };

#define AT(member) offsetof(struct study_args, member)

static const struct option_row options[] = {
    TRAINER_CONFIG(
        struct study_args,
        "a training's INI file with [search], [study] or both; without them the default search space "
        "is searched; with --resume by default the one that the study began with, which its storage has"),
    TRAINER_STORAGE(struct study_args, "; studies.db of the state by default"),
    TRAINER_ARTIFACTS(struct study_args, "; by default as the key artifacts says, or the study; else none"),
    {"trials", "N",
     "trials that are to have ended, of all workers and runs together, instead of the key trials", AT(trials),
     .low = 1, .high = TRIALS_MAX},
    {"workers", "N", "processes, instead of the key workers; 0: as many as fit", AT(workers), .low = 0,
     .high = POOL_MAX},
    {"seed", "N", "what values are drawn from, instead of the key seed of [study]", AT(seed), .low = 0,
     .high = 1ull << 53},
    {"memory-mib", "N",
     "for all processes together, where as many as fit are started; the machine's memory, or the control "
     "group's, by default",
     AT(memory_mib), .low = 1, .high = MEMORY_MAX},
    {"resume", NULL, "only continue: a study that is not there is an error", AT(resume)},
    {"no-proposal", NULL,
     "trials alone, on the further machines of a study: the run without it proposes the best policy",
     AT(no_proposal)},
    {"create", NULL,
     "only creates the study, of which no trial runs: its rows are checked and its artifact store is tried",
     AT(create), .without = "resume no-proposal"},
    {"stopped-status", "N",
     "exit status after SIGTERM or SIGINT before the end, for a scheduler that starts again what failed; 0 by "
     "default",
     AT(stopped_status), .low = 0, .high = STATUS_MAX},
    TRAINER_HEARTBEAT(struct study_args),
};

/* It also names a folder. */
static bool name_is_good(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_.@:+", *p))
            return false;
    return *name && *name != '.' && strlen(name) <= NAME_BYTES_MAX;
}

int trainer_study_args_check(const struct option_call *call)
{
    struct study_args *args = call->into;
    args->name = call->arguments[0];
    if (!name_is_good(args->name))
        return option_fail(call, EXIT_USAGE,
                           "\"%.200s\": up to %d letters, digits, - _ . @ : and +, not with a . first, are "
                           "needed",
                           args->name, NAME_BYTES_MAX);
    return EXIT_OK;
}

static void init(void *into)
{
    *(struct study_args *)into = (struct study_args){.trials = -1, .workers = -1, .seed = -1};
}

static const struct option_action actions[] = {
    {.arguments = "STUDY", .example = "ppo --config F", .needed = "config,resume", .run = trainer_study}};
TRAINER_VERB(study) = {
    .name = "study",
    .words = "tunes the hyper-parameters of a training",
    .about =
        "Tunes the hyper-parameters of a training: trials with other values of what [search] of the "
        "INI file says, each evaluated on bars that it was not trained on, by several processes, kept in "
        "Optuna's own tables. A study of that name continues. At the end its best policy is proposed. SIGINT "
        "and SIGTERM end it within seconds, a second one at once; trials that ran are tried again when it "
        "continues.",
    .exits = "0 also: stopped, unless --stopped-status says otherwise; " TRAINER_STORAGE_EXITS "; 5: all is "
             "done, and files are not uploaded to the artifact store yet, which they are when it continues.",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct study_args),
    .init = init,
};

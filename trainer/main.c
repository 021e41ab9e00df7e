#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/nearest.h"
#include "trainer/command/args.h"
#include "trainer/command/env_replay.h"
#include "trainer/command/eval.h"
#include "trainer/command/grad_check.h"
#include "trainer/command/sample.h"
#include "trainer/command/serve.h"
#include "trainer/command/study.h"
#include "trainer/command/train.h"
#include "trainer/command/validate.h"

static const struct verb {
    const char *name, *words;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"train", "a policy, as a configuration says", trainer_command_train},
    {"plan", "what that will take: memory, steps a second, time", trainer_command_plan},
    {"study", "a search for the hyper-parameters of a training", trainer_command_study},
    {"serve", "the co-process: a queue of trainings, asked on a socket", trainer_command_serve},
    {"eval", "a trained policy in its environment on other bars", trainer_command_eval},
    {"validate", "is a search's best result luck? From its trials' returns", trainer_command_validate},
    {"sample", "what a sampler would try next in a stored study", trainer_command_sample},
    {"env-replay", "the environment's account through a file of actions", trainer_command_env_replay},
    {"grad-check", "one batch, its loss and all gradients in float64, as a file", trainer_command_grad_check},
};
enum { N_VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static int print_help(void)
{
    fputs("Usage: papertape-trainer VERB [OPTION]...\n"
          "Trains trading policies, and runs the environment that they are trained in.\n"
          "\n",
          stdout);
    for (int i = 0; i < N_VERBS; i++)
        printf("  %-12s %s\n", verbs[i].name, verbs[i].words);
    fputs("\n"
          "  --help       this text; VERB --help on one\n"
          "  --version\n"
          "\n"
          "Exit status: 0 done, 1 an error, 2 a wrong command line. See papertape-trainer(1).\n",
          stdout);
    return EXIT_SUCCESS;
}

static int unknown(const char *what, const char *word)
{
    struct nearest nearest = {0};
    for (int i = 0; i < N_VERBS; i++)
        nearest_offer(&nearest, word, verbs[i].name);
    fprintf(stderr, "papertape-trainer: %s: %.64s: did you mean %s? --help lists them\n", what, word,
            nearest.best);
    return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        fputs("papertape-trainer: no verb: command line: --help lists them\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0) {
        puts("papertape-trainer " PAPERTAPE_VERSION);
        return EXIT_SUCCESS;
    }
    for (int i = 0; i < N_VERBS; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].run(argc - 1, argv + 1);
    return unknown(argv[1][0] == '-' ? "unknown option" : "not a verb", argv[1]);
}

int main(int argc, char **argv)
{
    int status = run(argc, argv);
    if (fflush(stdout) != 0 && status == EXIT_SUCCESS) {
        perror("papertape-trainer: cannot write: stdout");
        return EXIT_FAILURE;
    }
    return status;
}

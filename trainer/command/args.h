/* The command line of a verb, and the line on stderr that says what is wrong with it. */
#ifndef TRAINER_COMMAND_ARGS_H
#define TRAINER_COMMAND_ARGS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "exchange/exit_status.h"

enum { GO_ON = -1 }; /* beside the exit statuses */

enum { ARGS_WORD = 1, ARGS_HELP = 'h' };

struct args_rules {
    const char *verb, *help;
    const char *letters;          /* the short options, as getopt() takes them; "" for none but -h */
    const struct option *options; /* ends with {0}; ARGS_HELP is handled here */
    /* Takes one option, its value in optarg; or ARGS_WORD, a word that is no option's. GO_ON or an exit
     * status. */
    int (*take)(void *ctx, int option);
};

/* All options and words, in their order. GO_ON, or an exit status: --help has
 * printed, or a line on stderr says what is wrong. */
int trainer_args_parse(const struct args_rules *rules, int argc, char **argv, void *ctx);

/* A whole number of digits alone, in [low, high]; moves *text beyond it. */
bool trainer_args_read_whole(const char **text, uint64_t low, uint64_t high, uint64_t *ret);

/* The same of an option's whole value; `name` without its dashes. GO_ON or EXIT_USAGE. */
int trainer_args_whole(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *ret);

/* A line on stderr behind the program's name; returns `status`. */
__attribute__((format(printf, 2, 3))) int trainer_args_say(int status, const char *format, ...);

#endif

#include "trainer/command/args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int trainer_args_say(int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("papertape-trainer: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return status;
}

bool trainer_args_read_whole(const char **text, uint64_t low, uint64_t high, uint64_t *ret)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(*text, &end, 10);
    if (**text < '0' || **text > '9' || errno != 0 || value < low || value > high)
        return false;
    *text = end;
    *ret = value;
    return true;
}

int trainer_args_whole(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
    const char *at = text;
    if (!trainer_args_read_whole(&at, low, high, ret) || *at)
        return trainer_args_say(EXIT_USAGE, "bad number: --%s %.32s: a whole number from %llu to %llu", name,
                                text, (unsigned long long)low, (unsigned long long)high);
    return GO_ON;
}

int trainer_args_parse(const struct args_rules *rules, int argc, char **argv, void *ctx)
{
    char letters[32];
    int status = GO_ON;
    snprintf(letters, sizeof letters, "-:h%s", rules->letters);
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, letters, rules->options, NULL)) != -1;) {
        if (option == ARGS_HELP) {
            fputs(rules->help, stdout);
            return EXIT_SUCCESS;
        }
        if (option == ':')
            return trainer_args_say(EXIT_USAGE, "no value: %s: it needs one; see %s --help", argv[optind - 1],
                                    rules->verb);
        if (option == '?')
            return trainer_args_say(EXIT_USAGE, "unknown option: %s: see %s --help", argv[optind - 1],
                                    rules->verb);
        status = rules->take(ctx, option);
        if (status != GO_ON)
            return status;
    }
    for (; optind < argc && status == GO_ON; optind++) { /* behind -- */
        optarg = argv[optind];
        status = rules->take(ctx, ARGS_WORD);
    }
    return status;
}

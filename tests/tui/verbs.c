/* The table of verbs: in order, each with what help and pages need, and found by its name. With the word
 * "acting" it prints a complete line of each that acts, for tests/system/dashboard_command.py. */
#include "tui/verbs.h"

#include <stdio.h>
#include <string.h>

#include "tests/check.h"

/* Of "stop|resume" two lines, each with the example's arguments, or else with a word for each that is not in
 * brackets. */
static void print_acting(const struct option_verb *verb, const struct option_action *action)
{
    const char *name = action->name ? action->name : "";

    do {
        size_t len = strcspn(name, "|");
        printf("%s%s%.*s", verb->name, len ? " " : "", (int)len, name);
        if (action->example)
            printf(" %s", action->example);
        for (const char *at = action->arguments; !action->example && at && *at; at += strspn(at, " ")) {
            if (*at != '[')
                printf(" x");
            at += strcspn(at, " ");
        }
        puts("");
        name += len;
    } while (*name++ == '|');
}

int main(int argc, char **argv)
{
    const struct option_program *program = &tui_papertape;

    if (argc == 2 && strcmp(argv[1], "acting") == 0) {
        for (size_t i = 0; i < program->n_verbs; i++)
            for (size_t k = 0; k < program->verbs[i]->n_actions; k++)
                if (program->verbs[i]->actions[k].acts)
                    print_acting(program->verbs[i], &program->verbs[i]->actions[k]);
        return 0;
    }
    for (size_t i = 0; i < program->n_verbs; i++) {
        const struct option_verb *verb = program->verbs[i];
        CHECK(option_find_verb(program, verb->name) == verb && verb->words[0]);
        CHECK(i == 0 || strcmp(program->verbs[i - 1]->name, verb->name) < 0);
        CHECK(verb->n_actions > 0 && verb->about && verb->page);
    }
    CHECK(program->n_verbs >= 13);
    CHECK(!option_find_verb(program, "") && !option_find_verb(program, "statu"));
    return check_done("tui/verbs");
}

/* The table of verbs: in order, each with what help and pages need, and found by its name. */
#include "tui/verbs.h"

#include "tests/check.h"

int main(void)
{
    const struct option_program *program = &tui_papertape;

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

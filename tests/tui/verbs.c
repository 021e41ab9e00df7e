/* The table of verbs: every one that is listed is found, and what is nearly one is guessed. */
#include "tui/verbs.h"

#include "tests/check.h"

static void check_listed(void)
{
    char *text = NULL, *rest, *line;
    char before[32] = "";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int n = 0;

    verbs_list(out);
    fclose(out);
    strtok_r(text, "\n", &rest); /* the heading */
    while ((line = strtok_r(NULL, "\n", &rest))) {
        char name[32];
        CHECK_INT(sscanf(line, " %31s", name), 1);
        const struct verb *verb = verbs_find(name);
        CHECK(verb && strcmp(verb->name, name) == 0 && verb->run && verb->words[0]);
        CHECK(strcmp(before, name) < 0); /* as bsearch() needs it */
        strcpy(before, name);
        n++;
    }
    CHECK(n >= 13);
    free(text);
}

static void check_nearest(const char *name, const char *expected)
{
    const struct verb *verb = verbs_nearest(name);

    CHECK_STR(verb ? verb->name : "none", expected);
}

int main(void)
{
    check_listed();
    CHECK(!verbs_find("") && !verbs_find("statu") && !verbs_find("statuss"));
    check_nearest("stauts", "status");
    check_nearest("flaten", "flatten");
    check_nearest("postions", "positions");
    check_nearest("resum", "resume");
    check_nearest("xyzzy", "none");
    check_nearest("", "none");
    check_nearest("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "none");
    return check_done("tui/verbs");
}

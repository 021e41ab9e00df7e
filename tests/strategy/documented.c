/* docs/strategies.md names every strategy in its table and in a section of its own, every parameter in that
 * section's table with its default, its range and its summary; the other files name every strategy. */
#include "strategy/strategy.h"

#include "tests/check.h"

static char text[200000];

static void read_page(const char *path)
{
    FILE *file = fopen(path, "r");
    CHECK(file);
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    CHECK(n > 0 && n < sizeof text - 1);
    if (file)
        fclose(file);
}

/* Copies the section under its heading; empty when there is none. */
static void section_of(const char *name, char *section, size_t size)
{
    char heading[64];
    snprintf(heading, sizeof heading, "\n### %s\n", name);
    const char *begin = strstr(text, heading);
    section[0] = '\0';
    if (!begin)
        return;
    begin += strlen(heading);
    const char *end = strstr(begin, "\n### ");
    snprintf(section, size, "%.*s", (int)(end ? end - begin : (long)strlen(begin)), begin);
}

static void check_strategy(const struct strategy *strategy)
{
    static char section[20000];
    section_of(strategy->name, section, sizeof section);
    if (!section[0])
        printf("no section ### %s\n", strategy->name);
    CHECK(section[0]);
    char link[100];
    snprintf(link, sizeof link, "\n| [%s](#%s) | ", strategy->name, strategy->name);
    if (!strstr(text, link))
        printf("docs/strategies.md, the table of the strategies lacks the row:%swhat it is |\n", link);
    CHECK(strstr(text, link) != NULL);
    size_t rows = 0;
    for (const char *at = section; (at = strstr(at, "\n| `")); at++)
        rows++;
    CHECK_INT(rows, strategy->n_params);
    for (size_t k = 0; k < strategy->n_params; k++) {
        const struct strategy_param *p = &strategy->params[k];
        char row[300];
        char word[STRATEGY_WORD_MAX], words[STRATEGY_WORDS_MAX];
        if (strategy_param_word(p, p->fallback, word))
            snprintf(row, sizeof row, "\n| `%s` | %s | %s | %s |\n", p->name, word,
                     strategy_param_words(p, words), p->summary);
        else
            snprintf(row, sizeof row, "\n| `%s` | %.10g | %.10g to %.10g | %s |\n", p->name, p->fallback,
                     p->min, p->max, p->summary);
        if (!strstr(section, row))
            printf("### %s: this row is missing:%s", strategy->name, row);
        CHECK(strstr(section, row) != NULL);
    }
}

/* A word of its own: "sma-cross" is not in "sma-cross-rsi". */
static bool names(const char *word)
{
    size_t len = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += len)
        if ((at == text || strchr(" *`\n", at[-1])) && strchr(" *`,.:\n", at[len]))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    CHECK(argc > 2);
    for (int k = 1; k < argc; k++) {
        read_page(argv[k]);
        for (size_t i = 0; i < n; i++) {
            if (k == 1)
                check_strategy(all[i]);
            else if (!names(all[i]->name))
                printf("%s does not name %s\n", argv[k], all[i]->name);
            CHECK(k == 1 || names(all[i]->name));
        }
    }
    return check_done("strategy/documented");
}

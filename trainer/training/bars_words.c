#include "trainer/training/bars_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer ones first. NULL: the option stays. */
static const struct {
    const char *option, *as[BARS_WORDS_KINDS];
} phrases[] = {
    {"--zone, if the times are of another, or --session all",
     {"[data] zone, if the times are of another, or [environment] session = all",
      "--zone, if the times are of another"}},
    {"--zone, if the times are of another", {"[data] zone, if the times are of another", NULL}},
    {"--zone: ", {"[data] zone: ", NULL}},
    {"--zone ", {"[data] zone = ", NULL}},
    {"--lot: ", {"[data] lots: ", NULL}},
    {", or --symbol,", {", or [data] symbols,", ","}},
    {", or --straddle keep, to take it as if it had", {"", ""}},
    {"; or --straddle keep", {"", ""}},
    {", or --interval", {"", ""}},
    {", or --from and --to", {"", NULL}},
};

static void replace(char *words, size_t size, const char *option, const char *as)
{
    char *at = strstr(words, option), *rest = at ? strdup(at + strlen(option)) : NULL;
    if (rest)
        snprintf(at, size - (size_t)(at - words), "%s%s", as, rest);
    free(rest);
}

void training_bars_words(enum bars_words kind, char *words, size_t size)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (phrases[i].as[kind])
            replace(words, size, phrases[i].option, phrases[i].as[kind]);
}

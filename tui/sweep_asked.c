/* What of a sweep is more than every combination on all bars: its samples, screen, periods and universe. */
#include <stdio.h>
#include <string.h>

#include "record/option.h"
#include "tui/sweep_files.h"

enum { VALUE = 128, TEXT = 512 };

/* The last value of an option in the field of options, "" of a flag; NULL: it is not there. Into ret. */
static const char *option_of(const struct sweep_entry *entry, const char *name, char ret[static VALUE])
{
    char text[OPTION_LINE_MAX], *words[OPTION_LINE_WORDS + 1];
    const size_t len = strlen(name);
    const char *found = NULL;
    int n = option_line_words(tui_sweep_entry_field(entry, "options"), text, words, NULL);

    for (int i = 0; i < n; i++) {
        if (strncmp(words[i], name, len) != 0 || (words[i][len] && words[i][len] != '='))
            continue;
        found = words[i][len] ? words[i] + len + 1 : i + 1 < n && words[i + 1][0] != '-' ? words[i + 1] : "";
        snprintf(ret, VALUE, "%s", found);
    }
    return found ? ret : NULL;
}

static void add(char *buf, size_t size, const char *words)
{
    const size_t at = strlen(buf);

    if (words[0] && at < size)
        snprintf(buf + at, size - at, "%s%s", at > 0 ? "; " : "", words);
}

static const char *samples(const struct sweep_entry *entry, char ret[static TEXT])
{
    char given[VALUE], how[VALUE];
    const char *n = tui_sweep_entry_field(entry, "samples"), *sampling = option_of(entry, "--sampling", how);

    n = n[0] ? n : option_of(entry, "--samples", given);
    ret[0] = '\0';
    if (n)
        snprintf(ret, TEXT, "%.32s samples%s", n,
                 sampling && strcmp(sampling, "sobol") == 0 ? " by Sobol's sequence" : " at random");
    return ret;
}

/* Once it has ended, what the screen left; it may cover none of the sets. */
static const char *screen(const struct sweep_entry *entry, char ret[static TEXT])
{
    const struct sweep_outcome *outcome = &entry->outcome;
    char value[VALUE];
    const char *backend = option_of(entry, "--backend", value);
    const bool gpu = backend && strcmp(backend, "gpu") == 0,
               asked = gpu || option_of(entry, "--screen", value);

    ret[0] = '\0';
    if (outcome->screened)
        snprintf(ret, TEXT, "screened%s, %lld run exactly", gpu ? " on the GPU" : "",
                 (long long)outcome->exact);
    else if (asked && outcome->runs >= 0)
        snprintf(ret, TEXT, "not covered by the screen: all run exactly");
    else if (asked)
        snprintf(ret, TEXT, "screened%s first", gpu ? " on the GPU" : "");
    return ret;
}

/* Of one that has ended what they gave; a sweep that was stopped has none. */
static const char *periods(const struct sweep_entry *entry, char ret[static TEXT])
{
    const struct sweep_outcome *outcome = &entry->outcome;
    char n[VALUE], days[VALUE];
    const bool asked = option_of(entry, "--periods", n) && option_of(entry, "--period-days", days);

    ret[0] = '\0';
    if (outcome->periods > 0)
        snprintf(ret, TEXT, "%lld periods of %lld days: best above 0 in %lld, median Sharpe %.2f",
                 (long long)outcome->periods, (long long)outcome->period_days,
                 (long long)outcome->periods_above, outcome->period_median);
    else if (asked && outcome->runs < 0)
        snprintf(ret, TEXT, "then %.32s periods of %.32s days", n, days);
    return ret;
}

static const char *universe(const struct sweep_entry *entry, char ret[static TEXT])
{
    char value[VALUE];
    const char *rule =
        entry->outcome.universe[0] ? entry->outcome.universe : option_of(entry, "--universe", value);

    ret[0] = '\0';
    if (rule)
        snprintf(ret, TEXT, "universe %s", rule);
    return ret;
}

const char *tui_sweep_entry_asked(const struct sweep_entry *entry, char *buf, size_t size)
{
    char text[TEXT];

    buf[0] = '\0';
    add(buf, size, samples(entry, text));
    add(buf, size, screen(entry, text));
    add(buf, size, periods(entry, text));
    add(buf, size, universe(entry, text));
    return buf;
}

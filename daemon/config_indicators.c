/* Values of [indicators]: specifications, and the timeframes that they are kept for. */
#include <errno.h>
#include <string.h>

#include "daemon/config_specs.h"
#include "daemon/config_values.h"
#include "exchange/bar.h"
#include "exchange/book_measure.h"

enum { WHY = CONFIG_WHY_MAX, WORD_MAX_BYTES = 64 };

#define SEPARATORS " \t"

/* The next word of *at into word, without a comma at its end; false at the end. A word that is too long is
 * cut, and will not be known. */
static bool next_word(const char **at, char word[static WORD_MAX_BYTES])
{
    *at += strspn(*at, SEPARATORS);
    size_t len = strcspn(*at, SEPARATORS);
    snprintf(word, WORD_MAX_BYTES, "%.*s", len < WORD_MAX_BYTES ? (int)len : WORD_MAX_BYTES - 1, *at);
    *at += len;
    size_t end = strlen(word);
    if (end > 0 && word[end - 1] == ',')
        word[end - 1] = '\0';
    return len > 0;
}

static bool same_spec(const struct indicator_spec *a, const struct indicator_spec *b)
{
    return a->row == b->row && memcmp(a->options, b->options, a->row->n_options * sizeof *a->options) == 0;
}

/* Returns how many, or -EINVAL. */
static int parse_spec(char *word, struct indicator_spec *ret, int *ret_measure, char *why)
{
    char because[WHY], *at = strchr(word, '@');
    *ret_measure = -1;
    /* The text is stored, and read by other programs: data must not name code to run. */
    if (strncmp(word, "lib:", strlen("lib:")) == 0)
        return config_key_refuse(why, WHY,
                                 "%.40s: built-in indicators alone are kept here; strategies, and papertape "
                                 "indicators, read those of shared objects",
                                 word);
    if (at) {
        *at++ = '\0';
        *ret_measure = book_measure_find(at);
        if (*ret_measure < 0)
            return config_key_refuse(
                why, WHY, "%.32s@%.32s: behind the @ spread, imbalance or microprice is needed", word, at);
    }
    if (indicator_spec_parse(word, ret, because, sizeof because) < 0)
        return config_key_refuse(why, WHY, "%s", because);
    if (at && (ret->row->inputs & INDICATOR_VOLUME))
        return config_key_refuse(why, WHY, "%s@%s: %s reads volumes, and a measure of the book has none",
                                 word, at, ret->row->name);
    return 0;
}

/* The order: prices first, then by measure, else as given. */
static int place_of(const int *measures, int n, int measure)
{
    while (n > 0 && measures[n - 1] > measure)
        n--;
    return n;
}

int daemon_config_specs_parse(const char *text, struct daemon_config_specs *ret, char why[static WHY])
{
    char word[WORD_MAX_BYTES];
    size_t outputs = 0;
    *ret = (struct daemon_config_specs){0};
    while (next_word(&text, word)) {
        struct indicator_spec spec = {0};
        int measure, r = parse_spec(word, &spec, &measure, why);
        if (r < 0)
            return r;
        if (ret->n == CONFIG_SPECS_MAX)
            return config_key_refuse(why, WHY, "more than %d indicators", CONFIG_SPECS_MAX);
        for (int i = 0; i < ret->n; i++)
            if (ret->measures[i] == measure && same_spec(&ret->specs[i], &spec))
                return config_key_refuse(why, WHY, "%s%s%s is named twice", word, measure < 0 ? "" : "@",
                                         measure < 0 ? "" : book_measure_name((enum book_measure)measure));
        int at = place_of(ret->measures, ret->n, measure);
        size_t behind = (size_t)(ret->n++ - at);
        memmove(&ret->specs[at + 1], &ret->specs[at], behind * sizeof *ret->specs);
        memmove(&ret->measures[at + 1], &ret->measures[at], behind * sizeof *ret->measures);
        ret->specs[at] = spec;
        ret->measures[at] = measure;
        outputs += spec.row->n_outputs;
    }
    if (outputs > CONFIG_SPEC_OUTPUTS_MAX)
        return config_key_refuse(why, WHY, "they have %zu outputs together: at most %d can be kept", outputs,
                                 CONFIG_SPEC_OUTPUTS_MAX);
    return 0;
}

/* Each with its options, between blanks: what is parsed to the same. Of the configuration's text and of the
 * database's: where they differ, others are kept. */
static void daemon_config_specs_print(const struct daemon_config_specs *specs,
                                      char ret[static CONFIG_SPECS_TEXT_MAX])
{
    FILE *to = fmemopen(ret, CONFIG_SPECS_TEXT_MAX, "w");
    ret[0] = '\0';
    for (int i = 0; to && i < specs->n; i++) {
        const struct indicator_spec *spec = &specs->specs[i];
        fprintf(to, "%s%s", i ? " " : "", spec->row->name);
        for (size_t k = 0; k < spec->row->n_options; k++)
            fprintf(to, "%c%.15g", k ? ',' : ':', spec->options[k]);
        if (specs->measures[i] >= 0)
            fprintf(to, "@%s", book_measure_name((enum book_measure)specs->measures[i]));
    }
    if (to)
        fclose(to);
}

int daemon_config_read_specs(const struct config_key *key, const char *text, void *base, char why[static WHY])
{
    (void)key;
    struct daemon_config *config = base;
    struct daemon_config_specs specs;
    int r = daemon_config_specs_parse(text, &specs, why);
    if (r == 0)
        daemon_config_specs_print(&specs, config->specs);
    return r;
}

int daemon_config_read_timeframes(const struct config_key *key, const char *text, void *base,
                                  char why[static WHY])
{
    (void)key;
    struct daemon_config *config = base;
    static const struct config_key interval = {0};
    char word[WORD_MAX_BYTES];
    int64_t timeframes[CONFIG_TIMEFRAMES_MAX] = {0};
    int n = 0;
    bool alone = strcmp(text, "auto") == 0;
    while (!alone && next_word(&text, word)) {
        int64_t interval_ns;
        if (config_key_read_interval(&interval, word, &interval_ns, why) < 0)
            return -EINVAL;
        if (n == CONFIG_TIMEFRAMES_MAX)
            return config_key_refuse(why, WHY, "more than %d timeframes", CONFIG_TIMEFRAMES_MAX);
        int at = n;
        for (; at > 0 && timeframes[at - 1] >= interval_ns; at--) {
            if (timeframes[at - 1] == interval_ns)
                return config_key_refuse(why, WHY, "%s is named twice", word);
            timeframes[at] = timeframes[at - 1];
        }
        timeframes[at] = interval_ns;
        n++;
    }
    if (!alone && n == 0)
        return config_key_refuse(why, WHY, "at least one is needed, like 5m, or auto");
    memcpy(config->timeframes, timeframes, sizeof timeframes);
    config->n_timeframes = n;
    return 0;
}

void daemon_config_print_timeframes(const struct config_key *key, const void *base, FILE *to)
{
    (void)key;
    const struct daemon_config *config = base;
    if (config->n_timeframes == 0)
        fputs("auto", to);
    for (int i = 0; i < config->n_timeframes; i++)
        fprintf(to, "%s%s", i ? " " : "", bar_interval_name(config->timeframes[i]));
}

int daemon_config_timeframes(const struct daemon_config *config, int64_t ret_ns[static CONFIG_TIMEFRAMES_MAX])
{
    static const int64_t minute_ns = 60000000000;
    const int64_t usual[] = {5 * minute_ns, 15 * minute_ns, 60 * minute_ns, 240 * minute_ns,
                             1440 * minute_ns};
    int n = config->n_timeframes;
    if (n > 0) {
        memcpy(ret_ns, config->timeframes, (size_t)n * sizeof *ret_ns);
        return n;
    }
    ret_ns[n++] = config->interval_ns;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i] > config->interval_ns && usual[i] % config->interval_ns == 0)
            ret_ns[n++] = usual[i];
    return n;
}

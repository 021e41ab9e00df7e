/* Feature sets as text, and back. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/features/features.h"
#include "indicators_gpu/features/group.h"

static const char *const column_names[INDICATOR_COLUMNS] = {"open", "high", "low", "close", "volume", "time"};
enum { FEATURE_COLUMNS = 5 }; /* time is not among them */

static const char *const form_names[] = {
    [FEATURE_RAW] = "raw",      [FEATURE_PER_CLOSE] = "/close", [FEATURE_OF_CLOSE] = "/close-1",
    [FEATURE_PERCENT] = "/100", [FEATURE_LOG1P] = "log1p",
};
static const char *const scaling_names[] = {
    [FEATURE_UNSCALED] = "none",
    [FEATURE_ZSCORE] = "zscore",
    [FEATURE_MINMAX] = "minmax",
    [FEATURE_NORMAL] = "normal",
};
enum {
    N_FORMS = sizeof(form_names) / sizeof(form_names[0]),
    N_SCALINGS = sizeof(scaling_names) / sizeof(scaling_names[0]),
    WORD_MAX = 64, /* longest word of a line */
};

/* The figures that a scaling was fitted to. */
static size_t n_figures(enum feature_scaling scaling)
{
    return scaling == FEATURE_UNSCALED ? 0 : scaling == FEATURE_NORMAL ? FEATURE_KNOTS : 2;
}

static double *figures_of(struct feature *feature)
{
    return feature->scaling == FEATURE_NORMAL ? feature->knots : &feature->offset;
}

static bool word_in(const char *word, const char *const names[], size_t n, unsigned *ret)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], word) == 0) {
            *ret = (unsigned)i;
            return true;
        }
    return false;
}

#define BLANKS " \t\r"

/* The next word of a line, separated by blanks; false at its end. check_characters() has checked that it
 * fits. */
static bool next_word(const char **at, char word[static WORD_MAX])
{
    *at += strspn(*at, BLANKS);
    size_t len = strcspn(*at, BLANKS);
    snprintf(word, WORD_MAX, "%.*s", (int)(len < WORD_MAX ? len : WORD_MAX), *at);
    *at += len;
    return len > 0;
}

static const struct {
    char letter;
    int64_t seconds;
} units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

static int parse_timeframe(const char *text, int64_t *ret)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (text[0] >= '1' && text[0] <= '9' && count <= 10000 && end[0] == units[i].letter &&
            end[1] == '\0') {
            *ret = (int64_t)count * units[i].seconds;
            return 0;
        }
    return -EINVAL;
}

static void print_timeframe(int64_t seconds, char *buf, size_t cap)
{
    size_t i = 0;
    while (seconds % units[i].seconds != 0)
        i++;
    snprintf(buf, cap, "@%" PRId64 "%c", seconds / units[i].seconds, units[i].letter);
}

/* SOURCE[@TIMEFRAME]. Cuts `word` apart. */
static int parse_source(char *word, struct feature *feature, char *err, size_t err_cap)
{
    char *at = strchr(word, '@');
    if (at) {
        *at++ = '\0';
        if (parse_timeframe(at, &feature->timeframe_s) < 0)
            return fail_with(-EINVAL, err, err_cap,
                             "timeframe \"%s\": a number and s, m, h or d is needed, as 1h", at);
    }
    if (word_in(word, column_names, FEATURE_COLUMNS, &feature->output))
        return 0;

    /* The output's name is behind the last point that no digit follows: "bbands:20,2.5.upper". */
    char *point = strrchr(word, '.');
    const char *output = "";
    if (point && !(point[1] >= '0' && point[1] <= '9')) {
        *point = '\0';
        output = point + 1;
    }
    if (strncmp(word, "lib:", 4) == 0) /* a policy's file is data, and must not name code to run */
        return fail_with(-EINVAL, err, err_cap, "%.60s: features are of built-in indicators alone", word);
    int r = indicator_spec_parse(word, &feature->spec, err, err_cap);
    if (r < 0)
        return r;
    const struct indicator *row = feature->spec.row;
    if (word_in(output, row->outputs, row->n_outputs, &feature->output))
        return 0;
    int len = snprintf(err, err_cap, "%s has no output \"%s\": ", row->name, output);
    for (size_t k = 0; k < row->n_outputs && len >= 0 && (size_t)len < err_cap; k++)
        len += snprintf(err + len, err_cap - (size_t)len, "%s\"%s\"", k ? ", " : "", row->outputs[k]);
    return -EINVAL;
}

static void name_feature(struct feature *feature)
{
    char source[FEATURE_NAME_MAX], timeframe[32] = "";
    const char *dot = "", *output = "";
    if (feature->spec.row) {
        indicator_spec_text(&feature->spec, source, sizeof(source));
        output = feature->spec.row->outputs[feature->output];
        dot = *output ? "." : "";
    } else {
        snprintf(source, sizeof(source), "%s", column_names[feature->output]);
    }
    if (feature->timeframe_s)
        print_timeframe(feature->timeframe_s, timeframe, sizeof(timeframe));
    bool raw = feature->form == FEATURE_RAW;
    snprintf(feature->name, sizeof(feature->name), "%.56s%s%.12s%.12s%s%s", source, dot, output, timeframe,
             raw ? "" : " ", raw ? "" : form_names[feature->form]);
}

static int parse_figures(const char **at, struct feature *feature, bool *ret_fitted, char *err,
                         size_t err_cap)
{
    char word[WORD_MAX];
    size_t n = 0, needed = n_figures(feature->scaling);
    double *figures = figures_of(feature);
    while (next_word(at, word)) {
        char *end;
        double value = strtod(word, &end);
        if (n == needed || *end != '\0' || !(value - value == 0.0))
            return fail_with(-EINVAL, err, err_cap,
                             "\"%s\": %s takes %zu figures, or none before it is fitted", word,
                             scaling_names[feature->scaling], needed);
        figures[n++] = value;
    }
    if (n != 0 && n != needed)
        return fail_with(-EINVAL, err, err_cap, "%zu figures: %s takes %zu", n,
                         scaling_names[feature->scaling], needed);
    for (size_t i = 1; i < n && feature->scaling == FEATURE_NORMAL; i++)
        if (figures[i] < figures[i - 1])
            return fail_with(-EINVAL, err, err_cap, "\"%.17g\": the figures of normal do not fall",
                             figures[i]);
    *ret_fitted = n == needed;
    return 0;
}

static int parse_feature(const char *line, struct feature *ret, bool *ret_fitted, char *err, size_t err_cap)
{
    struct feature feature = {.scaling = FEATURE_UNSCALED};
    char word[WORD_MAX];
    const char *at = line;
    next_word(&at, word);
    int r = parse_source(word, &feature, err, err_cap);
    if (r < 0)
        return r;

    unsigned found;
    next_word(&at, word);
    if (word_in(word, form_names, N_FORMS, &found)) {
        feature.form = (enum feature_form)found;
        next_word(&at, word);
    }
    if (word[0] != '\0') {
        if (!word_in(word, scaling_names, N_SCALINGS, &found))
            return fail_with(
                -EINVAL, err, err_cap,
                "\"%s\": raw, /close, /close-1, /100 or log1p, then none, zscore, minmax or normal", word);
        feature.scaling = (enum feature_scaling)found;
    }
    r = parse_figures(&at, &feature, ret_fitted, err, err_cap);
    if (r < 0)
        return r;
    name_feature(&feature);
    *ret = feature;
    return 0;
}

/* `set NAME` and, once fitted, `fitted FROM TO`. Returns 1 for a line that is neither. */
static int parse_head(const char *line, struct feature_set *set, char *err, size_t err_cap)
{
    char word[WORD_MAX], name[WORD_MAX];
    const char *at = line;
    next_word(&at, word);
    if (strcmp(word, "set") == 0) {
        if (!next_word(&at, name) || strlen(name) >= sizeof(set->name) || next_word(&at, word))
            return fail_with(-EINVAL, err, err_cap, "\"set\" takes one name of at most %zu characters",
                             sizeof(set->name) - 1);
        snprintf(set->name, sizeof(set->name), "%s", name);
        return 0;
    }
    if (strcmp(word, "fitted") != 0)
        return 1;
    double range[2];
    for (size_t i = 0; i < 2; i++) {
        char *end = word;
        if (next_word(&at, word))
            range[i] = strtod(word, &end);
        if (end == word || *end != '\0' || !(range[i] - range[i] == 0.0) || range[i] < range[0])
            return fail_with(-EINVAL, err, err_cap,
                             "\"fitted\" takes two times, seconds since 1970, the later one last");
    }
    set->fitted_from_s = range[0];
    set->fitted_to_s = range[1];
    return 0;
}

static int parse_line(const char *line, struct feature_set *set, size_t *cap, size_t *n_fitted, char *err,
                      size_t err_cap)
{
    if (set->n == *cap) {
        size_t wider = *cap ? 2 * *cap : 16;
        struct feature *moved = realloc(set->features, wider * sizeof(*moved));
        if (!moved)
            return -ENOMEM;
        set->features = moved;
        *cap = wider;
    }
    if (set->n == FEATURES_MAX)
        return fail_with(-EINVAL, err, err_cap, "more than %d features", FEATURES_MAX);
    bool fitted;
    int r = parse_feature(line, &set->features[set->n], &fitted, err, err_cap);
    if (r < 0)
        return r;
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->features[i].name, set->features[set->n].name) == 0)
            return fail_with(-EINVAL, err, err_cap, "\"%s\" is in the set already", set->features[i].name);
    *n_fitted += fitted;
    set->n++;
    return 0;
}

/* A line may have printable characters and blanks, in words that are not too long. */
static int check_characters(const char *line, char *err, size_t err_cap)
{
    for (size_t i = 0; line[i]; i++)
        if ((line[i] < ' ' || line[i] > '~') && !strchr(BLANKS, line[i]))
            return fail_with(-EINVAL, err, err_cap, "character %zu is none that can be printed", i + 1);
    for (size_t len; *(line += strspn(line, BLANKS)); line += len) {
        len = strcspn(line, BLANKS);
        if (len >= WORD_MAX)
            return fail_with(-EINVAL, err, err_cap, "a word of %zu characters: %d are the most", len,
                             WORD_MAX - 1);
    }
    return 0;
}

static int parse_lines(const char *text, struct feature_set *set, char *err, size_t err_cap)
{
    size_t cap = 0, number = 0, n_fitted = 0;
    char why[256];
    while (*text) {
        size_t len = strcspn(text, "\n");
        char *line = strndup(text, len);
        if (!line)
            return -ENOMEM;
        text += len + (text[len] == '\n');
        number++;
        size_t blank = strspn(line, BLANKS);
        int r = 0;
        if (line[blank] != '\0' && line[blank] != '#') {
            r = check_characters(line, why, sizeof(why));
            if (r == 0)
                r = parse_head(line, set, why, sizeof(why));
            bool feature = r == 1;
            if (feature)
                r = parse_line(line, set, &cap, &n_fitted, why, sizeof(why));
            if (feature && r == -EINVAL && !set->name[0]) /* it may be a file of anything */
                snprintf(why, sizeof(why), "\"set NAME\" is needed before the features");
        }
        free(line);
        if (r == -EINVAL)
            snprintf(err, err_cap, "line %zu: %s", number, why);
        if (r < 0)
            return r;
    }
    if (set->name[0] == '\0' || set->n == 0)
        return fail_with(-EINVAL, err, err_cap, "a line \"set NAME\" and at least one feature are needed");
    set->fitted = n_fitted == set->n;
    return 0;
}

int feature_set_parse(const char *text, struct feature_set **ret, char *err, size_t err_cap)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    struct feature_set *set = calloc(1, sizeof(*set));
    int r = -ENOMEM;
    if (plain && set) {
        locale_t before = uselocale(plain);
        r = parse_lines(text, set, err, err_cap);
        uselocale(before);
    }
    if (plain)
        freelocale(plain);
    if (r < 0) {
        feature_set_destroy(set);
        return r;
    }
    *ret = set;
    return 0;
}

int feature_set_builtin(const char *name, struct feature_set **ret)
{
    const char *text = feature_builtin_text(name);
    char err[256];
    if (!text)
        return -ENOENT;
    return feature_set_parse(text, ret, err, sizeof(err));
}

static void write_feature(FILE *file, const struct feature *feature, bool fitted)
{
    fprintf(file, "%s", feature->name);
    if (feature->scaling != FEATURE_UNSCALED)
        fprintf(file, " %s", scaling_names[feature->scaling]);
    const double *figures = figures_of((struct feature *)feature);
    for (size_t i = 0; fitted && i < n_figures(feature->scaling); i++)
        fprintf(file, " %.17g", figures[i]);
    putc('\n', file);
}

static char *text_of(const struct feature_set *set, bool figures)
{
    char *text = NULL;
    size_t size = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    FILE *file = plain ? open_memstream(&text, &size) : NULL;
    if (file) {
        locale_t before = uselocale(plain);
        fprintf(file, "set %s\n", set->name);
        if (figures && set->fitted_to_s > set->fitted_from_s)
            fprintf(file, "fitted %.17g %.17g\n", set->fitted_from_s, set->fitted_to_s);
        for (size_t i = 0; i < set->n; i++)
            write_feature(file, &set->features[i], figures && set->fitted);
        uselocale(before);
        bool bad = ferror(file);
        if (fclose(file) != 0 || bad) {
            free(text);
            text = NULL;
        }
    }
    if (plain)
        freelocale(plain);
    return text;
}

char *feature_set_text(const struct feature_set *set)
{
    return text_of(set, true);
}

uint64_t feature_set_layout(const struct feature_set *set)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < set->n; i++) {
        const char *const parts[] = {set->features[i].name, " ", scaling_names[set->features[i].scaling],
                                     "\n"};
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
            for (const char *c = parts[k]; *c; c++)
                hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    }
    return hash;
}

void feature_set_destroy(struct feature_set *set)
{
    if (!set)
        return;
    free(set->features);
    free(set);
}

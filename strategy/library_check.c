/* Whether a shared object's table can be used: all of it, when it is loaded, so that what is wrong is
 * reported there and not at the first bar. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/symbol.h"
#include "indicators_gpu/indicators.h"
#include "indicators_gpu/plugin_watch.h"
#include "strategy/column.h"
#include "strategy/library.h"

_Static_assert((int)PAPERTAPE_SPEC_TEXT == (int)STRATEGY_SPEC_TEXT, "specs are written where ours are");

struct refusal {
    const char *path;
    char *err;
    size_t size;
};

#define refuse(to, format, ...) \
    fail_with(-EINVAL, (to)->err, (to)->size, "%.200s: " format, (to)->path, __VA_ARGS__)

static bool is_word(const char *text, size_t most, const char *of)
{
    size_t n = text ? strspn(text, of) : 0;
    return n > 0 && n < most && text[n] == '\0';
}

/* Of the strategy: as the built-ins'. */
static bool is_title(const char *text)
{
    return is_word(text, STRATEGY_TITLE_MAX, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

/* Of a parameter: what an INI key and KEY=VALUE may have. */
static bool is_param_name(const char *text)
{
    return is_word(text, STRATEGY_PARAM_NAME_MAX, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

static bool is_line(const char *text)
{
    size_t n = 0;
    for (; text && text[n]; n++)
        if ((unsigned char)text[n] < ' ' || n + 1 == STRATEGY_SUMMARY_MAX)
            return false;
    return n > 0;
}

/* How many words there are; 0: a blank too many, one that is too long, or other letters. */
static int count_words(const char *words)
{
    int n = 0;
    if (strlen(words) >= STRATEGY_WORDS_MAX / 2) /* a list of them has " or " between two */
        return 0;
    for (const char *at = words;; at++) {
        size_t len = strcspn(at, " ");
        if (len == 0 || len >= STRATEGY_WORD_MAX ||
            strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_-") != len)
            return 0;
        n++;
        at += len;
        if (*at == '\0')
            return n;
    }
}

static int check_param(const struct papertape_param *params, uint32_t i, const struct refusal *to)
{
    const struct papertape_param *p = &params[i];
    if (!is_param_name(p->name))
        return refuse(to,
                      "the name of parameter %u: lower case letters, digits and _, at most %d, are needed",
                      i + 1, STRATEGY_PARAM_NAME_MAX - 1);
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(params[k].name, p->name) == 0)
            return refuse(to, "two parameters are called %s", p->name);
    if (!is_line(p->summary))
        return refuse(to, "parameter %s: its summary: one line of at most %d bytes is needed", p->name,
                      STRATEGY_SUMMARY_MAX - 1);
    if (!isfinite(p->min) || !isfinite(p->max) || p->min > p->max)
        return refuse(to, "parameter %s: its range %g to %g: finite numbers, the least first, are needed",
                      p->name, p->min, p->max);
    if (!(p->fallback >= p->min && p->fallback <= p->max))
        return refuse(to, "parameter %s: its default %g is not within %g to %g", p->name, p->fallback, p->min,
                      p->max);
    if (p->integer > 1)
        return refuse(to, "parameter %s: integer is %u: 0 or 1 is needed", p->name, p->integer);
    if (p->integer && (p->fallback != floor(p->fallback) || fabs(p->min) > 1e15 || fabs(p->max) > 1e15))
        return refuse(to, "parameter %s: whole numbers up to 1e15 are needed: default %g, range %g to %g",
                      p->name, p->fallback, p->min, p->max);
    if (!p->words)
        return 0;
    int n = count_words(p->words);
    if (n < 2)
        return refuse(to, "parameter %s: its words \"%.60s\": two or more, one blank between, are needed",
                      p->name, p->words);
    if (!p->integer || p->min != 0 || p->max != n - 1)
        return refuse(to, "parameter %s: with %d words, integer 1 and the range 0 to %d are needed", p->name,
                      n, n - 1);
    return 0;
}

/* The part before an @ is an indicator's; what is behind it the engine knows. */
static int check_spec(const char *text, size_t i, const struct refusal *to)
{
    char word[STRATEGY_SPEC_TEXT], why[200];
    struct indicator_spec spec;
    if (!memchr(text, '\0', STRATEGY_SPEC_TEXT))
        return refuse(to, "the text of indicator %zu has no end within %d bytes", i + 1, STRATEGY_SPEC_TEXT);
    snprintf(word, sizeof word, "%s", text);
    struct column_source column;
    if (strategy_column_is(word))
        return strategy_column_parse(word, &column, why, sizeof why) < 0
                   ? refuse(to, "indicator %zu with the defaults: %s", i + 1, why)
                   : 0;
    char *at = strrchr(word, '@');
    if (at)
        *at = '\0';
    if (indicator_spec_parse(word, &spec, why, sizeof why) < 0)
        return refuse(to, "indicator %zu with the defaults: %s", i + 1, why);
    return 0;
}

/* With the defaults. */
static int check_specs(const struct papertape_strategy *table, const double *params, const struct refusal *to)
{
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT] = {""};
    size_t n = table->specs ? INDICATOR_PLUGIN_CALL(to, table->specs(params, specs)) : 0;
    if (n > STRATEGY_SPECS_MAX)
        return refuse(to, "specs() says %zu indicators with the defaults: at most %d", n, STRATEGY_SPECS_MAX);
    for (size_t i = 0; i < n; i++) {
        int r = check_spec(specs[i], i, to);
        if (r < 0)
            return r;
    }
    return 0;
}

static int check_sizes(const struct papertape_strategy *table, const struct refusal *to)
{
    if (table->n_params > STRATEGY_PARAMS_MAX)
        return refuse(to, "%u parameters: at most %d", table->n_params, STRATEGY_PARAMS_MAX);
    if (table->n_params > 0 && !table->params)
        return refuse(to, "%u parameters, and their rows are missing", table->n_params);
    if (table->state_size > STRATEGY_STATE_MAX)
        return refuse(to, "%u bytes of state for each symbol: at most %d", table->state_size,
                      STRATEGY_STATE_MAX);
    if (table->shorts > 1)
        return refuse(to, "shorts is %u: 0 or 1 is needed", table->shorts);
    if (table->peers > 1 || table->together > 1 || table->needs_shorts > 1)
        return refuse(to, "peers, together, needs_shorts are %u, %u, %u: each 0 or 1 is needed", table->peers,
                      table->together, table->needs_shorts);
    if (table->symbols_min > SYMBOLS_MAX)
        return refuse(to, "symbols_min is %u: at most %d", table->symbols_min, SYMBOLS_MAX);
    if (table->together && table->scan)
        return refuse(to, "together and scan: a scan is of one symbol, without it%s", "");
    if (!table->on_bar)
        return refuse(to, "the function on_bar is missing%s", "");
    return 0;
}

int strategy_library_check(const char *path, const struct papertape_strategy *table, char *err,
                           size_t err_size)
{
    const struct refusal to = {path, err, err_size};
    double defaults[STRATEGY_PARAMS_MAX] = {0};
    if (!is_title(table->name))
        return refuse(&to, "its name: lower case letters, digits and -, at most %d, are needed",
                      STRATEGY_TITLE_MAX - 1);
    if (!is_line(table->summary))
        return refuse(&to, "its summary: one line of at most %d bytes is needed", STRATEGY_SUMMARY_MAX - 1);
    int r = check_sizes(table, &to);
    for (uint32_t i = 0; i < table->n_params && r == 0; i++) {
        r = check_param(table->params, i, &to);
        if (r == 0)
            defaults[i] = table->params[i].fallback;
    }
    const char *wrong = r == 0 && table->check ? INDICATOR_PLUGIN_CALL(&to, table->check(defaults)) : NULL;
    if (wrong)
        return refuse(&to, "its own defaults contradict each other: %.120s", wrong);
    return r < 0 ? r : check_specs(table, defaults, &to);
}

/* Reads rules of the universe. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/universe.h"
#include "exchange/nearest.h"
#include "record/config_duration.h"

#define DAY_NS INT64_C(86400000000000)

enum value_kind { NUMBER, SHARE, AGE };

static const struct {
    const char *name;
    enum value_kind kind;
} measures[UNIVERSE_MEASURES] = {
#define ROW(word, name, kind, summary) {name, kind},
    ENGINE_UNIVERSE_MEASURES(ROW)
#undef ROW
};

const char *engine_universe_measure_name(enum engine_universe_measure measure)
{
    return measures[measure].name;
}

/* ---- text ---- */

enum { WORD_MAX = 64 };

struct reading {
    struct engine_universe_rule rule;
    bool conditions, rank, over, every; /* were given */
    char *err;
};

static int fail(const struct reading *reading, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(const struct reading *reading, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reading->err, UNIVERSE_ERROR_MAX, format, args);
    va_end(args);
    return -EINVAL;
}

static const char *skip_blanks(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* A word up to a blank or one of `ends`. Returns what follows it; "" of none. */
static const char *take_word(const char *at, const char *ends, char ret[static WORD_MAX])
{
    size_t n = 0;
    at = skip_blanks(at);
    for (; *at && !isspace((unsigned char)*at) && !strchr(ends, *at); at++)
        if (n < WORD_MAX - 1)
            ret[n++] = *at;
    ret[n] = '\0';
    return skip_blanks(at);
}

static int read_measure(const struct reading *reading, const char *word, enum engine_universe_measure *ret)
{
    struct nearest nearest = {0};
    for (int m = 0; m < UNIVERSE_MEASURES; m++) {
        nearest_offer(&nearest, word, measures[m].name);
        if (strcasecmp(word, measures[m].name) == 0) {
            *ret = (enum engine_universe_measure)m;
            return 0;
        }
    }
    return fail(reading, "\"%s\": unknown measure%s", word, NEAREST_HINT(&nearest, word));
}

static int read_value(const struct reading *reading, const char *word, enum engine_universe_measure measure,
                      double *ret)
{
    const enum value_kind kind = measures[measure].kind;
    int64_t ns;
    char *end;
    if (kind == AGE) {
        if (!config_key_duration_parse(word, &ns))
            return fail(reading, "\"%s\": an age is a duration, as 30d or 12h", word);
        *ret = (double)ns;
        return 0;
    }
    double value = strtod(word, &end);
    bool percent = kind == SHARE && *end == '%';
    if (end == word || strcmp(end, percent ? "%" : "") != 0 || !isfinite(value))
        return fail(reading, "\"%s\": %s is a number%s", word, measures[measure].name,
                    kind == SHARE ? ", as 0.02 or 2%" : ", as 1e6");
    *ret = percent ? value / 100 : value;
    return 0;
}

static int read_condition(struct reading *reading, const char *text)
{
    struct engine_universe_rule *rule = &reading->rule;
    char name[WORD_MAX], value[WORD_MAX], rest[WORD_MAX];
    enum engine_universe_measure measure;
    const char *at = take_word(text, "<>=!", name);
    if (name[0] == '\0')
        return fail(reading, "\"%s\": a condition, as volume>1e6, is needed", text);
    if (*at != '<' && *at != '>')
        return fail(reading, "\"%s\": a condition has >, >=, < or <= after its measure, as volume>1e6", text);
    int r = read_measure(reading, name, &measure);
    bool above = *at == '>', equal = at[1] == '=';
    if (r < 0)
        return r;
    at = take_word(at + 1 + equal, "<>=", value);
    take_word(at, "", rest);
    if (value[0] == '\0' || rest[0] != '\0')
        return fail(reading, "\"%s\": one value is needed after %s%s%s", text, name, above ? ">" : "<",
                    equal ? "=" : "");
    if (rule->n_conditions == UNIVERSE_CONDITIONS_MAX)
        return fail(reading, "at most %d conditions can be joined", UNIVERSE_CONDITIONS_MAX);
    rule->conditions[rule->n_conditions].measure = measure;
    rule->conditions[rule->n_conditions].op = above   ? equal ? UNIVERSE_AT_LEAST : UNIVERSE_ABOVE
                                              : equal ? UNIVERSE_AT_MOST
                                                      : UNIVERSE_BELOW;
    return read_value(reading, value, measure, &rule->conditions[rule->n_conditions++].value);
}

static int read_conditions(struct reading *reading, char *text)
{
    int r = 0;
    if (reading->conditions)
        return fail(reading, "conditions are joined by &, as volume>1e6 & age>30d, and not by ;");
    reading->conditions = true;
    for (char *next, *part = text; part && r == 0; part = next) {
        next = strchr(part, '&');
        if (next)
            *next++ = '\0';
        next = next && *next == '&' ? next + 1 : next;
        r = read_condition(reading, skip_blanks(part));
    }
    return r;
}

static int read_rank(struct reading *reading, const char *text, bool bottom)
{
    static const char form[] = "top N by MEASURE is needed, as top 10 by volume";
    char count[WORD_MAX], by[WORD_MAX], measure[WORD_MAX], rest[WORD_MAX], *end;
    if (reading->rank)
        return fail(reading, "there are two ranks: one top or bottom N is needed");
    const char *at = take_word(text, "", count);
    at = take_word(at, "", by);
    at = take_word(at, "", measure);
    take_word(at, "", rest);
    long n = strtol(count, &end, 10);
    if (count[0] == '\0' || *end || strcasecmp(by, "by") != 0 || measure[0] == '\0' || rest[0] != '\0')
        return fail(reading, "%s", form);
    if (n < 1 || n > 1000000)
        return fail(reading, "\"%s\": at least 1 symbol is needed, as top 10 by volume", count);
    reading->rank = true;
    reading->rule.n_best = (int)n;
    reading->rule.bottom = bottom;
    return read_measure(reading, measure, &reading->rule.by);
}

static int read_duration(const struct reading *reading, const char *word, const char *what, int64_t *ret)
{
    if (config_key_duration_parse(word, ret))
        return 0;
    return fail(reading, "%s \"%s\": a duration is needed, as 1d, 4h or 1w", what, word);
}

static int read_over(struct reading *reading, const char *text)
{
    char word[WORD_MAX], rest[WORD_MAX];
    if (reading->over)
        return fail(reading, "there are two windows: one over D is needed");
    reading->over = true;
    take_word(take_word(text, "", word), "", rest);
    if (rest[0] != '\0')
        return fail(reading, "\"over %s\": one duration is needed, as over 7d", text);
    return read_duration(reading, word, "over", &reading->rule.over_ns);
}

/* "HH:MM". */
static bool read_clock(const char *word, int64_t *ret_ns)
{
    int hour, minute, n = 0;
    if (sscanf(word, "%2d:%2d%n", &hour, &minute, &n) != 2 || word[n] || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59)
        return false;
    *ret_ns = (hour * INT64_C(60) + minute) * INT64_C(60000000000);
    return true;
}

static int read_every(struct reading *reading, const char *text)
{
    struct engine_universe_rule *rule = &reading->rule;
    char word[WORD_MAX], at[WORD_MAX], time[WORD_MAX], rest[WORD_MAX];
    if (reading->every)
        return fail(reading, "there are two times: one every D is needed");
    reading->every = true;
    const char *next = take_word(text, "", word);
    next = take_word(next, "", at);
    next = take_word(next, "", time);
    take_word(next, "", rest);
    int r = read_duration(reading, word, "every", &rule->every_ns);
    if (r < 0)
        return r;
    if (rule->every_ns < DAY_NS ? DAY_NS % rule->every_ns != 0 : rule->every_ns % DAY_NS != 0)
        return fail(reading, "every \"%s\": a whole part of a day, or whole days, are needed, as 4h or 1d",
                    word);
    if (at[0] == '\0')
        return 0;
    if (strcasecmp(at, "at") != 0 || rest[0] != '\0' || !read_clock(time, &rule->at_ns))
        return fail(reading, "\"every %s\": every D at HH:MM in UTC is needed, as every 1d at 00:00", text);
    if (rule->at_ns >= rule->every_ns)
        return fail(reading, "\"every %s\": the first time of a day is needed, before %s has passed", text,
                    word);
    return 0;
}

static int read_part(struct reading *reading, char *text)
{
    char word[WORD_MAX];
    const char *rest = take_word(text, "<>=", word);
    bool compared = *rest == '<' || *rest == '>' || *rest == '=';
    if (compared || strpbrk(text, "<>&"))
        return read_conditions(reading, text);
    if (strcasecmp(word, "top") == 0 || strcasecmp(word, "bottom") == 0)
        return read_rank(reading, rest, strcasecmp(word, "bottom") == 0);
    if (strcasecmp(word, "over") == 0)
        return read_over(reading, rest);
    if (strcasecmp(word, "every") == 0)
        return read_every(reading, rest);
    struct nearest nearest = {0};
    static const char *const words[] = {"top", "bottom", "over", "every"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        nearest_offer(&nearest, word, words[i]);
    for (int m = 0; m < UNIVERSE_MEASURES; m++)
        nearest_offer(&nearest, word, measures[m].name);
    const char *meant = nearest_meant(&nearest, word);
    return fail(reading, "\"%s\": a part is volume>1e6, top 10 by volume, over 7d or every 1d%s", text,
                NEAREST_SUGGEST(meant));
}

int engine_universe_parse(const char *text, struct engine_universe_rule *ret,
                          char err[static UNIVERSE_ERROR_MAX])
{
    struct reading reading = {.rule = {.over_ns = DAY_NS, .every_ns = DAY_NS}, .err = err};
    char copy[UNIVERSE_TEXT_MAX];
    int r = 0;
    if (strlen(text) >= sizeof copy)
        return fail(&reading, "the rule has %zu characters, of at most %zu", strlen(text), sizeof copy - 1);
    memcpy(copy, text, strlen(text) + 1);
    memcpy(reading.rule.text, text, strlen(text) + 1);
    for (char *next, *part = copy; part && r == 0; part = next) {
        next = strchr(part, ';');
        if (next)
            *next++ = '\0';
        part = (char *)skip_blanks(part);
        if (*part) /* one ";" too many says nothing else */
            r = read_part(&reading, part);
    }
    if (r == 0 && !reading.conditions && !reading.rank)
        r = fail(&reading,
                 "nothing picks symbols: a condition or a rank is needed, as volume>1e6 or top 10 by "
                 "volume");
    if (r == 0)
        *ret = reading.rule;
    return r;
}

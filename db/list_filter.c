#include "db/list_filter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/list_sources.h"
#include "db/list_time.h"
#include "db/reader_query.h"
#include "exchange/fail.h"

struct db_list_filter db_list_filter_parse(const char *text)
{
    bool inverse = text[0] == '!';
    const char *words = text + inverse, *op = words + strcspn(words, "=<>"), *value = op + 1;
    size_t name = (size_t)(op - words);

    if (!*op)
        return (struct db_list_filter){.inverse = inverse, .words = words};
    const bool equal = *op != '=' && *value == '=';
    value += equal;
    value += strspn(value, " ");
    if (*op == '=' && name > 1 && words[name - 1] == '!') { /* "symbol!=BTC" */
        inverse = !inverse;
        name--;
    }
    while (name > 0 && words[name - 1] == ' ')
        name--;
    return (struct db_list_filter){inverse, equal, *op, words, value, name};
}

bool db_list_filter_names(const struct db_list_filter *filter, const char *column)
{
    return filter->value && strlen(column) == filter->name &&
           memcmp(column, filter->words, filter->name) == 0;
}

bool db_list_filter_named(const struct db_list_filter *filter)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ&_ ";

    return filter->name > 0 && strspn(filter->words, letters) >= filter->name;
}

/* A filter's number, and between what a number is equal to it. */
struct number {
    double value, from, to;
};

/* Half of what the last digit of a number counts. */
static double half_digit(const char *text)
{
    const char *point = strchr(text, '.');

    return 0.5 * pow(10, -(point ? (double)strspn(point + 1, "0123456789") : 0));
}

/* The seconds of a unit as cli_format_age() writes it; 0: it is none. */
static double unit_s(char unit)
{
    return unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : unit == 'd' ? 86400 : 0;
}

static void put_equal(const char *text, enum db_list_value value, double unit, struct number *ret)
{
    const double size = fabs(ret->value), shown = size < 10 ? 0.005 : size < 100 ? 0.05 : 0.5;
    double half = 1e-12 * size; /* what a division's rounding may differ by */

    if (value == DB_LIST_CHANGE)
        half = fmin(shown, half_digit(text)) + half;
    if (value == DB_LIST_SPAN && strchr(text, '.'))
        half = half_digit(text) * unit * (1 + 1e-9);
    ret->from = ret->value - half;
    ret->to = ret->value + half;
    if (value == DB_LIST_SPAN && !strchr(text, '.')) { /* shown are whole ones that have passed */
        ret->from = ret->value;
        ret->to = (ret->value + unit) * (1 - 1e-12);
    }
}

/* As SQLite reads it too: no hexadecimal, no "inf" or "nan". False: it is none. */
static bool read_number(const char *text, enum db_list_value value, struct number *ret)
{
    char *end;
    double unit = 1;

    ret->value = strtod(text, &end);
    if (end == text || strspn(text, "0123456789+-.eE") < (size_t)(end - text) || !isfinite(ret->value))
        return false;
    if (value == DB_LIST_SPAN && *end)
        unit = unit_s(*end++);
    if ((value == DB_LIST_PERCENT || value == DB_LIST_CHANGE) && *end == '%')
        end++;
    ret->value *= unit;
    put_equal(text, value, unit, ret);
    return unit > 0 && !*end;
}

const char *db_list_filter_wrong(const struct db_list_filter *filter, enum db_list_value value)
{
    struct db_list_time time;
    struct number number;

    if (!filter->value[0]) /* it is being typed */
        return NULL;
    if (filter->op == '=' && (value == DB_LIST_TEXT || value == DB_LIST_TIME)) /* a part of it */
        return NULL;
    if (value == DB_LIST_TIME)
        return db_list_time_parse(filter->value, false, &time)
                   ? NULL
                   : "is no time: as 2026-11-20, 2026-11-20 09:30 or 09:30";
    if (read_number(filter->value, value, &number))
        return NULL;
    return value == DB_LIST_SPAN ? "is no number of seconds, and not as 94s, 12m, 10h or 3d" : "is no number";
}

bool db_list_filter_compares(const struct db_list_filter *filter, enum db_list_value value, double number)
{
    struct number limit;

    if (!filter->value[0])
        return true;
    if (!read_number(filter->value, value, &limit))
        return false;
    if (filter->op == '=')
        return number >= limit.from && number <= limit.to;
    return (filter->op == '<' ? number < limit.value : number > limit.value) ||
           (filter->equal && number == limit.value);
}

/* The column that a filter names; NULL: none. */
static const struct db_list_column *named_column(const struct db_list_source *source,
                                                 const struct db_list_filter *filter)
{
    for (int i = 0; i < source->n; i++)
        if (db_list_filter_names(filter, source->columns[i].name))
            return &source->columns[i];
    return NULL;
}

/* What a filter of the column is about: words, where these are shown of a number. */
static enum db_list_value value_of(const struct db_list_column *column, const struct db_list_filter *filter)
{
    return column->shown && filter->op == '=' ? DB_LIST_TEXT : column->value;
}

int db_list_filter_check(struct db_reader *reader, enum db_list list, const char *text)
{
    const struct db_list_source *source = &db_list_sources[list];
    const struct db_list_filter filter = db_list_filter_parse(text);
    const struct db_list_column *column = named_column(source, &filter);
    const char *wrong = column ? db_list_filter_wrong(&filter, value_of(column, &filter)) : NULL;
    char names[DB_ERROR_MAX / 2] = "";
    size_t n = 0;

    if (wrong)
        return fail_with(-ERANGE, reader->error, sizeof reader->error, "%s: \"%s\" %s", column->name,
                         filter.value, wrong);
    if (column || !db_list_filter_named(&filter))
        return 0;
    for (int i = 0; i < source->n && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", source->columns[i].name);
    return fail_with(-ERANGE, reader->error, sizeof reader->error, "no column \"%.*s\": one of %s",
                     (int)filter.name, filter.words, names);
}

/* The text as a pattern of LIKE, in which it may be anywhere. */
static void put_pattern(const char *text, char pattern[static DB_LIST_PATTERN_MAX])
{
    size_t n = 0;

    pattern[n++] = '%';
    for (; *text && n < DB_LIST_PATTERN_MAX - 4; text++) {
        if (strchr("%_\\", *text))
            pattern[n++] = '\\';
        pattern[n++] = *text;
    }
    pattern[n++] = '%';
    pattern[n] = '\0';
}

/* Appends SQL that has a pattern, which is parameter `number`. */
static size_t put_word(const char *word, int number, char *sql, size_t size)
{
    const char *place = strstr(word, "%s");

    return (size_t)snprintf(sql, size, "%.*s?%d ESCAPE '\\'%s", (int)(place - word), word, number, place + 2);
}

/* Can word `at` have the text, whose pattern is `bound`? 1, 0 or -errno. */
static int can_have(struct db_reader *reader, const struct db_list_source *source, int at, const char *text,
                    const char *bound)
{
    char sql[DB_LIST_SQL_MAX / 16];
    int64_t any = 0;

    if (source->words[at].can)
        return source->words[at].can(text);
    if (!source->words[at].named)
        return 1;
    size_t n = (size_t)snprintf(sql, sizeof sql, "SELECT EXISTS ");
    put_word(source->words[at].named, 1, sql + n, sizeof sql - n);
    int r = db_query_first(reader, sql, RECORD_PARAMS(bound), RECORD_INTO(&any));
    return r < 0 ? r : any != 0;
}

/* A column of times has the text, as they are shown; where that is a whole time, by a range. */
static size_t put_time(const char *ns, const char *text, bool local, int number, char *sql, size_t size)
{
    struct db_list_time time;

    if (db_list_time_parse(text, local, &time))
        db_list_time_put(&time, '=', false, local, ns, sql, size);
    else
        snprintf(sql, size, "datetime(%s / 1000000000, 'unixepoch'%s) LIKE ?%d ESCAPE '\\'", ns,
                 local ? ", 'localtime'" : "", number);
    return strlen(sql);
}

/* Any of the words, or of the times, has the pattern, which is parameter `number`. 0 or -errno. */
static int put_words(struct db_reader *reader, const struct db_list_query *query, const char *text,
                     const char *bound, int number, char *sql, size_t size)
{
    const struct db_list_source *source = &db_list_sources[query->list];
    size_t n = 0;
    int r = 0;

    sql[n++] = '0'; /* none of them */
    sql[n] = '\0';
    for (int i = 0; r >= 0 && i < DB_LIST_TEXTS_MAX && source->words[i].sql; i++)
        if ((r = can_have(reader, source, i, text, bound)) > 0) {
            n += (size_t)snprintf(sql + n, size - n, " OR ");
            n += put_word(source->words[i].sql, number, sql + n, size - n);
        }
    for (int i = 0; db_list_time_part(text) && i < source->n; i++)
        if (source->columns[i].value == DB_LIST_TIME) {
            n += (size_t)snprintf(sql + n, size - n, " OR ");
            n += put_time(source->columns[i].sql, text, query->local, number, sql + n, size - n);
        }
    return r < 0 ? r : 0;
}

/* The column's number is above, below or equal to the filter's. */
static void put_compared(const char *column, const struct db_list_filter *filter, enum db_list_value value,
                         int number, char *sql, size_t size, char bound[static DB_LIST_PATTERN_MAX])
{
    struct number limit;

    if (!read_number(filter->value, value, &limit)) {
        snprintf(sql, size, "0");
    } else if (filter->op == '=') {
        snprintf(sql, size, "(%s) BETWEEN %.17g AND %.17g", column, limit.from, limit.to);
    } else {
        snprintf(bound, DB_LIST_PATTERN_MAX, "%.15g", limit.value);
        if (strtod(bound, NULL) != limit.value)
            snprintf(bound, DB_LIST_PATTERN_MAX, "%.17g", limit.value);
        snprintf(sql, size, "typeof(%s) <> 'text' AND (%s) %c%s CAST(?%d AS REAL)", column, column,
                 filter->op, filter->equal ? "=" : "", number);
    }
}

/* The column has the value, or is above or below it. */
static void put_column(const struct db_list_query *query, const struct db_list_column *column,
                       const struct db_list_filter *filter, int number, char *sql, size_t size,
                       char bound[static DB_LIST_PATTERN_MAX])
{
    const enum db_list_value value = value_of(column, filter);
    struct db_list_time time;

    put_pattern(filter->value, bound);
    if (!filter->value[0] && filter->op != '=')
        snprintf(sql, size, "1");
    else if (value == DB_LIST_TIME && filter->op == '=')
        put_time(column->sql, filter->value, query->local, number, sql, size);
    else if (value == DB_LIST_TIME && db_list_time_parse(filter->value, query->local, &time))
        db_list_time_put(&time, filter->op, filter->equal, query->local, column->sql, sql, size);
    else if (filter->op == '=' && (value == DB_LIST_TEXT || !filter->value[0]))
        snprintf(sql, size, "CAST(%s AS TEXT) LIKE ?%d ESCAPE '\\'",
                 column->shown ? column->shown : column->sql, number);
    else
        put_compared(column->sql, filter, value, number, sql, size, bound);
}

int db_list_filter_put(struct db_reader *reader, const struct db_list_query *query, const char *text,
                       int number, char *sql, size_t size, char bound[static DB_LIST_PATTERN_MAX])
{
    const struct db_list_source *source = &db_list_sources[query->list];
    const struct db_list_filter filter = db_list_filter_parse(text);
    const struct db_list_column *column = named_column(source, &filter);
    char condition[DB_LIST_SQL_MAX / 4];
    int r = 0;

    snprintf(bound, DB_LIST_PATTERN_MAX, "%s", "");
    if (!filter.words[0]) {
        snprintf(sql, size, "1");
        return 0;
    }
    if (column) {
        put_column(query, column, &filter, number, condition, sizeof condition, bound);
    } else if (filter.words[0] == '#' && filter.words[1]) {
        snprintf(bound, DB_LIST_PATTERN_MAX, "%s", filter.words + 1);
        snprintf(condition, sizeof condition, "%s = CAST(?%d AS INTEGER)",
                 source->number ? source->number : "r.id", number);
    } else {
        put_pattern(filter.words, bound);
        r = put_words(reader, query, filter.words, bound, number, condition, sizeof condition);
    }
    snprintf(sql, size, "(%s) IS %sTRUE", condition, filter.inverse ? "NOT " : "");
    return r;
}

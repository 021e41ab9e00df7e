#include "db/list_filter.h"

#include <errno.h>
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

/* As SQLite reads it too: no hexadecimal, no "inf" or "nan". */
static bool is_number(const char *text)
{
    char *end;

    strtod(text, &end);
    return end > text && !*end && strspn(text, "0123456789+-.eE") == (size_t)(end - text);
}

const char *db_list_filter_wrong(const struct db_list_filter *filter, bool is_time)
{
    struct db_list_time time;

    if (filter->op == '=' || !filter->value[0]) /* it is being typed */
        return NULL;
    if (is_time)
        return db_list_time_parse(filter->value, false, &time)
                   ? NULL
                   : "is no time: as 2026-11-20, 2026-11-20 09:30 or 09:30";
    return is_number(filter->value) ? NULL : "is no number";
}

bool db_list_filter_compares(const struct db_list_filter *filter, double number)
{
    const double limit = strtod(filter->value, NULL);

    return !filter->value[0] || (filter->op == '<' ? number < limit : number > limit) ||
           (filter->equal && number == limit);
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

int db_list_filter_check(struct db_reader *reader, enum db_list list, const char *text)
{
    const struct db_list_source *source = &db_list_sources[list];
    const struct db_list_filter filter = db_list_filter_parse(text);
    const struct db_list_column *column = named_column(source, &filter);
    const char *wrong = column ? db_list_filter_wrong(&filter, column->is_time) : NULL;
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
        if (source->columns[i].is_time) {
            n += (size_t)snprintf(sql + n, size - n, " OR ");
            n += put_time(source->columns[i].sql, text, query->local, number, sql + n, size - n);
        }
    return r < 0 ? r : 0;
}

/* The column has the value, or is above or below it. */
static void put_column(const struct db_list_query *query, const struct db_list_column *column,
                       const struct db_list_filter *filter, int number, char *sql, size_t size,
                       char bound[static DB_LIST_PATTERN_MAX])
{
    struct db_list_time time;

    put_pattern(filter->value, bound);
    if (!filter->value[0] && filter->op != '=')
        snprintf(sql, size, "1");
    else if (column->is_time && filter->op == '=')
        put_time(column->sql, filter->value, query->local, number, sql, size);
    else if (column->is_time && db_list_time_parse(filter->value, query->local, &time))
        db_list_time_put(&time, filter->op, filter->equal, query->local, column->sql, sql, size);
    else if (filter->op == '=')
        snprintf(sql, size, "CAST(%s AS TEXT) LIKE ?%d ESCAPE '\\'",
                 column->shown ? column->shown : column->sql, number);
    else {
        snprintf(bound, DB_LIST_PATTERN_MAX, "%s", filter->value);
        snprintf(sql, size, "typeof(%s) <> 'text' AND %s %c%s CAST(?%d AS REAL)", column->sql, column->sql,
                 filter->op, filter->equal ? "=" : "", number);
    }
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

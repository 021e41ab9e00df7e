#include "db/list_filter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "db/list_sources.h"
#include "db/reader_query.h"
#include "exchange/fail.h"

struct db_list_filter db_list_filter_parse(const char *text)
{
    const bool inverse = text[0] == '!';
    const char *words = text + inverse, *equals = strchr(words, '=');

    return (struct db_list_filter){inverse, words, equals ? equals + 1 : NULL};
}

static size_t name_length(const struct db_list_filter *filter)
{
    return filter->value ? (size_t)(filter->value - 1 - filter->words) : 0;
}

bool db_list_filter_names(const struct db_list_filter *filter, const char *column)
{
    const size_t n = name_length(filter);

    return filter->value && strlen(column) == n && memcmp(column, filter->words, n) == 0;
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
    const size_t len = name_length(&filter);
    char names[DB_ERROR_MAX / 2] = "";
    size_t n = 0;

    if (len == 0 || strspn(filter.words, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ&_ ") != len ||
        named_column(source, &filter))
        return 0;
    for (int i = 0; i < source->n && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", source->columns[i].name);
    return fail_with(-ERANGE, reader->error, sizeof reader->error, "no column \"%.*s\": one of %s", (int)len,
                     filter.words, names);
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

/* Any of the words has the pattern, which is parameter `number`. 0 or -errno. */
static int put_words(struct db_reader *reader, const struct db_list_source *source, const char *text,
                     const char *bound, int number, char *sql, size_t size)
{
    size_t n = 0;
    int r = 0;

    sql[n++] = '0'; /* none of them */
    sql[n] = '\0';
    for (int i = 0; r >= 0 && i < DB_LIST_TEXTS_MAX && source->words[i].sql; i++)
        if ((r = can_have(reader, source, i, text, bound)) > 0) {
            n += (size_t)snprintf(sql + n, size - n, " OR ");
            n += put_word(source->words[i].sql, number, sql + n, size - n);
        }
    return r < 0 ? r : 0;
}

int db_list_filter_put(struct db_reader *reader, enum db_list list, const char *text, int number, char *sql,
                       size_t size, char bound[static DB_LIST_PATTERN_MAX])
{
    const struct db_list_source *source = &db_list_sources[list];
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
        put_pattern(filter.value, bound);
        snprintf(condition, sizeof condition, "CAST(%s AS TEXT) LIKE ?%d ESCAPE '\\'", column->sql, number);
    } else if (filter.words[0] == '#' && filter.words[1]) {
        snprintf(bound, DB_LIST_PATTERN_MAX, "%s", filter.words + 1);
        snprintf(condition, sizeof condition, "%s = CAST(?%d AS INTEGER)",
                 source->number ? source->number : "r.id", number);
    } else {
        put_pattern(filter.words, bound);
        r = put_words(reader, source, filter.words, bound, number, condition, sizeof condition);
    }
    snprintf(sql, size, "(%s) IS %sTRUE", condition, filter.inverse ? "NOT " : "");
    return r;
}

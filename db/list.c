/* Without a filter, the usual order's window is found by counting and an offset from the nearer end. Any
 * other order and any filter needs a look at all rows: one pass counts, finds the place and keeps the
 * numbers around it. */
#include "db/list.h"

#include <errno.h>
#include <stdio.h>

#include "db/list_filter.h"
#include "db/list_sources.h"
#include "db/reader_query.h"
#include "db/report/trips.h"
#include "db/store.h"

static const struct db_list_column *sorted_by(const struct db_list_query *query)
{
    const struct db_list_source *source = &db_list_sources[query->list];

    return &source->columns[query->sort > 0 && query->sort < source->n ? query->sort : 0];
}

/* "ORDER BY …"; `back`: from the last row to the first. */
static void put_order(const struct db_list_query *query, bool back, char *sql, size_t size)
{
    const struct db_list_column *column = sorted_by(query);
    bool down = (column->value != DB_LIST_TEXT) != query->invert, id_down = !query->invert;

    snprintf(sql, size, "ORDER BY %s %s NULLS %s, r.id %s", column->sql, down != back ? "DESC" : "ASC",
             back ? "FIRST" : "LAST", id_down != back ? "DESC" : "ASC");
}

/* What a list is selected from, and all of it counted: of the round trips those of one account, in its
 * name's place, of the bars those of one symbol and interval. */
struct places {
    char from[DB_LIST_SQL_MAX / 2], total[DB_LIST_SQL_MAX / 4 + DB_LIST_SQL_MAX / 8];
};

static int put_bars(struct db_reader *reader, const struct db_list_query *query, struct places *ret)
{
    char own[DB_LIST_BARS_MAX];
    int r = db_list_select_bars(reader, query, own);

    if (r < 0)
        return r;
    snprintf(ret->from, sizeof ret->from, "%s r LEFT JOIN symbols s ON s.id = r.symbol", own);
    snprintf(ret->total, sizeof ret->total, "SELECT count(*) FROM %s", own);
    return 0;
}

/* 0 or -errno. */
static int put_places(struct db_reader *reader, const struct db_list_query *query, struct places *ret)
{
    const struct db_list_source *source = &db_list_sources[query->list];

    if (query->list == DB_LIST_BARS)
        return put_bars(reader, query, ret);
    snprintf(ret->from, sizeof ret->from, "%s", source->from);
    snprintf(ret->total, sizeof ret->total, "%s", source->total);
    if (query->list != DB_LIST_TRIPS || !query->account[0])
        return 0;
    char own[DB_LIST_SQL_MAX / 16];
    sqlite3_snprintf(sizeof own, own,
                     "(SELECT * FROM temp.trips WHERE account = (SELECT id FROM accounts WHERE name = %Q))",
                     query->account);
    snprintf(ret->from, sizeof ret->from, DB_LIST_TRIPS_FROM("%s"), own);
    snprintf(ret->total, sizeof ret->total, "SELECT count(*) FROM %s", own);
    return 0;
}

/* All rows of the list, counted again only where another connection has written since. */
static int count_total(struct db_reader *reader, const struct db_list_query *query, int64_t *ret)
{
    bool keep = query->list != DB_LIST_TRIPS && query->list != DB_LIST_BARS && !reader->as_of_ns;
    struct db_list_total *total = &reader->totals[query->list];
    struct places places;
    int64_t version = 0;

    int r = keep ? db_reader_version(reader, &version) : 0; /* before it counts */
    if (r >= 0 && keep && total->known && total->version == version) {
        *ret = total->count;
        return 0;
    }
    r = r < 0 ? r : put_places(reader, query, &places);
    r = r < 0 ? r : db_query_first(reader, places.total, NULL, RECORD_INTO(ret));
    if (r < 0)
        return r;
    *total = (struct db_list_total){keep, version, *ret};
    return 0;
}

static int count_all(struct db_reader *reader, const struct db_list_query *query, int64_t *ret)
{
    struct places places;
    int64_t left_out = 0;
    char sql[DB_LIST_SQL_MAX];

    int r = count_total(reader, query, ret);
    if (r < 0 || !query->without || (r = put_places(reader, query, &places)) < 0)
        return r;
    snprintf(sql, sizeof sql, "%s WHERE id IN (SELECT value FROM json_each(?1))", places.total);
    r = db_query_first(reader, sql, RECORD_PARAMS(query->without), RECORD_INTO(&left_out));
    *ret -= left_out;
    return r < 0 ? r : 0;
}

#define LEFT_OUT      "r.id NOT IN (SELECT value FROM json_each(ifnull(?2, '[]')))"
#define NONE_LEFT_OUT "?2 IS NULL" /* the same without any: SQLite would look at that before the filter */

/* The place of a row in the order of numbers. 0; -ENOENT: it is not in the list. */
static int place_of(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t *ret)
{
    struct places places;
    char sql[DB_LIST_SQL_MAX];

    int r = put_places(reader, query, &places);
    if (r < 0)
        return r;
    snprintf(sql, sizeof sql,
             "SELECT (%s r WHERE r.id %s ?1 AND " LEFT_OUT ") WHERE (%s r WHERE r.id = ?1 AND " LEFT_OUT ")",
             places.total, query->invert ? "<" : ">", places.total);
    r = db_query_first(reader, sql, RECORD_PARAMS(id, query->without), RECORD_INTO(ret));
    return r < 0 ? r : r == 0 ? -ENOENT : 0;
}

static int64_t window_first(int64_t at, int64_t count)
{
    int64_t first = at - DB_LIST_WINDOW / 2, last = count > DB_LIST_WINDOW ? count - DB_LIST_WINDOW : 0;

    return first < 0 ? 0 : first > last ? last : first;
}

static void swap_ends(int64_t *ids, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int64_t id = ids[i];
        ids[i] = ids[n - 1 - i];
        ids[n - 1 - i] = id;
    }
}

/* The window at place ret->at of all rows, from the nearer end. */
static int read_at(struct db_reader *reader, const struct db_list_query *query, struct db_list_window *ret)
{
    char sql[DB_LIST_SQL_MAX], order[DB_LIST_SQL_MAX / 4];
    struct places places;
    int64_t id;
    sqlite3_stmt *stmt;

    int r = put_places(reader, query, &places);
    if (r < 0)
        return r;
    ret->first = window_first(ret->at, ret->count);
    int64_t n = ret->count - ret->first < DB_LIST_WINDOW ? ret->count - ret->first : DB_LIST_WINDOW;
    int64_t behind = ret->count - ret->first - n;
    bool back = behind < ret->first;
    put_order(query, back, order, sizeof order);
    snprintf(sql, sizeof sql, "SELECT r.id FROM %s WHERE " LEFT_OUT " %s LIMIT ?3 OFFSET ?4", places.from,
             order);
    r = db_query(reader, sql, RECORD_PARAMS("", query->without, n, back ? behind : ret->first), &stmt);
    for (ret->n = 0; r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&id))) > 0;)
        ret->ids[ret->n++] = id;
    if (back)
        swap_ends(ret->ids, ret->n);
    return db_query_end(stmt, r);
}

/* The numbers that were kept round a ring, of which `end` were put, in their order. */
static void unroll(struct db_list_window *ret, const int64_t *ring, int64_t end)
{
    ret->n = (int)(end < DB_LIST_WINDOW ? end : DB_LIST_WINDOW);
    ret->first = end - ret->n;
    for (int i = 0; i < ret->n; i++)
        ret->ids[i] = ring[(ret->first + i) % DB_LIST_WINDOW];
}

/* The rows of a filter come in one part, or in the usual order of the orders in two: those that live first,
 * as they do without a filter. "…" AND the condition of the part. */
static int parts(const struct db_list_query *query)
{
    return query->list == DB_LIST_ORDERS && query->sort == 0 && !query->invert && query->filter[0] ? 2 : 1;
}

static const char *condition(const struct db_list_query *query, int part)
{
    return parts(query) == 1 ? "1"
           : part == 0       ? "r.state IN " DB_LIVE_STATES
                             : "r.state NOT IN " DB_LIVE_STATES;
}

/* What one look at all rows of the filter has kept. */
struct look {
    int64_t ring[DB_LIST_WINDOW], count, end;
    int64_t target; /* the place that was asked for; -1: of a row that has not come yet */
    bool partial;
};

/* Takes the next row. False: no more are wanted. */
static bool take(struct look *look, const struct db_list_query *query, int64_t id, int64_t row)
{
    if (query->first && look->count == DB_LIST_FIRST) {
        look->partial = true;
        return false;
    }
    if (id && row == id)
        look->target = look->count;
    if (look->target < 0 || look->count < look->target + DB_LIST_WINDOW / 2 || look->count < DB_LIST_WINDOW)
        look->ring[look->end++ % DB_LIST_WINDOW] = row;
    look->count++;
    return true;
}

/* 0 or -errno. */
static int look_at(struct db_reader *reader, const struct db_list_query *query, int64_t id, struct look *look)
{
    char sql[2 * DB_LIST_SQL_MAX], filter[DB_LIST_SQL_MAX / 2], order[DB_LIST_SQL_MAX / 4],
        bound[DB_LIST_PATTERN_MAX];
    struct places places;
    sqlite3_stmt *stmt;
    int64_t row;

    int r = put_places(reader, query, &places);
    r = r < 0 ? r : db_list_filter_put(reader, query, query->filter, 1, filter, sizeof filter, bound);
    put_order(query, false, order, sizeof order);
    for (int part = 0; r >= 0 && part < parts(query) && !look->partial; part++) {
        snprintf(sql, sizeof sql, "SELECT r.id FROM %s WHERE %s AND %s AND %s %s", places.from, filter,
                 query->without ? LEFT_OUT : NONE_LEFT_OUT, condition(query, part), order);
        r = db_query(reader, sql, RECORD_PARAMS(bound, query->without), &stmt);
        while (r >= 0 && (r = db_query_next(reader, stmt, RECORD_INTO(&row))) > 0 &&
               take(look, query, id, row))
            ;
        r = db_query_end(stmt, r);
    }
    return r < 0 ? r : 0;
}

/* The window of one look. */
static int pass(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t at,
                struct db_list_window *ret)
{
    struct look look = {.target = id ? -1 : at};
    int r = look_at(reader, query, id, &look);

    if (r < 0)
        return r;
    ret->partial = look.partial;
    ret->count = look.count;
    ret->at = look.target >= 0 ? look.target : at;
    if (ret->at >= look.count)
        ret->at = look.count > 0 ? look.count - 1 : 0;
    unroll(ret, look.ring, look.end);
    if (look.target < 0 && ret->first > 0 && ret->at < ret->first + DB_LIST_WINDOW / 2) /* no such row */
        return pass(reader, query, 0, at, ret);
    return 0;
}

static int read_window(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t at,
                       struct db_list_window *ret)
{
    bool by_number =
        db_list_sources[query->list].by_number && sorted_by(query) == db_list_sources[query->list].columns;
    int r = query->list == DB_LIST_TRIPS ? db_trips_follow(reader) : 0;

    r = r < 0 ? r : count_all(reader, query, &ret->total);
    if (r < 0)
        return r;
    if (query->filter[0] || (id && !by_number))
        return pass(reader, query, id, at, ret);
    r = id ? place_of(reader, query, id, &at) : -ENOENT;
    if (r < 0 && r != -ENOENT)
        return r;
    ret->count = ret->total;
    ret->at = at >= ret->count ? (ret->count > 0 ? ret->count - 1 : 0) : at;
    return read_at(reader, query, ret);
}

int db_list_read(struct db_reader *reader, const struct db_list_query *query, int64_t id, int64_t at,
                 struct db_list_window *ret)
{
    struct db_list_window window = {0};
    int r = db_list_filter_check(reader, query->list, query->filter);

    r = r < 0 ? r : read_window(reader, query, id, at < 0 ? 0 : at, &window);

    if (r < 0)
        return r;
    *ret = window;
    return 0;
}

/* A search: what was found after the row that it starts from, and before that. */
struct search {
    int64_t id, found, wrapped;
    bool past;
};

static int find_in(struct db_reader *reader, const struct db_list_query *query, const char *words, bool back,
                   int part, struct search *search)
{
    char sql[2 * DB_LIST_SQL_MAX], filter[DB_LIST_SQL_MAX / 2], find[DB_LIST_SQL_MAX / 2],
        order[DB_LIST_SQL_MAX / 4];
    char bound[DB_LIST_PATTERN_MAX], sought[DB_LIST_PATTERN_MAX];
    struct places places;
    sqlite3_stmt *stmt;
    bool matches;
    int64_t row;

    int r = put_places(reader, query, &places);
    r = r < 0 ? r : db_list_filter_put(reader, query, query->filter, 1, filter, sizeof filter, bound);
    r = r < 0 ? r : db_list_filter_put(reader, query, words, 2, find, sizeof find, sought);
    if (r < 0)
        return r;
    put_order(query, back, order, sizeof order);
    snprintf(sql, sizeof sql, "SELECT r.id, %s FROM %s WHERE %s AND %s %s", find, places.from, filter,
             condition(query, part), order);
    r = db_query(reader, sql, RECORD_PARAMS(bound, sought), &stmt);
    while (r >= 0 && !search->found && (r = db_query_next(reader, stmt, RECORD_INTO(&row, &matches))) > 0) {
        if (matches && (search->past || !search->id))
            search->found = row;
        if (matches && !search->wrapped)
            search->wrapped = row;
        search->past |= row == search->id;
    }
    return db_query_end(stmt, r);
}

int db_list_find(struct db_reader *reader, const struct db_list_query *query, const char *words, int64_t id,
                 bool back, int64_t *ret)
{
    struct search search = {.id = id};
    const int n = parts(query);
    int r = db_list_filter_check(reader, query->list, query->filter);

    r = r < 0 ? r : db_list_filter_check(reader, query->list, words);
    for (int i = 0; r >= 0 && i < n && !search.found; i++)
        r = find_in(reader, query, words, back, back ? n - 1 - i : i, &search);
    if (r < 0)
        return r;
    *ret = search.found ? search.found : search.wrapped;
    return *ret ? 0 : -ENOENT;
}

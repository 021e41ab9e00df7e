/* Windows of the long lists against a plain SELECT of all rows, sorted and filtered here. */
#include "db/list.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "exchange/clock.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"
#include "tests/random.h"

enum { ORDERS = 900, ALERTS = 700, COMMANDS = 3, FILLS = 2, ENTRIES = 600, TEXT_MAX = 32 };

struct plain {
    int64_t id, time, qty, price;
    char side[TEXT_MAX], symbol[TEXT_MAX], state[TEXT_MAX], tag[TEXT_MAX], reason[TEXT_MAX], kind[TEXT_MAX];
};

static struct plain all[ORDERS];
static int n_all;

static void take(sqlite3_stmt *stmt, int column, char to[static TEXT_MAX])
{
    snprintf(to, TEXT_MAX, "%s", (const char *)sqlite3_column_text(stmt, column));
}

static void load(sqlite3 *db)
{
    sqlite3_stmt *stmt;

    CHECK_INT(
        sqlite3_prepare_v2(db,
                           "SELECT r.id, updated_ns, qty, price, side, s.name, state, tag, reason, type "
                           "FROM orders r JOIN symbols s ON s.id = r.symbol ORDER BY r.id DESC",
                           -1, &stmt, NULL),
        SQLITE_OK);
    for (n_all = 0; sqlite3_step(stmt) == SQLITE_ROW; n_all++) {
        struct plain *p = &all[n_all];
        *p = (struct plain){sqlite3_column_int64(stmt, 0),
                            sqlite3_column_int64(stmt, 1),
                            sqlite3_column_int64(stmt, 2),
                            sqlite3_column_int64(stmt, 3),
                            "",
                            "",
                            "",
                            "",
                            "",
                            ""};
        take(stmt, 4, p->side);
        take(stmt, 5, p->symbol);
        take(stmt, 6, p->state);
        take(stmt, 7, p->tag);
        take(stmt, 8, p->reason);
        take(stmt, 9, p->kind);
    }
    sqlite3_finalize(stmt);
}

/* Numbers drawn from the row's own, so that columns have ties, no value and gaps. */
static void fill_database(const char *path)
{
    static const struct db_writer_config config = {0};
    struct fixture f;
    sqlite3 *db;

    fixture_open(&f, fixture_writer(path, &config));
    struct order order = fixture_order(&f, 0, ORDER_BUY, FIXTURE_UNIT, FIXTURE_UNIT);
    struct order second = fixture_order(&f, 1, ORDER_BUY, FIXTURE_UNIT, FIXTURE_UNIT);
    (void)second;
    for (int i = 0; i < FILLS; i++)
        fixture_fill(&f, &order, FIXTURE_UNIT, FIXTURE_UNIT / FILLS);
    fixture_close(f.writer);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(
        db,
        "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "INSERT INTO orders SELECT i, o.account, o.symbol, iif(i * 7 %% 3, 'BUY', 'SELL'), "
        "CASE i * 11 %% 4 WHEN 0 THEN 'MARKET' WHEN 1 THEN 'STOP' ELSE 'LIMIT' END, tif, "
        "CASE i * 13 %% 5 WHEN 0 THEN 'REJECTED' WHEN 1 THEN 'CANCELED' ELSE iif(i %% 29, 'FILLED', 'HELD') END, "
        "iif(i * 13 %% 5, '', 'LOT_SIZE'), i * 7919 %% 97 + 1, 0, i * 31 %% 50 * 1000000, "
        "0, 0, 0, 0, 0, 0, 0, 0, 0, 0, i, i, i * 104729 %% 9973, 0, i, 0, 0, '', "
        "iif(i %% 6, 'cross ' || (i %% 10), ''), rule, hash, 0, 0, 0 FROM n JOIN orders o ON o.id = 1 + i %% 2",
        ORDERS);
    sql_exec(db, "DELETE FROM orders WHERE id %% 17 = 5");
    sql_exec(db,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
             "INSERT INTO alerts (id, ts_ns, last_ns, count, code, severity, text, acked_ns, hash) "
             "SELECT i, i, i * 31 %% 211, 1, 'feed', 'error', 'stream ' || i, iif(i %% 9, i, NULL), "
             "zeroblob(32) FROM n",
             ALERTS);
    sql_exec(db,
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
             "INSERT INTO commands (id, ts_ns, peer_uid, peer_pid, cmd, args, state, result) "
             "SELECT i, i, 0, 0, 'pause', '{}', 'done', '{}' FROM n",
             COMMANDS);
    load(db);
    sqlite3_close(db);
}

struct wanted {
    int sort;
    bool invert;
    const char *filter;
};

/* Numbers that are not there are last in both directions; 0 where both are equal. */
static int by_number(int64_t a, int64_t b, bool a_none, bool b_none, bool down)
{
    if (a_none || b_none)
        return a_none - b_none;
    return a == b ? 0 : (a < b) != down ? -1 : 1;
}

static const struct wanted *wanted;

static int by_column(const struct plain *a, const struct plain *b)
{
    const char *name = db_list_column(DB_LIST_ORDERS, wanted->sort);
    bool turned = wanted->invert;
    const char *ta = a->reason[0] ? a->reason : a->tag, *tb = b->reason[0] ? b->reason : b->tag;

    if (strcmp(name, "time") == 0)
        return by_number(a->time, b->time, false, false, !turned);
    if (strcmp(name, "qty") == 0)
        return by_number(a->qty, b->qty, false, false, !turned);
    if (strcmp(name, "price") == 0)
        return by_number(a->price, b->price, !a->price, !b->price, !turned);
    if (strcmp(name, "reason") == 0)
        return by_number(strcmp(ta, tb), 0, !ta[0], !tb[0], turned);
    if (strcmp(name, "symbol") == 0)
        return strcmp(a->symbol, b->symbol) * (turned ? -1 : 1);
    if (strcmp(name, "state") == 0)
        return strcmp(a->state, b->state) * (turned ? -1 : 1);
    return 0;
}

static bool lives(const struct plain *p)
{
    return strstr("PENDING HELD OPEN PARTIAL UNKNOWN", p->state) != NULL;
}

static int by_wanted(const void *a, const void *b)
{
    const struct plain *p = a, *q = b;
    int by = by_column(p, q);

    if (wanted->sort == 0 && !wanted->invert && wanted->filter[0] && lives(p) != lives(q))
        return lives(p) ? -1 : 1;

    return by ? by : (p->id > q->id) != wanted->invert ? -1 : 1;
}

/* As the lists show it. */
static void shown_time(int64_t ns, bool local, char text[static TEXT_MAX])
{
    time_t seconds = ns / 1000000000;
    struct tm tm;

    strftime(text, TEXT_MAX, "%Y-%m-%d %H:%M:%S",
             local ? localtime_r(&seconds, &tm) : gmtime_r(&seconds, &tm));
}

static bool is_local;

/* By the texts alone. */
static bool has_time(const struct plain *p, char op, const char *value)
{
    char shown[TEXT_MAX];

    shown_time(p->time, is_local, shown);
    const char *from = value[2] == ':' ? shown + strlen("2026-11-20 ") : shown;
    const int by = strncmp(from, value, strlen(value));
    return op == '=' ? by == 0 : op == '<' ? by < 0 : by > 0;
}

static bool has(const struct plain *p, const char *filter)
{
    const char *words = filter[0] == '!' ? filter + 1 : filter;
    char text[8 * TEXT_MAX];
    bool yes;

    if (words[0] == '#')
        yes = p->id == atoll(words + 1);
    else if (strncmp(words, "time", 4) == 0)
        yes = words[5] == '=' ? has_time(p, '=', words + 6) || has_time(p, words[4], words + 6)
                              : has_time(p, words[4], words + 5);
    else if (strncmp(words, "qty", 3) == 0)
        yes = words[3] == '=' ? p->qty == llround(atof(words + 4) * FIXTURE_UNIT)
                              : (double)p->qty / FIXTURE_UNIT > atof(strchr(words, '>') + 1);
    else if (strncmp(words, "state=", 6) == 0)
        yes = strcasestr(p->state, words + 6);
    else {
        snprintf(text, sizeof text, "%s|%s|GTC|%s|%s|main|%s|%s|", p->side, p->kind, p->state, p->symbol,
                 p->tag, p->reason);
        yes = strcasestr(text, words);
    }
    return !words[0] || yes != (filter[0] == '!');
}

static int expect(const struct wanted *want, int64_t without, struct plain *ret)
{
    int n = 0;

    for (int i = 0; i < n_all; i++)
        if (has(&all[i], want->filter) && all[i].id != without)
            ret[n++] = all[i];
    wanted = want;
    qsort(ret, (size_t)n, sizeof *ret, by_wanted);
    return n;
}

static void check_window(const struct db_list_window *w, const struct plain *rows, int n, int64_t at)
{
    int64_t place = at < n ? at : n > 0 ? n - 1 : 0;

    CHECK_INT(w->count, n);
    CHECK_INT(w->at, place);
    CHECK_INT(w->n, n < DB_LIST_WINDOW ? n : DB_LIST_WINDOW);
    CHECK(n == 0 || (w->first <= place && place < w->first + w->n));
    CHECK(w->first == 0 || place - w->first >= DB_LIST_WINDOW / 2 - 1);
    CHECK(w->first + w->n == n || w->first + w->n - place >= DB_LIST_WINDOW / 2 - 1);
    for (int i = 0; i < w->n && w->first + i < n; i++)
        if (w->ids[i] != rows[w->first + i].id) {
            CHECK_INT(w->ids[i], rows[w->first + i].id);
            return;
        }
}

static void check_windows(struct db_reader *reader)
{
    static const char *const sorts[] = {"newest", "time", "symbol", "state", "qty", "price", "reason"};
    static const char *const filters[] = {"",          "cross 3", "!rejected", "#812",
                                          "state=can", "!#812",   "nothing",   "!"};
    static struct plain rows[ORDERS];
    struct db_list_window w;
    struct random random = random_seeded("db/list", 1);

    for (size_t s = 0; s < sizeof sorts / sizeof sorts[0]; s++)
        for (size_t k = 0; k < 2 * sizeof filters / sizeof filters[0]; k++) {
            struct wanted want = {0, k % 2, filters[k / 2]};
            while (strcmp(db_list_column(DB_LIST_ORDERS, want.sort), sorts[s]) != 0)
                want.sort++;
            for (int left_out = 0; left_out < 2; left_out++) {
                struct db_list_query query = {DB_LIST_ORDERS,           want.sort, want.invert, "", false,
                                              left_out ? "[100]" : NULL};
                strcpy(query.filter, want.filter);
                int n = expect(&want, left_out ? 100 : 0, rows);
                int64_t places[] = {0, n - 1, n / 2, random_between(&random, 0, n + 4), n + 100};
                for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
                    int64_t at = places[i] < 0 ? 0 : places[i];
                    CHECK_INT(db_list_read(reader, &query, 0, at, &w), 0);
                    CHECK_INT(w.total, n_all - left_out);
                    check_window(&w, rows, n, at);
                    if (at >= n)
                        continue;
                    CHECK_INT(db_list_read(reader, &query, rows[at].id, 7, &w), 0);
                    check_window(&w, rows, n, at);
                }
                CHECK_INT(db_list_read(reader, &query, 987654, n / 3, &w), 0); /* it is not there */
                check_window(&w, rows, n, n / 3);
            }
        }
}

static void check_find(struct db_reader *reader)
{
    static struct plain rows[ORDERS];
    struct wanted want = {4, false, "!rejected"};
    struct db_list_query query = {DB_LIST_ORDERS, 0, false, "!rejected", false, NULL};
    int64_t id;

    while (strcmp(db_list_column(DB_LIST_ORDERS, query.sort), "qty") != 0)
        query.sort++;
    want.sort = query.sort;
    int n = expect(&want, 0, rows);
    for (int from = 0; from < n; from += 97)
        for (int back = 0; back < 2; back++) {
            int at = from;
            do
                at = (at + (back ? n - 1 : 1)) % n;
            while (!has(&rows[at], "cross 7"));
            CHECK_INT(db_list_find(reader, &query, "cross 7", rows[from].id, back, &id), 0);
            CHECK_INT(id, rows[at].id);
        }
    CHECK_INT(db_list_find(reader, &query, "nothing", 5, false, &id), -ENOENT);
    struct db_list_window w;
    strcpy(query.filter, "!nosuch=1");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), -ERANGE);
    CHECK(strstr(db_reader_error(reader), "no column \"nosuch\": one of newest, time, "));
}

/* The first rows alone, before all are counted. */
static void check_first(struct db_reader *reader)
{
    static struct plain rows[ORDERS];
    struct wanted want = {0, false, "cross"};
    struct db_list_query query = {.list = DB_LIST_ORDERS, .filter = "cross", .first = true};
    struct db_list_window w;
    int n = expect(&want, 0, rows);

    CHECK(n > DB_LIST_FIRST);
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK(w.partial);
    CHECK_INT(w.count, DB_LIST_FIRST);
    CHECK_INT(w.n, DB_LIST_FIRST);
    for (int i = 0; i < w.n; i++)
        CHECK_INT(w.ids[i], rows[i].id);
    strcpy(query.filter, "#812");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK(!w.partial);
    CHECK_INT(w.count, 1);
}

/* Names of symbols and accounts, and texts that none of them has. */
static void check_names(struct db_reader *reader)
{
    static struct plain rows[ORDERS];
    char symbol[2 * TEXT_MAX], but[2 * TEXT_MAX];
    const char *filters[] = {symbol, but, "main", "!main", "no such name", "!no such name"};
    struct db_list_window w;

    snprintf(symbol, sizeof symbol, "%s", all[0].symbol);
    snprintf(but, sizeof but, "!%s", all[0].symbol);
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        struct wanted want = {0, false, filters[i]};
        struct db_list_query query = {.list = DB_LIST_ORDERS};
        int n = expect(&want, 0, rows);
        strcpy(query.filter, filters[i]);
        CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
        check_window(&w, rows, n, 0);
    }
}

static void check_one(struct db_reader *reader, const char *filter)
{
    static struct plain rows[ORDERS];
    struct db_list_query query = {.list = DB_LIST_ORDERS, .local = is_local};
    const struct wanted want = {0, false, filter};
    struct db_list_window w;
    int n = expect(&want, 0, rows);

    strcpy(query.filter, filter);
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    check_window(&w, rows, n, 0);
}

/* Times as they are shown, of rows over two years, at every place of each text; and what is no time. */
static void check_times(struct db_reader *reader, const char *path)
{
    static const size_t ends[] = {7, 10, 13, 16, 19}; /* of a month, a day, an hour, a minute, a second */
    static const char *const ops[] = {"=", "<", ">", "<=", ">="};
    static const char *const wrong_times[] = {"soon",       "2026-02-29", "2026-11-31",
                                              "2100-02-29", "2262",       "9999-01"};
    static const char *const wrong_numbers[] = {"many", "0x10", "nan", "inf"};
    struct db_list_query query = {.list = DB_LIST_ORDERS};
    char shown[TEXT_MAX], filter[DB_LIST_WORDS_MAX], words[2 * DB_LIST_WORDS_MAX];
    struct db_list_window w;
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "UPDATE orders SET created_ns = 0, updated_ns = (1767222000 + id * 70001) * 1000000000 + %d",
             5);
    load(db);
    sqlite3_close(db);
    for (int zone = 0; zone < 2; zone++)
        for (int i = 0; i < n_all; i += 61) {
            is_local = zone;
            shown_time(all[i].time, is_local, shown);
            for (size_t k = 0; k < 5 * sizeof ends / sizeof ends[0]; k++) {
                snprintf(filter, sizeof filter, "%stime%s%.*s", k % 3 == 1 ? "!" : "", ops[k % 5],
                         (int)ends[k / 5], shown);
                check_one(reader, filter);
                if (ends[k / 5] >= 16) {
                    snprintf(filter, sizeof filter, "time%s%.*s", ops[k % 5], (int)ends[k / 5] - 11,
                             shown + 11);
                    check_one(reader, filter);
                }
            }
            snprintf(query.filter, sizeof query.filter, "%.10s", shown); /* in no column that it names */
            query.local = is_local;
            CHECK_INT(db_list_read(reader, &query, all[i].id, 0, &w), 0);
            CHECK(w.count > 0 && w.ids[w.at - w.first] == all[i].id);
            snprintf(query.filter, sizeof query.filter, "%.6s", shown + 5); /* "11-20 " */
            CHECK_INT(db_list_read(reader, &query, all[i].id, 0, &w), 0);
            CHECK(w.count > 0 && w.ids[w.at - w.first] == all[i].id);
        }
    check_one(reader, "qty>5.05e-7");
    check_one(reader, "!qty > 5.05e-7");
    for (int i = 0; i < n_all; i += 61) /* a number, and none that begins with it */
        for (int k = 0; k < 4; k++) {
            snprintf(filter, sizeof filter, k < 2 ? "%sqty=%.8f" : "%sqty=%.15g", k % 2 ? "!" : "",
                     (double)all[i].qty / FIXTURE_UNIT);
            check_one(reader, filter);
        }
    /* without such a day; later than int64_t's ns; a number that SQLite reads otherwise */
    for (size_t i = 0; i < sizeof wrong_times / sizeof *wrong_times; i++) {
        snprintf(query.filter, sizeof query.filter, "time>%s", wrong_times[i]);
        CHECK_INT(db_list_read(reader, &query, 0, 0, &w), -ERANGE);
        snprintf(words, sizeof words, "time: \"%s\" is no time: as 2026-11-20, ", wrong_times[i]);
        CHECK(strstr(db_reader_error(reader), words));
    }
    for (size_t i = 0; i < sizeof wrong_numbers / sizeof *wrong_numbers; i++) {
        snprintf(query.filter, sizeof query.filter, "qty%c%s", "=<>"[i % 3], wrong_numbers[i]);
        CHECK_INT(db_list_read(reader, &query, 0, 0, &w), -ERANGE);
        snprintf(words, sizeof words, "qty: \"%s\" is no number", wrong_numbers[i]);
        CHECK(strstr(db_reader_error(reader), words));
    }
    strcpy(query.filter, "time<2261");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.count, w.total);
    strcpy(query.filter, "time>2024-02-29");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    strcpy(query.filter, "nosuch>1");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), -ERANGE);
}

/* What the user sees is what a filter compares: words, and percent. */
static void check_shown(struct db_reader *reader, const char *path)
{
    static const struct {
        enum db_list list;
        const char *filter, *table, *where;
    } shown[] = {{DB_LIST_FILLS, "maker=M", "fills", "maker"},
                 {DB_LIST_FILLS, "maker=T", "fills", "NOT maker"},
                 {DB_LIST_FILLS, "maker=maker", "fills", "maker"},
                 {DB_LIST_FILLS, "maker != M", "fills", "NOT maker"},
                 {DB_LIST_FILLS, "rate>0.09", "fills", "fee_e6 > 900"},
                 {DB_LIST_ALERTS, "severity=error", "alerts", "severity = 'error'"},
                 {DB_LIST_ALERTS, "!severity=error", "alerts", "severity <> 'error'"},
                 {DB_LIST_ALERTS, "severity<2", "alerts", "severity <> 'error'"},
                 {DB_LIST_ALERTS, "severity!=warning", "alerts", "severity <> 'warning'"}};
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "UPDATE fills SET maker = id = 2, fee_e6 = id * 500");
    sql_exec(db, "UPDATE alerts SET severity = CASE id %% 3 WHEN 0 THEN 'info' WHEN 1 THEN 'warning' "
                 "ELSE 'error' END");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        struct db_list_query query = {.list = shown[i].list};
        struct db_list_window w;
        const int64_t count =
            sql_query(db, "SELECT count(*) FROM %s WHERE %s", shown[i].table, shown[i].where);
        snprintf(query.filter, sizeof query.filter, "%s", shown[i].filter);
        CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
        CHECK(0 < count && count < w.total);
        CHECK_INT(w.count, count);
    }
    sqlite3_close(db);
}

/* The other lists: their usual order, and what a number of the log stands for. */
static void check_others(struct db_reader *reader)
{
    struct db_list_query query = {.list = DB_LIST_ALERTS};
    struct db_list_window w;
    int64_t id;

    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.total, ALERTS);
    for (int i = 0; i < ALERTS / 9; i++)
        CHECK_INT(w.ids[i], ALERTS / 9 * 9 - 9 * i); /* the open ones first */
    CHECK_INT(w.ids[ALERTS / 9], ALERTS);
    query.list = DB_LIST_LOG;
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.total, ALERTS + n_all + COMMANDS);
    CHECK_INT(db_list_log_kind(w.ids[0], &id), DB_LIST_LOG_ORDER);
    strcpy(query.filter, "stream 699");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.count, 1);
    CHECK_INT(db_list_log_kind(w.ids[0], &id), DB_LIST_LOG_ALERT);
    CHECK_INT(id, 699);
    strcpy(query.filter, "kind=command");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.count, COMMANDS);
    for (int i = 0; i < w.n; i++) {
        CHECK_INT(db_list_log_kind(w.ids[i], &id), DB_LIST_LOG_COMMAND);
        CHECK_INT(id, COMMANDS - i);
    }
    strcpy(query.filter, "#3"); /* of each kind */
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.count, 3);
    for (int i = 0; i < w.n; i++) {
        db_list_log_kind(w.ids[i], &id);
        CHECK_INT(id, 3);
    }
    query.list = DB_LIST_FILLS;
    CHECK_INT(db_list_read(reader, &query, 5, 5, &w), 0);
    CHECK_INT(w.count, 0);
    query.filter[0] = '\0';
    CHECK_INT(db_list_read(reader, &query, 1, 0, &w), 0);
    CHECK_INT(w.count, FILLS);
    CHECK_INT(w.at, FILLS - 1);
    CHECK_INT(w.ids[0], FILLS);
    for (int list = 0; list < DB_LISTS; list++)
        for (int sort = 0; sort < db_list_columns(list); sort++) {
            query = (struct db_list_query){.list = list, .sort = sort};
            CHECK_INT(db_list_read(reader, &query, 3, 1, &w), 0);
            snprintf(query.filter, sizeof query.filter, "%s=1", db_list_column(list, sort));
            CHECK_INT(db_list_read(reader, &query, 0, 1, &w), 0);
        }
}

/* ---- the ledger ---- */

struct entry {
    int64_t id, amount, scale, fill;
    char asset[TEXT_MAX], kind[TEXT_MAX];
};

static struct entry entries[ENTRIES], *sorted[ENTRIES];
static int n_entries;

/* Two assets of other scales, kinds with and without a fill, amounts with ties. */
static void fill_ledger(const char *path)
{
    sqlite3_stmt *stmt;
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "DELETE FROM ledger");
    sql_exec(
        db,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d), "
        "k AS (SELECT i, i * 7 %% 4 AS kind FROM n) INSERT INTO ledger SELECT i, i, 0, "
        "iif(i %% 3, 'USDT', 'BTC'), iif(i %% 3, 2, 8), CASE kind WHEN 0 THEN 'deposit' WHEN 1 THEN 'trade' "
        "WHEN 2 THEN 'fee' ELSE 'interest' END, (i * 31 %% 40 - 20) * iif(i %% 3, 100, 100000000), i, "
        "iif(kind IN (1, 2), 1, NULL), iif(kind IN (1, 2), 1 + i %% 2, NULL), zeroblob(32) FROM k",
        ENTRIES);
    CHECK_INT(sqlite3_prepare_v2(db,
                                 "SELECT id, amount, scale, ifnull(fill_id, 0), asset, kind FROM ledger "
                                 "ORDER BY id DESC",
                                 -1, &stmt, NULL),
              SQLITE_OK);
    for (; n_entries < ENTRIES && sqlite3_step(stmt) == SQLITE_ROW; n_entries++) {
        struct entry *e = &entries[n_entries];
        *e = (struct entry){.id = sqlite3_column_int64(stmt, 0),
                            .amount = sqlite3_column_int64(stmt, 1),
                            .scale = sqlite3_column_int64(stmt, 2),
                            .fill = sqlite3_column_int64(stmt, 3)};
        take(stmt, 4, e->asset);
        take(stmt, 5, e->kind);
        if (strcmp(e->kind, "deposit") == 0 && e->amount < 0)
            strcpy(e->kind, "withdrawal");
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    CHECK_INT(n_entries, ENTRIES);
}

/* In hundredths of a unit, which all amounts are wholes of. */
static int64_t hundredths(const struct entry *e)
{
    return e->scale == 8 ? e->amount / 1000000 : e->amount;
}

static const char *contra_of(const struct entry *e)
{
    const int kind = ledger_kind_parse(strcmp(e->kind, "withdrawal") == 0 ? "deposit" : e->kind);

    return ledger_contra_name((enum ledger_kind)kind);
}

static int by_entry(const void *a, const void *b)
{
    const struct entry *p = *(struct entry *const *)a, *q = *(struct entry *const *)b;
    const char *name = db_list_column(DB_LIST_LEDGER, wanted->sort);
    int by = strcmp(name, "amount") == 0
                 ? by_number(hundredths(p), hundredths(q), false, false, !wanted->invert)
             : strcmp(name, "fill") == 0   ? by_number(p->fill, q->fill, !p->fill, !q->fill, !wanted->invert)
             : strcmp(name, "kind") == 0   ? strcmp(p->kind, q->kind) * (wanted->invert ? -1 : 1)
             : strcmp(name, "contra") == 0 ? strcmp(contra_of(p), contra_of(q)) * (wanted->invert ? -1 : 1)
                                           : 0;

    return by ? by : (p->id > q->id) != wanted->invert ? -1 : 1;
}

static bool entry_has(const struct entry *e, const char *filter)
{
    const char *words = filter[0] == '!' ? filter + 1 : filter;
    bool yes = words[0] == '#'                    ? e->id == atoll(words + 1)
               : strncmp(words, "asset=", 6) == 0 ? strcasestr(e->asset, words + 6) != NULL
               : strncmp(words, "account=", 8) == 0
                   ? strcasestr("main", words + 8) != NULL
                   : strcasestr(e->kind, words) || strcasestr(e->asset, words);

    return !words[0] || yes != (filter[0] == '!');
}

static int expect_entries(const struct wanted *want)
{
    int n = 0;

    for (int i = 0; i < n_entries; i++)
        if (entry_has(&entries[i], want->filter))
            sorted[n++] = &entries[i];
    wanted = want;
    qsort(sorted, (size_t)n, sizeof *sorted, by_entry);
    return n;
}

static void check_ledger(struct db_reader *reader)
{
    static const char *const sorts[] = {"newest", "kind", "amount", "fill", "contra"};
    static const char *const filters[] = {"",         "deposit",   "withdrawal", "!fee", "asset=btc",
                                          "!asset=b", "account=x", "#77",        "usdt", "trade"};
    struct db_list_window w;

    for (size_t s = 0; s < sizeof sorts / sizeof sorts[0]; s++)
        for (size_t k = 0; k < 2 * sizeof filters / sizeof filters[0]; k++) {
            struct wanted want = {0, k % 2, filters[k / 2]};
            while (strcmp(db_list_column(DB_LIST_LEDGER, want.sort), sorts[s]) != 0)
                want.sort++;
            struct db_list_query query = {DB_LIST_LEDGER, want.sort, want.invert, "", false, NULL};
            strcpy(query.filter, want.filter);
            int n = expect_entries(&want);
            const int step = n > 40 ? n / 5 : 1;
            for (int at = 0; at < n; at += step) {
                CHECK_INT(db_list_read(reader, &query, sorted[at]->id, 3, &w), 0);
                CHECK_INT(w.total, ENTRIES);
                CHECK_INT(w.count, n);
                CHECK_INT(w.at, at);
                int wrong = 0;
                for (int i = 0; i < w.n; i++)
                    wrong += w.ids[i] != sorted[w.first + i]->id;
                CHECK_INT(wrong, 0);
            }
            CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
            CHECK_INT(w.count, n);
        }
    struct db_list_query query = {.list = DB_LIST_LEDGER};
    int64_t id;
    CHECK_INT(db_list_find(reader, &query, "interest", ENTRIES, false, &id), 0);
    int at = 1;
    while (strcmp(entries[at].kind, "interest") != 0)
        at++;
    CHECK_INT(id, entries[at].id);
}

enum { INTERRUPTED_MS = 20000 };
static atomic_bool ended;

static void *interrupts(void *ctx)
{
    while (!ended)
        db_reader_interrupt(ctx);
    return NULL;
}

/* A call ends early, leaves what it was given alone, and the next one is whole. */
static void check_interrupt(struct db_reader *reader)
{
    struct db_list_query query = {.list = DB_LIST_LOG, .filter = "cross"};
    struct db_list_window w = {.count = -1};
    pthread_t thread;
    int64_t deadline_ms = clock_now_ms() + INTERRUPTED_MS;
    int r;

    CHECK_INT(pthread_create(&thread, NULL, interrupts, reader), 0);
    do
        r = db_list_read(reader, &query, 0, 0, &w);
    while (r == 0 && clock_now_ms() < deadline_ms);
    ended = true;
    pthread_join(thread, NULL);
    CHECK_INT(r, -EINTR);
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK(w.count > 0);
}

static int passed;

#define ON_ROW(name, type, number) \
    static void name(void *ctx, int at, const type *row) \
    { \
        CHECK_INT(number, ((const int64_t *)ctx)[at]); \
        passed++; \
    }
ON_ROW(on_order, struct db_order_row, row->symbol && row->account ? row->order.id : 0)
ON_ROW(on_fill, struct db_fill_row, row->symbol && row->account ? row->fill.id : 0)
ON_ROW(on_alert, struct db_alert, row->id)
ON_ROW(on_command, struct db_command, row->id)
ON_ROW(on_ledger, struct db_ledger_row, row->account ? row->row.id : 0)

/* Each row that is there is passed once, with its place among the numbers. */
static void check_rows(struct db_reader *reader, const char *path)
{
    int64_t ids[] = {2, 987654, 1, 3};
    sqlite3 *db;

    CHECK_INT(db_list_orders(reader, ids, 4, on_order, ids), 0);
    CHECK_INT(passed, 3);
    CHECK_INT(db_list_fills(reader, ids, 4, on_fill, ids), 0);
    CHECK_INT(passed, 3 + FILLS);
    CHECK_INT(db_list_alerts(reader, ids, 4, on_alert, ids), 0);
    CHECK_INT(passed, 6 + FILLS);
    CHECK_INT(db_list_commands(reader, ids, 4, on_command, ids), 0);
    CHECK_INT(passed, 6 + FILLS + COMMANDS);
    CHECK_INT(db_list_ledger(reader, ids, 4, on_ledger, ids), 0);
    CHECK_INT(passed, 9 + FILLS + COMMANDS);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "UPDATE fills SET account = 99 WHERE id = 1");
    sqlite3_close(db);
    CHECK_INT(db_list_fills(reader, ids, 4, on_fill, ids), -EBADMSG); /* of no account */
    CHECK_INT(passed, 9 + FILLS + COMMANDS + 1);
}

int main(void)
{
    char path[SCRATCH_PATH_MAX];
    const struct db_list_query orders = {.list = DB_LIST_ORDERS};
    struct db_list_window w;
    int64_t before, after;
    sqlite3 *db;

    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    snprintf(path, sizeof path, "%s/list.db", scratch_root());
    fill_database(path);
    fill_ledger(path);
    struct db_reader *reader = fixture_reader(path);
    check_windows(reader);
    check_find(reader);
    check_first(reader);
    check_names(reader);
    check_others(reader);
    check_ledger(reader);
    check_interrupt(reader);
    check_rows(reader, path);
    check_shown(reader, path);
    check_times(reader, path);
    CHECK_INT(db_reader_version(reader, &before), 0);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sql_exec(db, "DELETE FROM orders WHERE id = 9");
    sqlite3_close(db);
    CHECK_INT(db_reader_version(reader, &after), 0);
    CHECK(after != before);
    CHECK_INT(db_list_read(reader, &orders, 0, 0, &w), 0);
    CHECK_INT(w.total, n_all - 1); /* counted again */
    CHECK_INT(w.count, n_all - 1);
    db_reader_close(reader);
    return check_done("db/list");
}

/* Windows of a series' bars against a plain SELECT of all of them, sorted and filtered here; of a timeframe
 * that only the chart keeps; of a past moment. */
#include "db/as_of.h"
#include "db/list.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

enum { BARS = 700, KEPT = 300 };
#define MINUTE_NS 60000000000LL
#define FIRST_NS  1700000000000000000LL /* 2023-11-14 22:13:20 */

struct plain {
    int64_t open_ns, open, high, low, close, volume, quote, trades;
    char session[16], time[32];
};
static struct plain plain[BARS];
static const struct plain *sorted[BARS];
static int n_plain;

/* Bars of two symbols, intervals and sources that differ in all; prices with ties. */
static void fill(const char *path)
{
    static const struct db_writer_config config = {0};
    struct fixture f;
    sqlite3 *db;

    fixture_open(&f, fixture_writer(path, &config));
    fixture_close(f.writer);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    for (int series = 0; series < 4; series++)
        sql_exec(
            db,
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO bars "
            "(symbol, interval_ns, source, open_ns, open, high, low, close, volume, quote_volume, trades, "
            "first_trade_id, last_trade_id, session) SELECT (SELECT id FROM symbols ORDER BY id LIMIT 1 OFFSET "
            "%d), %lld, '%s', %lld + i * %lld, 500 + i * 7919 %% 40, 600 + i * 31 %% 50, 400 - i * 17 %% 60, "
            "500 + i * 104729 %% 23, i * 13 %% 97, i * 12345678901 %% 1000003, i * 11 %% 19, -1, -1, "
            "CASE i %% 5 WHEN 0 THEN NULL WHEN 1 THEN 'none' WHEN 2 THEN 'pre' ELSE 'regular' END "
            "FROM n WHERE i * 5 %% 31 <> 3 AND i %% 4 <> %d",
            series == 0 ? BARS - 1 : 200, series == 1, (series == 2 ? 5 : 1) * MINUTE_NS,
            series == 3 ? "trades" : "venue", FIRST_NS, MINUTE_NS, series == 0 ? 9 : series);
    sql_exec(
        db,
        "INSERT INTO chart_bars SELECT symbol, iif(source = 'venue', interval_ns, 3 * %lld), open_ns, open, "
        "high, low, close, volume, zeroblob(8) FROM bars WHERE open_ns < %lld + %d * %lld AND interval_ns = "
        "%lld AND symbol = (SELECT min(id) FROM symbols)",
        MINUTE_NS, FIRST_NS, KEPT, MINUTE_NS, MINUTE_NS);
    sqlite3_close(db);
}

static void load(const char *path, const char *sql)
{
    sqlite3_stmt *stmt;
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    for (n_plain = 0; n_plain < BARS && sqlite3_step(stmt) == SQLITE_ROW; n_plain++) {
        struct plain *p = &plain[n_plain];
        time_t s = (time_t)(sqlite3_column_int64(stmt, 0) / 1000000000);
        struct tm tm;
        int64_t *to[] = {&p->open_ns, &p->open,   &p->high,  &p->low,
                         &p->close,   &p->volume, &p->quote, &p->trades};
        for (int i = 0; i < 8; i++)
            *to[i] = sqlite3_column_int64(stmt, i);
        const char *session = (const char *)sqlite3_column_text(stmt, 8);
        snprintf(p->session, sizeof p->session, "%s", session ? session : "");
        strftime(p->time, sizeof p->time, "%Y-%m-%d %H:%M:%S", gmtime_r(&s, &tm));
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static const char *wanted_column;
static bool wanted_invert;

/* By what a column stands for, without a division where there is one: the change is compared crosswise. */
static int compare(const struct plain *a, const struct plain *b)
{
    const char *c = wanted_column;
    int64_t left = strcmp(c, "open") == 0     ? a->open
                   : strcmp(c, "high") == 0   ? a->high
                   : strcmp(c, "low") == 0    ? a->low
                   : strcmp(c, "close") == 0  ? a->close
                   : strcmp(c, "change") == 0 ? (a->close - a->open) * b->open
                   : strcmp(c, "range") == 0  ? a->high - a->low
                   : strcmp(c, "volume") == 0 ? a->volume
                   : strcmp(c, "value") == 0  ? a->quote
                   : strcmp(c, "trades") == 0 ? a->trades
                                              : 0;
    int64_t right = strcmp(c, "open") == 0     ? b->open
                    : strcmp(c, "high") == 0   ? b->high
                    : strcmp(c, "low") == 0    ? b->low
                    : strcmp(c, "close") == 0  ? b->close
                    : strcmp(c, "change") == 0 ? (b->close - b->open) * a->open
                    : strcmp(c, "range") == 0  ? b->high - b->low
                    : strcmp(c, "volume") == 0 ? b->volume
                    : strcmp(c, "value") == 0  ? b->quote
                    : strcmp(c, "trades") == 0 ? b->trades
                                               : 0;
    if (strcmp(c, "session") == 0) {
        bool a_none = !a->session[0] || strcmp(a->session, "none") == 0;
        bool b_none = !b->session[0] || strcmp(b->session, "none") == 0;
        if (a_none || b_none)
            return (int)a_none - (int)b_none;
        return wanted_invert ? strcmp(b->session, a->session) : strcmp(a->session, b->session);
    }
    return left == right ? 0 : (left < right) != wanted_invert ? 1 : -1;
}

static int by_column(const void *p, const void *q)
{
    const struct plain *a = *(const struct plain *const *)p, *b = *(const struct plain *const *)q;
    int by = compare(a, b);

    return by ? by : (a->open_ns > b->open_ns) != wanted_invert ? -1 : 1;
}

/* As the list shows it, in percent. */
static bool has_change(const struct plain *p, const char *op)
{
    const double percent = 100 * (double)(p->close - p->open) / (double)p->open;
    char text[64];

    snprintf(text, sizeof text, "=%+.2f%%", percent);
    return *op == '=' ? strcmp(text, op) == 0 : *op == '<' ? percent < atof(op + 1) : percent > atof(op + 1);
}

static bool has(const struct plain *p, const char *filter)
{
    const char *words = filter + (filter[0] == '!');
    bool yes = words[0] == '#' ? p->open_ns == atoll(words + 1)
               : strncmp(words, "session=", 8) == 0
                   ? p->session[0] && strcmp(p->session, "none") != 0 && strcasestr(p->session, words + 8)
               : strncmp(words, "trades=", 7) == 0 ? p->trades == atoll(words + 7)
               : strncmp(words, "change", 6) == 0  ? has_change(p, words + 6)
               : strncmp(words, "time=", 5) == 0
                   ? strstr(p->time, words + 5) != NULL
                   : strstr(p->time, words) || (p->session[0] && strcasestr(p->session, words));

    return !words[0] || yes != (filter[0] == '!');
}

static void check_windows(struct db_reader *reader, struct db_list_query query)
{
    static const char *const filters[] = {"",
                                          "2023-11-15",
                                          "23:1",
                                          "!regular",
                                          "session=PRE",
                                          "!session=r",
                                          "trades=18",
                                          "time=-14 ",
                                          "none",
                                          "#1700000060000000000",
                                          "change<-0.5%",
                                          "!change>0.25",
                                          "change=+0.20%",
                                          "!change=+0.20%"};

    CHECK_INT(query.sort, 0);
    for (; db_list_column(DB_LIST_BARS, query.sort); query.sort++)
        for (size_t k = 0; k < 2 * sizeof filters / sizeof filters[0]; k++) {
            struct db_list_window w;
            int n = 0, wrong = 0;
            query.invert = k % 2;
            snprintf(query.filter, sizeof query.filter, "%s", filters[k / 2]);
            wanted_column = db_list_column(DB_LIST_BARS, query.sort);
            wanted_invert = query.invert;
            if (strcmp(filters[k / 2], "trades=18") == 0 && plain[0].trades < 0)
                continue;
            for (int i = 0; i < n_plain; i++)
                if (has(&plain[i], query.filter))
                    sorted[n++] = &plain[i];
            qsort(sorted, (size_t)n, sizeof sorted[0], by_column);
            for (int at = 0; at<n; at += n> 20 ? n / 3 : 1) {
                CHECK_INT(db_list_read(reader, &query, at % 2 ? sorted[at]->open_ns : 0, at, &w), 0);
                CHECK(w.total == n_plain && w.count == n && w.at == at && w.first <= at &&
                      at < w.first + w.n);
                for (int i = 0; i < w.n; i++)
                    wrong += w.ids[i] != sorted[w.first + i]->open_ns;
            }
            if (wrong)
                fprintf(stderr, "by %s%s, /%s\n", wanted_column, wanted_invert ? " inverted" : "",
                        query.filter);
            CHECK_INT(wrong, 0);
            CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
            CHECK_INT(w.count, n);
        }
}

/* A filter compares the change in percent, as it is shown. */
static void check_percent(struct db_reader *reader, struct db_list_query query)
{
    static const double above[] = {-0.1, 0, 0.1};
    struct db_list_window w;

    for (size_t k = 0; k < sizeof above / sizeof *above; k++) {
        int n = 0;
        for (int i = 0; i < n_plain; i++)
            n += 100.0 * (double)(plain[i].close - plain[i].open) / (double)plain[i].open > above[k];
        snprintf(query.filter, sizeof query.filter, "change>%g", above[k]);
        CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
        CHECK(0 < n && n < n_plain);
        CHECK_INT(w.count, n);
    }
}

static int passed;

static void on_bar(void *ctx, int at, const struct bar *row, const struct db_symbol_row *symbol)
{
    const struct plain *p = ((const struct plain *const *)ctx)[at];

    CHECK(row->open_ns == p->open_ns && row->open == p->open && row->high == p->high && row->low == p->low &&
          row->close == p->close && row->volume == p->volume && row->quote_volume == p->quote &&
          row->trades == p->trades && symbol);
    passed++;
}

static void check_rows(struct db_reader *reader, const struct db_list_query *query)
{
    const struct plain *some[] = {&plain[5], &plain[0], &plain[n_plain - 1], &plain[17]};
    int64_t ids[4];

    for (int i = 0; i < 4; i++)
        ids[i] = some[i]->open_ns;
    passed = 0;
    CHECK_INT(db_list_bars(reader, query, ids, 4, on_bar, (void *)some), 0);
    CHECK_INT(passed, 4);
    ids[1] = 7; /* no bar opens then */
    CHECK_INT(db_list_bars(reader, query, ids, 4, on_bar, (void *)some), 0);
    CHECK_INT(passed, 7);
}

#define ORDERED " AND symbol = (SELECT min(id) FROM symbols) ORDER BY open_ns"

int main(void)
{
    static const char stored[] =
        "SELECT open_ns, open, high, low, close, volume, quote_volume, trades, session FROM "
        "bars WHERE source = 'venue' AND interval_ns = 60000000000" ORDERED;
    static const char kept[] =
        "SELECT open_ns, open, high, low, close, volume, 0, -1, NULL FROM chart_bars WHERE "
        "interval_ns = 180000000000" ORDERED;
    char path[SCRATCH_PATH_MAX];
    struct db_list_window w;

    snprintf(path, sizeof path, "%s/bars.db", scratch_root());
    fill(path);
    struct db_reader *reader = fixture_reader(path);
    struct db_list_query query = {.list = DB_LIST_BARS, .symbol = "BTCUSDT", .interval_ns = MINUTE_NS};
    load(path, stored);
    CHECK(n_plain > 600); /* the chart has some of them, too: each is there once */
    check_windows(reader, query);
    check_rows(reader, &query);
    check_percent(reader, query);
    int64_t id;
    CHECK_INT(db_list_find(reader, &query, "pre", plain[40].open_ns, true, &id), 0);
    int next = 41;
    while (strcmp(plain[next].session, "pre") != 0)
        next++;
    CHECK_INT(id, plain[next].open_ns);

    load(path, kept); /* of a timeframe of which no bar of the venue is stored */
    CHECK(n_plain > 0);
    query.interval_ns = 3 * MINUTE_NS;
    check_windows(reader, query);
    check_rows(reader, &query);

    query.interval_ns = 7 * MINUTE_NS;
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK(w.count == 0 && w.total == 0);
    strcpy(query.symbol, "O'BTC");
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.count, 0);
    CHECK_INT(db_list_bars(reader, &query, &id, 1, on_bar, NULL), 0);
    db_reader_close(reader);

    reader = fixture_reader(path); /* of then: what had closed */
    load(path, stored);
    CHECK_INT(db_reader_as_of(reader, plain[100].open_ns + MINUTE_NS), 0);
    query = (struct db_list_query){.list = DB_LIST_BARS, .symbol = "BTCUSDT", .interval_ns = MINUTE_NS};
    CHECK_INT(db_list_read(reader, &query, 0, 0, &w), 0);
    CHECK_INT(w.count, 101);
    CHECK_INT(w.ids[0], plain[100].open_ns);
    db_reader_close(reader);
    return check_done("db/list_bars");
}

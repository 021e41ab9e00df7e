/* A market with a calendar: rows of the sessions that are wanted, each with its session, from files and from
 * the cache; what identifies it; and what is refused. */
#include <errno.h>

#include "engine/market/market.h"
#include "exchange/calendar_file.h"
#include "exchange/clock.h"
#include "tests/engine/market_same.h"
#include "tests/engine/market_stocks.h"
#include "tests/exchange/moment.h"

enum { FILES = 2 };

static const int64_t minute = 60000000000;
static char err[MARKET_ERROR_MAX];
static struct calendar_file *nyse;
static struct made_file files[FILES];
static const char *paths[FILES];
static int64_t later_ns; /* than any file's time by so much that its hash is kept */

static struct market *load(const struct market_options *options, struct market_load *ret_load)
{
    struct market *m = NULL;
    CHECK_INT(market_store_load_files(paths, FILES, options, &m, ret_load, err), 0);
    if (!m)
        fprintf(stderr, "%s\n", err);
    return m;
}

/* Each row against the file and the calendar. */
static void check_rows(const struct market *m, int i, enum session_choice choice)
{
    const struct market_series *s = &m->series[i];
    const struct made_file *f = &files[i];
    size_t k = 0, bad = 0, taken = 0, left_out = 0, last = 0;
    for (size_t row = 0; row < m->rows; row++) {
        int64_t ns = market_open_ns(m, row);
        for (; k < f->n && f->open_ns[k] < ns; k++)
            left_out++; /* before the first row */
        enum bar_session session = trading_session_of(calendar_file_view(nyse), ns, ns + m->interval_ns);
        bool is = k < f->n && f->open_ns[k] == ns, there = is && session_takes(choice, session);
        bad += market_present(s, row) != there;
        bad += market_session(s, row) != (there ? session : BAR_SESSION_NONE);
        bad += s->volume[row] != (there ? decimal_to_double(f->volume[k], f->volume_digits) : 0);
        bad += there && s->close[row] != decimal_to_double(f->price[3][k], f->digits);
        bad += !there && taken > 0 && (s->open[row] != s->close[last] || s->close[row] != s->close[last]);
        left_out += is && !there;
        last = there ? row : last;
        taken += there;
        k += is;
    }
    CHECK_INT(bad, 0);
    CHECK(taken > 0);
    CHECK_INT(s->last, last);
    CHECK_INT(s->missing, s->last - s->first + 1 - taken);
    CHECK_INT(s->left_out, left_out + (f->n - k));
}

/* Every choice, from files and from the cache; no two have one identity. */
static void test_choices(void)
{
    char folder[SCRATCH_MAX];
    struct market *of[SESSION_CHOICES + 1] = {NULL};
    scratch_make(folder);
    for (int choice = 0; choice <= SESSION_CHOICES; choice++) {
        bool without = choice == SESSION_CHOICES; /* a calendar */
        struct market_options options = {.cache = folder,
                                         .now_ns = later_ns,
                                         .calendar = without ? NULL : calendar_file_view(nyse),
                                         .session = without ? SESSION_ALL : (enum session_choice)choice};
        struct market_load first, again;
        of[choice] = load(&options, &first);
        struct market *cached = load(&options, &again);
        CHECK(!first.cached && again.cached);
        CHECK(market_same(of[choice], cached));
        CHECK_INT(of[choice]->choice, options.session);
        for (int i = 0; i < FILES && !without; i++)
            check_rows(of[choice], i, options.session);
        market_store_close(cached);
    }
    for (int a = 0; a <= SESSION_CHOICES; a++)
        for (int b = 0; b < a; b++)
            CHECK(memcmp(of[a]->content, of[b]->content, MARKET_HASH_SIZE) != 0);
    CHECK(!of[SESSION_CHOICES]->series[0].session);
    for (int choice = 0; choice <= SESSION_CHOICES; choice++)
        market_store_close(of[choice]);
}

/* A market that trades at all times is what it was without a calendar, to the bit. */
static void test_always(void)
{
    struct calendar_file *always;
    CHECK_INT(calendar_file_open("24x7", &always, err), 0);
    const struct market_options plain = {.no_cache = true},
                                options = {.no_cache = true, .calendar = calendar_file_view(always)};
    struct market *a = load(&plain, NULL), *b = load(&options, NULL);
    CHECK(market_same(a, b));
    market_store_close(a);
    market_store_close(b);
    calendar_file_close(always);
}

/* Files of one symbol that follow each other, the second of which alone has a column of sessions. */
static void test_joined(void)
{
    struct market *m = NULL;
    const struct market_options options = {.no_cache = true};
    const char *const parts[] = {
        scratch_write(
            "SPY-1m-2025-11.csv",
            "time,open,high,low,close,volume\n2025-12-01 14:30,1,1,1,1,1\n2025-12-01 14:31,1,1,1,1,1\n"),
        scratch_write("SPY-1m-2025-12.csv",
                      "time,open,high,low,close,volume,session\n2025-12-01 14:32,1,1,1,1,1,regular\n"
                      "2025-12-01 14:33,1,1,1,1,1,none\n")};
    CHECK_INT(market_store_load_files(parts, 2, &options, &m, NULL, err), 0);
    CHECK_INT(m->rows, 4);
    for (size_t row = 0; row < 4; row++)
        CHECK_INT(market_session(&m->series[0], row), row == 2 ? BAR_SESSION_REGULAR : BAR_SESSION_NONE);
    market_store_close(m);
}

/* What is asked of the files is part of the cache's key: none of these takes another's. */
static void test_key(void)
{
    char folder[SCRATCH_MAX];
    const char *const path =
        scratch_write("SPY_1h.csv", "time,open,high,low,close,volume\n2025-12-01 14:00,1,2,1,2,5\n"
                                    "2025-12-01 15:00,2,3,2,3,6\n2025-12-01 16:00,2,3,2,3,6\n");
    scratch_make(folder);
    const struct trading_calendar *calendar = calendar_file_view(nyse);
    struct trading_calendar shorter = *calendar;
    shorter.n--;
    const struct market_options asked[] = {
        {.zone = NULL},
        {.zone = "Europe/Berlin"},
        {.calendar = calendar},
        {.calendar = calendar, .session = SESSION_EXTENDED},
        {.calendar = calendar, .session = SESSION_REGULAR, .keep_straddling = true},
        {.calendar = &shorter},
    };
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            struct market_load done;
            struct market *m = NULL;
            struct market_options options = asked[i];
            options.cache = folder;
            options.now_ns = later_ns;
            CHECK_INT(market_store_load_files(&path, 1, &options, &m, &done, err), 0);
            CHECK_INT(done.cached, round == 1);
            CHECK_INT(m->start_ns, at(i == 1 ? "2025-12-01 13:00" : "2025-12-01 14:00"));
            CHECK_INT(market_session(&m->series[0], 0), i < 2    ? BAR_SESSION_NONE
                                                        : i == 4 ? BAR_SESSION_REGULAR
                                                                 : BAR_SESSION_MIXED);
            market_store_close(m);
        }
    /* One that is refused without the cache is refused with it. */
    struct market *m = NULL;
    const struct market_options refused = {
        .cache = folder, .now_ns = later_ns, .calendar = calendar, .session = SESSION_REGULAR};
    for (int round = 0; round < 2; round++) {
        CHECK_INT(market_store_load_files(&path, 1, &refused, &m, NULL, err), -EINVAL);
        CHECK(strstr(err, "bar straddles sessions: ") && strstr(err, "SPY_1h.csv:2: "));
    }
}

static void test_nothing(void)
{
    struct market *m = NULL;
    const struct market_options options = {
        .no_cache = true, .calendar = calendar_file_view(nyse), .session = SESSION_REGULAR};
    const char *const path =
        scratch_write("SPY_1m.csv", "time,open,high,low,close,volume\n2025-12-01 10:00,1,1,1,1,1\n"
                                    "2025-12-01 10:01,1,1,1,1,1\n");
    CHECK_INT(market_store_load_files(&path, 1, &options, &m, NULL, err), -EINVAL);
    CHECK(strstr(err, "no bars: ") && strstr(err, "bars of the session regular"));
}

/* Of a file whose times fit another zone the load says so, from the cache too. */
static void test_note(struct random *random)
{
    static struct made_file shifted;
    char folder[SCRATCH_MAX];
    const struct trading_calendar *calendar = calendar_file_view(nyse);
    scratch_make(folder);
    made_stocks(random, &shifted, calendar, at("2025-11-10"), at("2025-11-22"), 5 * minute, 0);
    for (size_t i = 0; i < shifted.n; i++) {
        int64_t ns = shifted.open_ns[i];
        bool regular = trading_session_of(calendar, ns, ns + 1) == BAR_SESSION_REGULAR;
        bool opens = trading_session_of(calendar, ns - 1, ns) == BAR_SESSION_PRE;
        shifted.volume[i] = !regular ? 10 : opens ? 900 : 100;
        shifted.open_ns[i] = ns + 60 * minute;
    }
    made_write(random, &shifted, "LATE");
    const struct market_options options = {.cache = folder, .now_ns = later_ns, .calendar = calendar};
    for (int round = 0; round < 2; round++) {
        struct market *m = NULL;
        struct market_load done;
        const char *path = shifted.path;
        CHECK_INT(market_store_load_files(&path, 1, &options, &m, &done, err), 0);
        CHECK_INT(done.cached, round == 1);
        CHECK_STR(m->series[0].fits, "times 1 h earlier");
        CHECK(strstr(done.zone_note, "LATE: ") == done.zone_note &&
              strstr(done.zone_note, "times 1 h earlier would fit"));
        market_store_close(m);
    }
}

int main(void)
{
    struct random random = random_seeded("market_sessions", 20261125);
    scratch_in_memory();
    later_ns = clock_wall_ns() + 60 * minute;
    CHECK_INT(calendar_file_open("nyse", &nyse, err), 0);
    const struct trading_calendar *calendar = calendar_file_view(nyse);
    made_stocks(&random, &files[0], calendar, at("2025-11-20"), at("2025-12-05"), 5 * minute, 10);
    made_stocks(&random, &files[1], calendar, at("2025-11-26"), at("2025-12-10"), 5 * minute, 30);
    for (int i = 0; i < FILES; i++) {
        made_write(&random, &files[i], i ? "QQQ" : "SPY");
        paths[i] = files[i].path;
    }
    test_choices();
    test_always();
    test_joined();
    test_key();
    test_nothing();
    test_note(&random);
    calendar_file_close(nyse);
    return check_done("market_sessions");
}

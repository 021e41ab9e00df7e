/* A series' file against a plain array: random answers that overlap, differ, lack bars that were there;
 * opened again, cut off at any byte, with any byte changed, on a full disk. */
#include "exchange/history/known.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "exchange/whole_file.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { SLOTS = 400, ROUNDS = 300, STEP = 60, ERROR_MAX = 512 };

#define LATER INT64_MAX /* when all is settled */

static const struct history_series series = {"binance", "BTC/USD", "", "", "raw", 60000000000, 8, 8};

/* What the newest answer says of each minute: 0: not asked; -1: no bar. */
static int64_t model[SLOTS];

static struct bar bar_at(int64_t slot, int64_t price)
{
    return (struct bar){.open_ns = slot * STEP,
                        .open = price,
                        .high = price + 2,
                        .low = price - 1,
                        .close = price + 1,
                        .volume = ((int128_t)price << 64) + slot,
                        .quote_volume = -(int128_t)price,
                        .trades = 7};
}

static struct history_store *opened(void)
{
    char err[ERROR_MAX] = "";
    struct history_store *store = NULL;
    int r = history_store_open(scratch_root(), &series, &store, err, sizeof err);
    CHECK_INT(r, 0);
    if (r < 0)
        printf("%s\n", err);
    return store;
}

struct expecting {
    int64_t slot, to;
    size_t n;
};

static int expect(void *ctx, const struct bar *bar)
{
    struct expecting *e = ctx;
    while (e->slot <= e->to && model[e->slot] <= 0)
        e->slot++;
    CHECK(e->slot <= e->to);
    if (e->slot > e->to)
        return -ERANGE;
    const struct bar want = bar_at(e->slot, model[e->slot]);
    CHECK(bar->open_ns == want.open_ns && bar->open == want.open && bar->high == want.high &&
          bar->low == want.low && bar->close == want.close && bar->volume == want.volume &&
          bar->quote_volume == want.quote_volume && bar->trades == want.trades);
    e->slot++;
    e->n++;
    return 0;
}

static void check_range(const struct history_store *store, int64_t from, int64_t to)
{
    struct expecting e = {from, to, 0};
    size_t n = 0;
    for (int64_t i = from; i <= to; i++)
        n += model[i] > 0;
    CHECK_INT(history_store_each(store, from * STEP, (to + 1) * STEP, expect, &e), 0);
    CHECK_INT(e.n, n);
    int64_t lacks_from, lacks_to, first = from;
    while (first <= to && model[first] != 0)
        first++;
    bool lacks = history_store_lacks(store, from * STEP, (to + 1) * STEP, &lacks_from, &lacks_to);
    CHECK(lacks == (first <= to));
    if (!lacks || first > to)
        return;
    int64_t end = first;
    while (end <= to && model[end] == 0)
        end++;
    CHECK_INT(lacks_from, first * STEP);
    CHECK_INT(lacks_to, end * STEP);
}

static void add(struct history_store *store, struct random *random)
{
    int64_t from = random_between(random, 0, SLOTS - 1), to = from + random_between(random, 0, 59);
    struct bar bars[SLOTS];
    size_t n = 0, changed = 0, want = 0, more = 0;
    bool all_new = random_chance(random, 33);
    to = to < SLOTS ? to : SLOTS - 1;
    for (int64_t i = from; i <= to; i++) {
        int64_t before = model[i];
        if (before == 0 || all_new)
            model[i] = random_chance(random, 20) ? -1 : 100 + random_between(random, 0, 1);
        want += before > 0 && model[i] != before;
        more += before == -1 && model[i] > 0;
        if (model[i] > 0)
            bars[n++] = bar_at(i, model[i]);
    }
    CHECK_INT(history_store_add(store, LATER, from * STEP, (to + 1) * STEP, bars, n, &changed), 0);
    CHECK(changed >= want && changed <= want + more);
}

static void test_random(struct random *random)
{
    struct history_store *store = opened();
    for (int i = 0; i < ROUNDS; i++) {
        add(store, random);
        if (random_chance(random, 10)) {
            history_store_close(store);
            store = opened();
        }
        int64_t from = random_between(random, 0, SLOTS - 1);
        check_range(store, from, from + random_between(random, 0, SLOTS - 1 - from));
    }
    check_range(store, 0, SLOTS - 1);
    char err[ERROR_MAX] = "";
    struct history_store *second;
    CHECK_INT(history_store_open(scratch_root(), &series, &second, err, sizeof err), -EBUSY);
    CHECK(strstr(err, "another process fetches it") != NULL);
    CHECK_INT(history_store_open_kept(scratch_root(), &series, &second, err, sizeof err), 0);
    check_range(second, 0, SLOTS - 1);
    history_store_close(second);
    history_store_close(store);
}

static const struct history_series trades_series = {"binance", "BTC/USD", "", "", "raw", 0, 8, 8};
enum { TRADES = 2000 };

/* Runs of one time. */
static struct market_trade trade_at(int64_t id)
{
    return (struct market_trade){.ts_ns = id / 7 * 10,
                                 .id = id,
                                 .first_id = 2 * id,
                                 .last_id = 2 * id + 1,
                                 .price = 1000 - id,
                                 .qty = 1 + id,
                                 .buyer_maker = id % 3 == 0,
                                 .odd = id % 5 == 0};
}

static int expect_trade(void *ctx, const struct market_trade *trade)
{
    int64_t *next = ctx;
    const struct market_trade want = trade_at((*next)++);
    CHECK(trade->ts_ns == want.ts_ns && trade->id == want.id && trade->first_id == want.first_id &&
          trade->last_id == want.last_id && trade->price == want.price && trade->qty == want.qty &&
          trade->buyer_maker == want.buyer_maker && trade->odd == want.odd);
    return 0;
}

/* Of several of one time each is kept, in order, over pages that overlap and come in any order. */
static void test_trades(struct random *random)
{
    char err[ERROR_MAX] = "";
    struct history_store *store;
    CHECK_INT(history_store_open(scratch_root(), &trades_series, &store, err, sizeof err), 0);
    CHECK(strstr(history_store_path(store), "/binance/BTC-USD_trades.history") != NULL);
    struct market_trade trades[TRADES];
    int64_t from, end, next = 0;
    size_t changed = 0;
    for (int64_t i = 0; i < TRADES; i++)
        trades[i] = trade_at(i);
    const int64_t all_ns = trades[TRADES - 1].ts_ns + 10;
    while (history_store_lacks(store, 0, all_ns, &from, &end)) {
        int64_t page_from = random_between(random, 0, all_ns / 10 - 1) * 10, first = page_from / 10 * 7;
        int64_t n = random_between(random, 1, 20) * 7;
        n = first + n < TRADES ? n : TRADES - first;
        int64_t page_end = trades[first + n - 1].ts_ns + 10;
        CHECK_INT(
            history_store_add_trades(store, LATER, page_from, page_end, &trades[first], (size_t)n, &changed),
            0);
        CHECK_INT(changed, 0);
    }
    history_store_close(store);
    CHECK_INT(history_store_open(scratch_root(), &trades_series, &store, err, sizeof err), 0);
    CHECK_INT(history_store_each_trade(store, 0, all_ns, expect_trade, &next), 0);
    CHECK_INT(next, TRADES);
    trades[8].qty++; /* one of seven of that time, and one is gone */
    CHECK_INT(history_store_add_trades(store, LATER, 10, 20, &trades[7], 6, &changed), 0);
    CHECK_INT(changed, 2);
    history_store_close(store);
}

static int take_qty(void *ctx, const struct market_trade *trade)
{
    int64_t **next = ctx;
    *(*next)++ = trade->qty;
    return 0;
}

/* Ids of several exchanges: they do not rise with the time, and two of one time may have the same. */
static void test_single_trades(void)
{
    static const struct history_series of_stock = {"alpaca", "AAPL", "", "sip", "raw", 0, 9, 9};
    struct market_trade trades[] = {
        {.ts_ns = 10, .id = 900, .qty = 1}, {.ts_ns = 10, .id = 900, .qty = 2},
        {.ts_ns = 11, .id = 5, .qty = 3},   {.ts_ns = 12, .id = 7, .qty = 4},
        {.ts_ns = 12, .id = 901, .qty = 5}, {.ts_ns = 13, .id = 6, .qty = 6},
    };
    const size_t n = sizeof trades / sizeof *trades;
    char err[ERROR_MAX] = "";
    struct history_store *store;
    int64_t seen[6] = {0}, *next = seen;
    size_t changed = 0;
    CHECK_INT(history_store_open(scratch_root(), &of_stock, &store, err, sizeof err), 0);
    CHECK_INT(history_store_add_trades(store, LATER, 0, 20, trades, n, NULL), 0);
    CHECK_INT(history_store_add_trades(store, LATER, 0, 20, trades, n, &changed), 0);
    CHECK_INT(changed, 0);
    trades[2].qty = 30; /* one is another, */
    CHECK_INT(history_store_add_trades(store, LATER, 0, 20, trades, n, &changed), 0);
    CHECK_INT(changed, 1);
    trades[4] = trades[5]; /* … and one is gone */
    CHECK_INT(history_store_add_trades(store, LATER, 0, 20, trades, n - 1, &changed), 0);
    CHECK_INT(changed, 1);
    CHECK_INT(history_store_each_trade(store, 0, 20, take_qty, &next), 0);
    CHECK(next - seen == 5 && seen[0] == 1 && seen[1] == 2 && seen[2] == 30 && seen[3] == 4 && seen[4] == 6);
    history_store_close(store);
}

static int take_id(void *ctx, const struct market_trade *trade)
{
    int64_t **next = ctx;
    *(*next)++ = trade->id;
    return 0;
}

/* What is known, and comes before the first that the venue still has, stays: also of the same time. */
static void test_forgotten(struct random *random)
{
    static const struct history_series recent = {"binance", "ETH/USD", "", "", "raw", 0, 8, 8};
    char err[ERROR_MAX] = "";
    struct history_store *store;
    struct market_trade trades[TRADES];
    bool known[TRADES] = {false};
    const int64_t all_ns = trade_at(TRADES - 1).ts_ns + 10;
    CHECK_INT(history_store_open(scratch_root(), &recent, &store, err, sizeof err), 0);
    for (int64_t i = 0; i < TRADES; i++)
        trades[i] = trade_at(i);
    for (int round = 0; round < 200; round++) {
        /* The venue keeps those from `kept` on; the range may begin between the trades of no time. */
        int64_t from = random_between(random, 0, TRADES / 7) * 7,
                kept = random_between(random, 0, TRADES - 1);
        int64_t end = from + random_between(random, 1, 60) * 7, first = kept > from ? kept : from;
        int64_t asked_ns = random_chance(random, 50) ? LATER : HISTORY_SETTLED_NS;
        size_t changed = 0, found = 0;
        end = end < TRADES ? end : TRADES;
        int64_t n = end > first ? end - first : 0;
        if (end <= from)
            continue;
        const int64_t from_ns = trades[from].ts_ns, end_ns = trades[end - 1].ts_ns + 10;
        bool nothing = n == 0 && random_chance(random, 50);
        CHECK_INT(nothing ? history_store_add_nothing(store, asked_ns, from_ns, end_ns)
                          : history_store_add_later_trades(store, asked_ns, from_ns, end_ns, &trades[first],
                                                           (size_t)n, &changed),
                  0);
        size_t more = 0;
        for (int64_t i = first; i < end; i++) {
            more += !known[i];
            known[i] = true;
        }
        CHECK(changed <= more); /* no trade is another, and no trade is gone */
        int64_t ids[TRADES], *next = ids;
        CHECK_INT(history_store_each_trade(store, 0, all_ns, take_id, &next), 0);
        for (int64_t i = 0; i < TRADES; i++)
            if (known[i]) {
                CHECK(ids + found < next && ids[found] == i);
                found++;
            }
        CHECK_INT(next - ids, found);
    }
    CHECK_INT(history_store_add_nothing(store, LATER, 0, all_ns), 0);
    int64_t from, end;
    CHECK(!history_store_lacks(store, 0, all_ns, &from, &end));
    size_t changed = 0;
    CHECK_INT(history_store_add_trades(store, LATER, 0, all_ns, trades, TRADES, NULL), 0);
    trades[TRADES - 2].qty++; /* one is another, and the last is gone */
    CHECK_INT(history_store_add_later_trades(store, LATER, 0, all_ns, &trades[TRADES - 3], 2, &changed), 0);
    CHECK_INT(changed, 2);
    history_store_close(store);
}

static int count(void *ctx, const struct bar *bar)
{
    (void)bar;
    return ++*(int *)ctx;
}

/* The same answer again is not stored again. */
static void test_same(void)
{
    struct history_store *store = opened();
    struct stat before, after;
    const struct bar bars[] = {bar_at(1000, 5), bar_at(1001, 6)};
    size_t changed;
    CHECK_INT(history_store_add(store, LATER, 1000 * STEP, 1002 * STEP, bars, 2, &changed), 0);
    CHECK(stat(history_store_path(store), &before) == 0 && changed == 0);
    CHECK_INT(history_store_add(store, LATER, 1000 * STEP, 1002 * STEP, bars, 2, &changed), 0);
    CHECK(stat(history_store_path(store), &after) == 0 && after.st_size == before.st_size && changed == 0);
    CHECK_INT(history_store_add(store, LATER, 1000 * STEP, 1002 * STEP, bars, 1, &changed), 0);
    CHECK_INT(changed, 1);
    history_store_close(store);
}

/* A bar is settled a day after its end, not after its beginning. */
static void test_settled_long(void)
{
    static const struct history_series days = {"binance", "SOLUSDT", "", "", "raw", HISTORY_SETTLED_NS, 8, 8};
    const int64_t day = HISTORY_SETTLED_NS, at = 2000 * day;
    char err[ERROR_MAX] = "";
    struct history_store *store;
    int64_t from, end;
    struct bar bar = bar_at(1, 5);
    bar.open_ns = at;
    CHECK_INT(history_store_open(scratch_root(), &days, &store, err, sizeof err), 0);
    CHECK_INT(history_store_add(store, at + day + day / 2, at, at + day, &bar, 1, NULL), 0);
    CHECK(history_store_lacks(store, at, at + day, &from, &end) && from == at);
    CHECK_INT(history_store_add(store, at + 2 * day, at, at + day, &bar, 1, NULL), 0);
    CHECK(!history_store_lacks(store, at, at + day, &from, &end));
    history_store_close(store);
}

/* What was asked for on the day itself is there, and lacks; later it is there for good, one page after the
 * other. */
static void test_settled(void)
{
    const int64_t day = HISTORY_SETTLED_NS, at = 2000 * day;
    struct history_store *store = opened();
    int64_t from, end;
    struct bar bar = bar_at(1, 5);
    bar.open_ns = at + day / 2;
    CHECK_INT(history_store_add(store, at + day, at - day, at + day, &bar, 1, NULL), 0);
    CHECK(history_store_lacks(store, at - day, at + day, &from, &end) && from == at && end == at + day);
    CHECK(!history_store_lacks(store, at - day, at, &from, &end));
    CHECK_INT(history_store_each(store, at - day, at + day, count, &(int){0}), 1);
    CHECK_INT(history_store_add(store, at + 3 * day / 2, at, at + day, &bar, 1, NULL), 0);
    CHECK(history_store_lacks(store, at - day, at + day, &from, &end) && from == at + day / 2);
    history_store_close(store);
    store = opened();
    CHECK(history_store_lacks(store, at - day, at + day, &from, &end) && from == at + day / 2);
    CHECK_INT(history_store_add(store, at + 2 * day, at, at + day, &bar, 1, NULL), 0);
    CHECK(!history_store_lacks(store, at - day, at + day, &from, &end));
    CHECK(history_store_lacks(store, at - 3 * day, at + day, &from, &end) && from == at - 3 * day &&
          end == at - day);
    history_store_close(store);
}

/* Whatever becomes of its end, what is read was written, and it grows on. */
static void test_damage(struct random *random)
{
    char path[SCRATCH_PATH_MAX + 64], *whole;
    snprintf(path, sizeof path, "%s/binance/BTC-USD_1m.history", scratch_root());
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    struct stat st;
    CHECK(stat(path, &st) == 0);
    whole = malloc((size_t)st.st_size);
    CHECK_INT(fread(whole, 1, (size_t)st.st_size, file), st.st_size);
    fclose(file);
    size_t line = (size_t)((char *)memchr(whole, '\n', (size_t)st.st_size) - whole) + 1;
    for (int i = 0; i < 200; i++) {
        size_t at = line + (size_t)random_between(random, 0, st.st_size - (int64_t)line - 1);
        bool cut = i % 2 == 0;
        char byte = whole[at];
        whole[at] ^= cut ? 0 : 1 << random_between(random, 0, 7);
        file = fopen(path, "wb");
        CHECK_INT(fwrite(whole, 1, cut ? at : (size_t)st.st_size, file), cut ? (int64_t)at : st.st_size);
        fclose(file);
        whole[at] = byte;
        struct history_store *store = opened();
        memset(model, 0, sizeof model);
        const struct bar bar = bar_at(3, 9);
        CHECK_INT(history_store_add(store, LATER, 0, 6 * STEP, &bar, 1, NULL), 0);
        history_store_close(store);
        store = opened();
        for (int64_t s = 0; s <= 5; s++)
            model[s] = s == 3 ? 9 : -1;
        check_range(store, 0, 5);
        history_store_close(store);
    }
    file = fopen(path, "wb");
    fputs("{\"schema\":\"another\"}\n", file);
    fclose(file);
    char err[ERROR_MAX] = "";
    struct history_store *store;
    CHECK_INT(history_store_open(scratch_root(), &series, &store, err, sizeof err), -EBADMSG);
    CHECK(strstr(err, "remove it") != NULL);
    CHECK_INT(unlink(path), 0);
    free(whole);
}

/* What is written is read; a text that is cut off, or says something else, is none. */
static void test_known(void)
{
    struct trading_day days[] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    struct history_known known = {.symbol = "BTC/USD",
                                  .calendar = "us-equity",
                                  .price_scale = 4,
                                  .qty_scale = 9,
                                  .listed_ns = 7,
                                  .first_ns = INT64_MAX,
                                  .days = days,
                                  .n_days = 2,
                                  .listing = json_pack("{s:I}", "tick", (json_int_t)INT64_MAX)};
    struct history_known read = {0};
    char path[PATH_MAX], *text;
    size_t n;
    struct stat st;
    CHECK_INT(history_series_path(scratch_root(), &series, ".known", path), 0);
    CHECK(strstr(path, "/binance/BTC-USD_1m.known") != NULL && stat(path, &st) < 0);
    CHECK_INT(history_known_read(scratch_root(), &series, &read), -ENOENT);
    CHECK_INT(history_known_write(scratch_root(), &series, &known), 0);
    CHECK_INT(history_known_read(scratch_root(), &series, &read), 0);
    CHECK_STR(read.symbol, known.symbol);
    CHECK_STR(read.calendar, known.calendar);
    CHECK(json_equal(read.listing, known.listing));
    CHECK(read.price_scale == 4 && read.qty_scale == 9 && read.n_days == 2 &&
          memcmp(read.days, days, sizeof days) == 0);
    CHECK_INT(read.listed_ns, 7);
    CHECK_INT(read.first_ns, INT64_MAX);
    history_known_finish(&read);
    CHECK_INT(whole_file_read(path, 1 << 16, &text, &n), 0);
    for (size_t cut = 0; cut < n; cut++) {
        FILE *file = fopen(path, "wb");
        CHECK_INT(fwrite(text, 1, cut, file), cut);
        fclose(file);
        CHECK_INT(history_known_read(scratch_root(), &series, &read), -EBADMSG);
    }
    static const int64_t bad_listed_ns[] = {-1, 9}; /* not known; after the first row */
    known.first_ns = 8;
    for (int i = 0; i < 2; i++) {
        known.listed_ns = bad_listed_ns[i];
        CHECK_INT(history_known_write(scratch_root(), &series, &known), 0);
        CHECK_INT(history_known_read(scratch_root(), &series, &read), -EBADMSG);
    }
    known.listed_ns = known.first_ns;
    days[1].early_ns = 3; /* before the end of the day before */
    CHECK_INT(history_known_write(scratch_root(), &series, &known), 0);
    CHECK_INT(history_known_read(scratch_root(), &series, &read), -EBADMSG);
    CHECK_INT(unlink(path), 0);
    free(text);
    json_decref(known.listing);
}

/* A page that does not fit is not there, and the file grows once there is room. */
static void test_full(void)
{
    struct rlimit old, limit;
    struct history_store *store = opened();
    const struct bar bars[] = {bar_at(0, 5), bar_at(1, 6)};
    memset(model, 0, sizeof model);
    CHECK(stat(history_store_path(store), &(struct stat){0}) == 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    struct stat st;
    CHECK(stat(history_store_path(store), &st) == 0);
    limit = (struct rlimit){(rlim_t)st.st_size + 100, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_INT(history_store_add(store, LATER, 0, 2 * STEP, bars, 2, NULL), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &old);
    check_range(store, 0, 1);
    CHECK_INT(history_store_add(store, LATER, 0, 2 * STEP, bars, 2, NULL), 0);
    history_store_close(store);
    store = opened();
    model[0] = 5, model[1] = 6;
    check_range(store, 0, 1);
    history_store_close(store);
}

int main(void)
{
    struct random random = random_seeded("history_store", 29);
    test_random(&random);
    test_trades(&random);
    test_single_trades();
    test_forgotten(&random);
    test_same();
    test_settled();
    test_settled_long();
    test_damage(&random);
    test_known();
    test_full();
    return check_done("history_store");
}

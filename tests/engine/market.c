/* The market's grid: every bar of every file in its place and to the digit, every other cell as the contract
 * says, whatever the ranges, gaps and shapes of the files; and what is refused, in words that help. */
#include "engine/market/market.h"

#include <errno.h>

#include "exchange/decimal.h"
#include "tests/engine/market_files.h"

enum { FILES_MAX = 5 };

#if defined(__SANITIZE_THREAD__)
enum { ROUNDS = 10, DECIMALS = 300 }; /* which one thread reads */
#elif defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 20, DECIMALS = 1000 };
#else
enum { ROUNDS = 60, DECIMALS = 3000 };
#endif

static const int64_t minute = 60000000000, epoch = 1672531200000000000;
static char err[MARKET_ERROR_MAX];
static const struct market_options plain = {.no_cache = true};

static void check_series(const struct market *m, const struct market_series *s, const struct made_file *f,
                         const struct market_options *options)
{
    bool all = options->from_ns == 0 && options->to_ns == 0;
    const double *columns[] = {s->open, s->high, s->low, s->close};
    size_t k = 0, seen = 0, first = m->rows, last = 0, bad = 0;
    double before = 0;
    while (!all && f->open_ns[k] < options->from_ns)
        k++;
    double first_open = decimal_to_double(f->price[0][k], f->digits);
    for (size_t row = 0; row < m->rows; row++) {
        bool there = k < f->n && (all || f->open_ns[k] < options->to_ns) &&
                     f->open_ns[k] == m->start_ns + (int64_t)row * m->interval_ns;
        bad += market_present(s, row) != there;
        bad += market_open_ns(m, row) != m->start_ns + (int64_t)row * m->interval_ns;
        for (int c = 0; c < 4; c++) {
            double expected = there      ? decimal_to_double(f->price[c][k], f->digits)
                              : seen > 0 ? before
                                         : first_open;
            int64_t units = -1;
            bad += columns[c][row] != expected;
            bad += there && (decimal_from_double(columns[c][row], s->symbol.price_scale, &units) != 0 ||
                             units != f->price[c][k] * decimal_pow10(s->symbol.price_scale - f->digits));
        }
        bad += s->volume[row] != (there ? decimal_to_double(f->volume[k], f->volume_digits) : 0);
        if (there) {
            before = s->close[row];
            first = seen == 0 ? row : first;
            last = row;
            seen++;
            k++;
        }
    }
    CHECK_INT(bad, 0);
    CHECK(seen > 0);
    CHECK_INT(s->first, first);
    CHECK_INT(s->last, last);
    CHECK_INT(s->missing, last - first + 1 - seen);
    CHECK((uintptr_t)s->open % 64 == 0 && (uintptr_t)s->volume % 64 == 0);
}

static void test_random(struct random *random)
{
    static struct made_file files[FILES_MAX];
    static const char *const names[FILES_MAX] = {"AUSDT", "BUSDT", "CBTC", "DOGE", "EUSD"};
    const char *paths[FILES_MAX];
    struct market_options options = plain;
    struct market_load load;
    struct market *m = NULL;
    int n = (int)random_between(random, 1, FILES_MAX);
    int64_t interval = minute * random_between(random, 1, 60), first = INT64_MAX, last = 0;
    size_t bars = 0;
    for (int i = 0; i < n; i++) {
        int64_t start = epoch + interval * random_between(random, 0, 300);
        made_draw(random, &files[i], (size_t)random_between(random, random_chance(random, 90) ? 2 : 1, 600),
                  start, interval, (int)random_between(random, 0, 20));
        made_write(random, &files[i], names[i]);
        paths[i] = files[i].path;
        first = files[i].open_ns[0] < first ? files[i].open_ns[0] : first;
        if (files[i].open_ns[files[i].n - 1] > last)
            last = files[i].open_ns[files[i].n - 1];
        bars += files[i].n;
    }
    options.interval_ns = interval; /* few bars with many gaps do not determine it */
    options.threads = (int)random_between(random, 0, 3);
    CHECK_INT(market_store_load_files(paths, (size_t)n, &options, &m, &load, err), 0);
    if (!m) {
        fprintf(stderr, "%s\n", err);
        return;
    }
    CHECK_INT(m->n_symbols, n);
    CHECK_INT(m->start_ns, first);
    CHECK_INT(m->interval_ns, interval);
    CHECK_INT(m->rows, (last - first) / interval + 1);
    CHECK_INT(load.bars, bars);
    CHECK(!load.cached && load.note[0] == '\0');
    for (int i = 0; i < n; i++) {
        CHECK_STR(m->series[i].symbol.name, names[i]);
        check_series(m, &m->series[i], &files[i], &options);
    }
    CHECK_INT(market_store_row_at(m, first), 0);
    CHECK_INT(market_store_row_at(m, first - 1), 0);
    CHECK_INT(market_store_row_at(m, last), m->rows - 1);
    CHECK_INT(market_store_row_at(m, last + 1), m->rows);
    CHECK_INT(market_store_row_at(m, first + 1), m->rows > 1 ? 1 : m->rows);
    market_store_close(m);

    /* A part of it: the bars between are the same. */
    const struct made_file *f = &files[0];
    options.from_ns = f->open_ns[f->n / 3];
    options.to_ns = f->open_ns[f->n * 2 / 3] + 1;
    CHECK_INT(market_store_load_files(paths, 1, &options, &m, NULL, err), 0);
    check_series(m, &m->series[0], f, &options);
    CHECK_INT(m->start_ns, options.from_ns);
    CHECK_INT(market_open_ns(m, m->rows - 1), options.to_ns - 1);
    market_store_close(m);
}

/* A symbol's bars cut into files, in any order and among another symbol's: the same market as of one file. */
static void test_parts(struct random *random)
{
    enum { PARTS_MAX = 8 };
    static struct made_file whole[2], part;
    static char names[PARTS_MAX + 1][MADE_PATH_MAX];
    struct market_options options = plain;
    struct market *one = NULL, *joined = NULL;
    const char *paths[PARTS_MAX + 1];
    size_t n = 0, begin = 0;
    options.interval_ns = minute;
    made_draw(random, &whole[0], (size_t)random_between(random, PARTS_MAX, 600), epoch, minute, 10);
    made_draw(random, &whole[1], 50, epoch, minute, 0);
    made_write(random, &whole[0], "AUSDT");
    made_write(random, &whole[1], "BUSDT");
    CHECK_INT(
        market_store_load_files((const char *[]){whole[0].path, whole[1].path}, 2, &options, &one, NULL, err),
        0);
    while (begin < whole[0].n) {
        size_t left = whole[0].n - begin;
        size_t rows = n == PARTS_MAX - 1 ? left : (size_t)random_between(random, 1, (int64_t)left);
        char name[32];
        part = whole[0];
        part.n = rows;
        memmove(part.open_ns, whole[0].open_ns + begin, rows * sizeof(int64_t));
        memmove(part.volume, whole[0].volume + begin, rows * sizeof(int64_t));
        for (int c = 0; c < 4; c++)
            memmove(part.price[c], whole[0].price[c] + begin, rows * sizeof(int64_t));
        snprintf(name, sizeof(name), "AUSDT-1m-2023-%zu", n);
        made_write(random, &part, name);
        memcpy(names[n++], part.path, MADE_PATH_MAX);
        begin += rows;
    }
    for (size_t i = 0; i < n; i++) /* the whole one's order of symbols is by the first of each */
        paths[i] = names[i];
    for (size_t i = n; i-- > 1;) {
        size_t k = (size_t)random_between(random, 0, (int64_t)i);
        const char *swap = paths[i];
        paths[i] = paths[k];
        paths[k] = swap;
    }
    size_t at = (size_t)random_between(random, 1, (int64_t)n);
    memmove(&paths[at + 1], &paths[at], (n - at) * sizeof(*paths));
    paths[at] = whole[1].path;
    CHECK_INT(market_store_load_files(paths, n + 1, &options, &joined, NULL, err), 0);
    if (!one || !joined) {
        fprintf(stderr, "%s\n", err);
        return;
    }
    CHECK_INT(joined->n_symbols, 2);
    CHECK(memcmp(one->content, joined->content, sizeof(one->content)) == 0);
    check_series(joined, &joined->series[0], &whole[0], &options);
    market_store_close(one);
    market_store_close(joined);
}

static void refuses(const char *const *paths, size_t n, const struct market_options *options, int code,
                    const char *const *words, size_t n_words)
{
    struct market *m = (struct market *)&plain;
    err[0] = '\0';
    CHECK_INT(market_store_load_files(paths, n, options, &m, NULL, err), code);
    CHECK(m == (struct market *)&plain);
    for (size_t i = 0; i < n_words; i++) {
        bool said = strstr(err, words[i]) != NULL;
        CHECK(said);
        if (!said)
            fprintf(stderr, "\"%s\" is not in: %s\n", words[i], err);
    }
}

#define REFUSES(paths, options, code, ...) \
    refuses(paths, sizeof(paths) / sizeof(*(paths)), options, code, (const char *const[]){__VA_ARGS__}, \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_refused(void)
{
    const char *header = "open_time,open,high,low,close,volume\n";
    char text[1024];
#define MADE(name, rows) (snprintf(text, sizeof(text), "%s%s", header, rows), scratch_write(name, text))
    const char *minutes = MADE("MUSDT_1m.csv", "60,1,1,1,1,1\n120,1,1,1,1,1\n180,1,1,1,1,1\n");
    const char *fives = MADE("FUSDT_5m.csv", "300,1,1,1,1,1\n600,1,1,1,1,1\n");
    const char *off = MADE("OUSDT_1m.csv", "90,1,1,1,1,1\n150,1,1,1,1,1\n");
    const char *one = MADE("SINGLE.csv", "60,1,1,1,1,1\n");
    const char *close =
        MADE("NEARUSDT_1m.csv", "60,1,1,1,1,1\n120,1,1,1,1,1\n180,1,1,1,1,1\n210,1,1,1,1,1\n");
    const char *zero = MADE("ZUSDT_1m.csv", "60,1,1,1,1,1\n120,1,1,0,1,1\n");
    const char *below = MADE("NEGUSDT_1m.csv", "60,1,1,1,1,1\n120,1,1,-2,1,1\n");
    const char *wide = MADE("WUSDT_1m.csv", "60,1,1,1,1,1\n120,123456789.12345678,123456789.2,1,1,1\n");
    const char *outside = MADE("OUTUSDT_1m.csv", "60,1,1,1,1,1\n120,3,2,1,1,1\n");
    const char *vast = MADE("VASTUSDT_1m.csv", "60,1,1,1,1,1\n120,2,2,1,1,1e18\n");
    const char *none = MADE("NONE_1m.csv", "");
    const char *far = MADE("FARUSDT_1m.csv", "60,1,1,1,1,1\n120,1,1,1,1,1\n7258118400,1,1,1,1,1\n");
    const char *april = MADE("MUSDT-1m-2025-04.csv", "240,1,1,1,1,1\n300,1,1,1,1,1\n361,1,1,1,1,1\n");
    const char *may = MADE("MUSDT-5m-2025-05.csv", "900,1,1,1,1,1\n1200,1,1,1,1,1\n");
    const char *fine = MADE("MUSDT-1m-2025-06.csv", "1500,1,1,1,1,1\n1560,1.125,2,1,1,1\n1620,1,1,1,1,1\n");
    const char *again = MADE("musdt_2.csv", "60,1,1,1,1,1\n120,1,1,1,1,1\n");
    const char *bad = MADE("BAD_1m.csv", "60,1,1,1,1,1\n120,x,1,1,1,1\n");
#undef MADE
    struct market_options some = plain;
    struct market *m;

    REFUSES(((const char *[]){minutes, fives}), &plain, -EINVAL, "intervals differ", minutes, fives, "1m",
            "5m");
    REFUSES(((const char *[]){minutes, off}), &plain, -EINVAL, "off the grid", off, "bar 1", "1m");
    REFUSES(((const char *[]){close}), &plain, -EINVAL, "off the grid", close, "bar 4");
    REFUSES(((const char *[]){one}), &plain, -EINVAL, "no interval", one);
    REFUSES(((const char *[]){zero}), &plain, -EINVAL, "not above 0", zero, ":3:");
    REFUSES(((const char *[]){below}), &plain, -EINVAL, "not above 0", below, ":3:");
    REFUSES(((const char *[]){outside}), &plain, -ERANGE, "open is outside low to high", outside, ":3:");
    REFUSES(((const char *[]){vast}), &plain, -EINVAL, "volume", vast, "bar 2");
    REFUSES(((const char *[]){wide}), &plain, -EINVAL, "more digits than a double holds", wide, "bar 2");
    REFUSES(((const char *[]){none}), &plain, -EINVAL, "no bars", none);
    REFUSES(((const char *[]){far}), &plain, -EINVAL, "nearly empty");
    REFUSES(((const char *[]){minutes, again}), &plain, -EINVAL, "symbol twice", "MUSDT", minutes, again,
            "1970-01-01T00:01:00Z");
    REFUSES(((const char *[]){april, minutes}), &plain, -EINVAL, "off the grid", april,
            "bar 3, 1970-01-01T00:06:01Z");
    REFUSES(((const char *[]){may, minutes}), &plain, -EINVAL, "intervals differ", minutes, may, "1m", "5m");
    static const char *const lots[] = {"0.5", "1"};
    some.terms.lots = lots;
    REFUSES(((const char *[]){minutes, fine}), &some, -EINVAL, "--lot: \"0.5\" and \"1\": MUSDT");
    some = plain;
    REFUSES(((const char *[]){minutes, bad}), &plain, -EINVAL, "bad number", bad, ":3:");
    REFUSES(((const char *[]){minutes, scratch_path("absent_1m.csv")}), &plain, -ENOENT, "absent_1m.csv");
    refuses(NULL, 0, &plain, -EINVAL, NULL, 0);
    some.interval_ns = minute;
    REFUSES(((const char *[]){fives, minutes, off}), &some, -EINVAL, "off the grid", off);
    some.interval_ns = -1;
    REFUSES(((const char *[]){minutes}), &some, -EINVAL, "interval");
    some = plain;
    some.from_ns = 100 * minute;
    some.to_ns = 200 * minute;
    REFUSES(((const char *[]){minutes}), &some, -EINVAL, "no bars", minutes, "--from");
    some.to_ns = 50 * minute;
    REFUSES(((const char *[]){minutes}), &some, -EINVAL, "--from");

    /* What the words above say would be right, is. */
    some = plain;
    some.interval_ns = minute;
    CHECK_INT(market_store_load_files((const char *[]){one}, 1, &some, &m, NULL, err), 0);
    CHECK(m->rows == 1 && market_present(&m->series[0], 0) && m->series[0].missing == 0);
    CHECK(m->series[0].first == 0 && m->series[0].last == 0 && m->start_ns == minute);
    market_store_close(m);
    CHECK_INT(market_store_load_files((const char *[]){fine, may, minutes}, 3, &some, &m, NULL, err), 0);
    CHECK(m->n_symbols == 1 && m->rows == 27 && m->series[0].missing == 19 && m->series[0].price_digits == 3);
    market_store_close(m);
    CHECK_INT(market_store_load_files((const char *[]){fives, minutes}, 2, &some, &m, NULL, err), 0);
    CHECK_INT(m->rows, 10);
    CHECK_INT(m->series[0].missing, 4);
    market_store_close(m);
    market_store_close(NULL);
}

static struct market *load_one(const char *name, const char *rows, const struct market_options *options)
{
    char text[512];
    struct market *m = NULL;
    snprintf(text, sizeof(text), "open_time,open,high,low,close,volume\n%s", rows);
    CHECK_INT(market_store_load_files((const char *[]){scratch_write(name, text)}, 1, options, &m, NULL, err),
              0);
    if (!m)
        fprintf(stderr, "%s\n", err);
    return m;
}

/* Prices with more than eight digits: at a scale of their own, or rounded to what a double holds. */
static void test_digits(void)
{
    struct market *m = load_one("PEPEUSDT_1m.csv",
                                "60,0.000012345678,0.00002,0.00001,0.000011,1\n120,0.00001,0.00002,0.00001,"
                                "0.00001,1\n",
                                &plain);
    int64_t units;
    CHECK(m->series[0].symbol.price_scale == 12 && m->series[0].price_digits == 12);
    CHECK(m->series[0].rounded_digits == 0 && m->series[0].symbol.filters.tick == 1);
    CHECK_INT(decimal_from_double(m->series[0].open[0], 12, &units), 0);
    CHECK_INT(units, 12345678);
    market_store_close(m);

    /* An adjusted close as a double printed whole: 17 digits, of which 13 after the point are held. */
    m = load_one("SPY_1d.csv",
                 "60,182.63583374023438,183.5,182.1,182.63583374023438,1\n120,182.7,183.5,182.1,182.9,1\n",
                 &plain);
    CHECK(m->series[0].symbol.price_scale == 13 && m->series[0].rounded_digits == 14);
    CHECK_INT(decimal_from_double(m->series[0].open[0], 13, &units), 0);
    CHECK_INT(units, 1826358337402344);
    CHECK_STR(m->series[0].symbol.quote, SYMBOL_QUOTE_UNKNOWN);
    market_store_close(m);
}

/* What a file cannot say is given beside it. */
static void test_terms(void)
{
    static const char rows[] = "60,100,101,99,100,5000\n120,100,101,99,100,7000\n";
    static const char *const lots[] = {"0.001"}, *const ticks[] = {"0.05"}, *const quotes[] = {"XYZ"};
    struct market_options options = plain;
    options.terms = (struct market_terms){lots, ticks, quotes};
    struct market *m = load_one("FOOXYZ_1m.csv", rows, &options);
    const struct symbol *s = &m->series[0].symbol;
    CHECK_STR(s->base, "FOO");
    CHECK_STR(s->quote, "XYZ");
    CHECK(s->filters.step == 100000 && s->filters.qty_min == 100000);
    CHECK(s->filters.tick == 5000000 && s->filters.price_min == 5000000);
    market_store_close(m);

    static const char *const fine[] = {"0.0000000001"}; /* finer than the prices: at a scale that holds it */
    options.terms = (struct market_terms){.ticks = fine};
    m = load_one("FOOXYZ_1m.csv", rows, &options);
    CHECK(m->series[0].symbol.price_scale == 10 && m->series[0].symbol.filters.tick == 1);
    market_store_close(m);

    static const char *const fraction[] = {"0.000000001"}; /* all quantities are in units as fine */
    options.terms = (struct market_terms){.lots = fraction};
    m = load_one("BTCUSDT_1m.csv", rows, &options);
    s = &m->series[0].symbol;
    CHECK(s->qty_scale == 9 && s->filters.step == 1 && s->filters.qty_min == 1);
    CHECK_INT(s->filters.qty_max, INT64_C(9000) * 1000000000);
    market_store_close(m);

    static const char *const bad[] = {"0", "-1", "x", "0.0000000001", ""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        options.terms = (struct market_terms){.lots = &bad[i]};
        refuses((const char *[]){scratch_path("FOOXYZ_1m.csv")}, 1, &options, -EINVAL,
                (const char *[]){"--lot", "FOOXYZ"}, 2);
    }
}

/* Random decimals with up to 17 digits: exact, or refused. */
static void test_exact(struct random *random)
{
    char text[256], name[DECIMAL_TEXT_MAX];
    unsigned kept = 0, refused = 0;
    struct market_options options = plain;
    options.interval_ns = minute;
    for (int k = 0; k < DECIMALS; k++) {
        int digits = (int)random_between(random, 0, 8);
        int64_t units = random_between(random, 1, decimal_pow10((int)random_between(random, 1, 17))), back;
        struct market *m = NULL;
        decimal_format(units, digits, name);
        snprintf(text, sizeof(text), "60000,%s,%s,%s,%s,1\n", name, name, name, name);
        int r = market_store_load_files((const char *[]){scratch_write("X_1m.csv", text)}, 1, &options, &m,
                                        NULL, err);
        if (r == 0) {
            int64_t scaled = -1;
            int fits = decimal_rescale(units, digits, 8, &scaled);
            CHECK_INT(fits, 0);
            CHECK_INT(decimal_from_double(m->series[0].open[0], 8, &back), 0);
            CHECK_INT(back, scaled);
            market_store_close(m);
            kept++;
        } else {
            CHECK_INT(r, -EINVAL);
            CHECK(units >
                  1000000000000000 / decimal_pow10(8 - digits)); /* never one of 15 digits at the scale */
            refused++;
        }
    }
    printf("exact: %u kept, %u refused\n", kept, refused);
    CHECK(kept > DECIMALS / 3 && refused > DECIMALS / 30);
}

int main(void)
{
    struct random random = random_seeded("market", 20261121);
    scratch_in_memory();
    if (ROUNDS < 60)
        printf("counts: %d random markets, %d decimals (without a sanitizer: 60, 3000)\n", ROUNDS, DECIMALS);
    for (int i = 0; i < ROUNDS; i++)
        test_random(&random);
    for (int i = 0; i < ROUNDS / 2; i++)
        test_parts(&random);
    test_refused();
    test_digits();
    test_terms();
    test_exact(&random);
    return check_done("market");
}

/* Bars in memory make the market that a bars file with the same numbers makes, to its hash, in whatever
 * pieces they are given; digits of doubles are those of their shortest text; what is refused, in words that
 * help. */
#include "engine/market/given.h"

#include <errno.h>

#include "exchange/bars_number.h"
#include "tests/counts.h"
#include "tests/engine/market_files.h"

enum { PIECE_MOST = 700 };

static const int64_t minute = 60000000000, epoch = 1672531200000000000;
static char err[MARKET_ERROR_MAX];
static struct made_file file;

/* The bars [at, at + n) of the file as columns. */
static int add(struct market_given *given, size_t at, size_t n)
{
    static double numbers[5][MADE_BARS_MAX];
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 4; c++)
            numbers[c][i] = decimal_to_double(file.price[c][at + i], file.digits);
        numbers[4][i] = decimal_to_double(file.volume[at + i], file.volume_digits);
    }
    const struct market_given_columns columns = {file.open_ns + at, numbers[0], numbers[1],
                                                 numbers[2],        numbers[3], numbers[4]};
    return market_store_given_add(given, &columns, n, err);
}

static struct market *in_pieces(struct random *random, const struct market_options *options)
{
    struct market_given *given = NULL;
    struct market *market = NULL;
    CHECK_INT(market_store_given_create("oneusdt", false, &given, err), 0);
    for (size_t at = 0; at < file.n;) {
        size_t n = (size_t)random_between(random, 0, PIECE_MOST);
        n = n < file.n - at ? n : file.n - at;
        CHECK_INT(add(given, at, n), 0);
        at += n;
    }
    CHECK_INT(market_store_given_bars(given), file.n);
    int r = market_store_given_load(given, options, &market, err);
    CHECK_INT(r, 0);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
    market_store_given_destroy(given);
    return market;
}

static void as_a_file(struct random *random)
{
    const char *path, *lot = "0.01", *quote = "EUR";
    struct market *of_file = NULL, *of_memory;
    struct market_options options = {.no_cache = true};
    if (random_chance(random, 30))
        options.terms = (struct market_terms){.lots = &lot, .quotes = &quote};
    made_draw(random, &file, (size_t)random_between(random, 2, 2000), epoch, minute, 5);
    made_write(random, &file, "ONEUSDT");
    path = file.path;
    CHECK_INT(market_store_load_files(&path, 1, &options, &of_file, NULL, err), 0);
    of_memory = in_pieces(random, &options);
    if (of_file && of_memory) {
        CHECK_INT(memcmp(of_file->content, of_memory->content, MARKET_HASH_SIZE), 0);
        CHECK_INT(of_file->series[0].price_digits, of_memory->series[0].price_digits);
        CHECK_INT(of_file->series[0].missing, of_memory->series[0].missing);
    }
    market_store_close(of_file);
    market_store_close(of_memory);
}

/* By the texts of printf, tried one length after the other. */
static int shortest_digits(double value)
{
    char text[40];
    double read;
    int digits = 0;
    for (int n = 1; n <= 17; n++) {
        snprintf(text, sizeof text, "%.*g", n, value);
        if (strtod(text, NULL) == value)
            break;
    }
    CHECK(bars_number(text, strlen(text), &read, &digits));
    return digits;
}

static void digits_of(struct random *random)
{
    double value = (double)random_between(random, 0, (int64_t)1 << random_between(random, 1, 52));
    if (random_chance(random, 90))
        value /= (double)decimal_pow10((int)random_between(random, 0, 15));
    else
        value /= 3;
    int digits = 0, least = (int)random_between(random, 0, 9), raised = least;
    bars_number_digits(value, &digits);
    bars_number_digits(value, &raised);
    CHECK_INT(digits, shortest_digits(value));
    CHECK_INT(raised, digits > least ? digits : least);
}

static void refused(const struct market_given_columns *columns, size_t n, const char *words)
{
    struct market_given *given = NULL;
    CHECK_INT(market_store_given_create("ONEUSDT", false, &given, err), 0);
    CHECK_INT(market_store_given_add(given, columns, n, err), -EINVAL);
    CHECK(strstr(err, words) != NULL);
    market_store_given_destroy(given);
}

static void refusals(void)
{
    const int64_t rising[] = {epoch, epoch + minute}, twice[] = {epoch, epoch},
                  back[] = {epoch, epoch - minute};
    const double good[] = {2, 2}, broken[] = {2, NAN};
    refused(&(struct market_given_columns){twice, good, good, good, good, good}, 2,
            "time does not rise: ONEUSDT: bar 2, 2023-01-01T00:00:00Z: one row a bar, not two of one time");
    refused(&(struct market_given_columns){back, good, good, good, good, good}, 2,
            "it comes after 2023-01-01T00:00:00Z: rows in the order of their time");
    refused(&(struct market_given_columns){rising, good, good, good, broken, good}, 2,
            "bad number: ONEUSDT: bar 2, 2023-01-01T00:01:00Z: a finite number as close, not nan");
    struct market_given *given = NULL;
    struct market *market = NULL;
    CHECK_INT(market_store_given_create("", false, &given, err), -EINVAL);
    CHECK_INT(market_store_given_create("ONEUSDT", false, &given, err), 0);
    CHECK_INT(market_store_given_load(given, &(struct market_options){0}, &market, err), -EINVAL);
    CHECK(strstr(err, "no bars: ONEUSDT"));
    CHECK_INT(market_store_given_add(
                  given, &(struct market_given_columns){rising, good, good, good, good, good}, 1, err),
              0);
    CHECK_INT(market_store_given_load(given, &(struct market_options){0}, &market, err), -EINVAL);
    CHECK(strstr(err, "no interval: ONEUSDT: at least two bars") && !market);
    market_store_given_destroy(given);
    market_store_given_destroy(NULL);
}

int main(void)
{
    struct random random = random_seeded("market_given", 31);
    for (int i = counts_of("files", 60, 15); i > 0; i--)
        as_a_file(&random);
    for (int i = counts_of("numbers", 200000, 20000); i > 0; i--)
        digits_of(&random);
    refusals();
    return check_done("market_given");
}

/* Backtests and sweeps over Arrow batches: wherever a batch is cut the same rows, which are the engine's own
 * results on bars files with the same numbers, to the bit; what is refused, in words; everything is released.
 */
#include "spark/native/backtest.h"

#include <errno.h>

#include "engine/backtest/audit.h"
#include "engine/backtest/report.h"
#include "engine/backtest/terms.h"
#include "strategy/strategy.h"
#include "tests/counts.h"
#include "tests/engine/market_files.h"
#include "tests/spark/made.h"

enum { SYMBOLS = 4, BARS = 900, ALL = SYMBOLS * BARS, COLUMNS = 7, ERROR_MAX = 512 };

static const int64_t minute = 60000000000, epoch = 1672531200000000000;
static const char *const names[SYMBOLS] = {"ADAUSDT", "BTC", "BTCUSDT", "XYZEUR"};
static struct random rng;
static char err[ERROR_MAX];
static struct made_file files[SYMBOLS];

/* All symbols' bars, one after the other. */
static const char *symbol[ALL];
static int64_t time_us[ALL];
static double prices[5][ALL];
static bool null_close[ALL];
static int64_t n_bars;

static struct made_column columns[COLUMNS] = {
    {"symbol", "u", symbol, NULL},    {"timestamp", "tsu:UTC", time_us, NULL},
    {"open", "g", prices[0], NULL},   {"high", "g", prices[1], NULL},
    {"low", "g", prices[2], NULL},    {"close", "g", prices[3], null_close},
    {"volume", "g", prices[4], NULL},
};

static void draw(void)
{
    n_bars = 0;
    for (int s = 0; s < SYMBOLS; s++) {
        struct made_file *f = &files[s];
        made_draw(&rng, f, BARS - (size_t)s * 7, epoch, minute, 3);
        made_write(&rng, f, names[s]);
        for (size_t i = 0; i < f->n; i++, n_bars++) {
            symbol[n_bars] = names[s];
            time_us[n_bars] = f->open_ns[i] / 1000;
            for (int c = 0; c < 4; c++)
                prices[c][n_bars] = decimal_to_double(f->price[c][i], f->digits);
            prices[4][n_bars] = decimal_to_double(f->volume[i], f->volume_digits);
        }
    }
}

/* What came back, as text: a line a row, doubles by their bits. */
struct taken {
    char *text;
    size_t n;
    FILE *out;
    size_t rows, batches;
};

static void print_cell(FILE *out, const struct ArrowArray *column, const char *format, int64_t row)
{
    const void *values = column->buffers[1];
    if (made_null(column, row)) {
        fputs("null", out);
    } else if (*format == 'u') {
        const int32_t *ends = values;
        fprintf(out, "%.*s", ends[row + 1] - ends[row], (const char *)column->buffers[2] + ends[row]);
    } else if (*format == 'b') {
        fprintf(out, "%d", ((const uint8_t *)values)[row / 8] >> row % 8 & 1);
    } else if (*format == 'd') {
        char text[DECIMAL_TEXT_MAX];
        int128_t units;
        memcpy(&units, (const char *)values + row * (int64_t)sizeof units, sizeof units);
        decimal_format(units, 18, text);
        fputs(text, out);
    } else if (*format == 'g') {
        fprintf(out, "%a", ((const double *)values)[row]);
    } else {
        fprintf(out, "%lld", (long long)((const int64_t *)values)[row]);
    }
    fputc(' ', out);
}

static void print_batch(struct taken *taken, const struct ArrowArray *batch, const struct ArrowSchema *schema)
{
    taken->rows += (size_t)batch->length;
    taken->batches++;
    for (int64_t i = 0; i < batch->length; i++) {
        for (int64_t k = 0; k < batch->n_children; k++) {
            fprintf(taken->out, "%s=", schema->children[k]->name);
            print_cell(taken->out, batch->children[k], schema->children[k]->format, i);
        }
        fputc('\n', taken->out);
    }
    for (int64_t k = 0; k < batch->n_children; k++) {
        int64_t nulls = 0;
        for (int64_t i = 0; i < batch->length; i++)
            nulls += made_null(batch->children[k], i);
        CHECK_INT(batch->children[k]->null_count, nulls);
    }
}

static int take_all(struct papertape_spark_backtest *run, size_t most, struct taken *taken)
{
    struct ArrowArray batch;
    struct ArrowSchema schema;
    memset(&batch, 0xa5, sizeof batch);
    int r;
    while ((r = papertape_spark_backtest_take(run, most, &batch, &schema, err, sizeof err)) == 1) {
        CHECK(batch.length > 0 && batch.length <= (int64_t)most);
        print_batch(taken, &batch, &schema);
        batch.release(&batch);
        schema.release(&schema);
    }
    return r;
}

/* All bars in batches of at most `piece` rows, or whole, for 0. */
static int run_over(const char *what, const char *const keys[], const char *const values[], size_t n,
                    int64_t piece, size_t most, struct taken *taken)
{
    struct papertape_spark_backtest *run = NULL;
    *taken = (struct taken){0};
    taken->out = open_memstream(&taken->text, &taken->n);
    int r = papertape_spark_backtest_open(what, keys, values, n, &run, err, sizeof err);
    for (int64_t from = 0; r == 0 && from < n_bars;) {
        struct ArrowArray batch;
        struct ArrowSchema schema;
        int64_t rows = piece > 0 ? random_between(&rng, 0, piece) : n_bars;
        rows = rows < n_bars - from ? rows : n_bars - from;
        made_batch(columns, COLUMNS, from, rows, &batch, &schema);
        r = papertape_spark_backtest_give(run, &batch, &schema, err, sizeof err);
        if (r == 0)
            r = take_all(run, most, taken);
        from += rows;
    }
    if (r == 0) {
        papertape_spark_backtest_end(run);
        r = take_all(run, most, taken);
    }
    papertape_spark_backtest_close(run);
    CHECK_INT(made_alive, 0);
    fclose(taken->out);
    return r;
}

#define RUN(what, piece, most, taken, ...) \
    ({ \
        static const char *const run_pairs_[][2] = {__VA_ARGS__}; \
        enum { RUN_N_ = sizeof run_pairs_ / sizeof *run_pairs_ }; \
        const char *run_keys_[RUN_N_], *run_values_[RUN_N_]; \
        for (int run_i_ = 0; run_i_ < RUN_N_; run_i_++) { \
            run_keys_[run_i_] = run_pairs_[run_i_][0]; \
            run_values_[run_i_] = run_pairs_[run_i_][1]; \
        } \
        run_over(what, run_keys_, run_values_, RUN_N_, piece, most, taken); \
    })

/* The same rows wherever the batches are cut, and however many are taken at once. */
static void test_pieces(void)
{
    static const char *const whats[] = {"figures", "trades", "rounds", "equity"};
    for (size_t w = 0; w < sizeof whats / sizeof *whats; w++) {
        struct taken whole, pieces;
        CHECK_INT(RUN(whats[w], 0, 1000000, &whole, {"strategy", "sma-cross:fast=3"}, {"set.slow", "9"}), 0);
        CHECK_INT(whole.batches, 1);
        for (int i = counts_of("pieces", 8, 3); i > 0; i--) {
            int64_t piece = random_between(&rng, 1, 1000);
            size_t most = (size_t)random_between(&rng, 1, 700);
            CHECK_INT(
                RUN(whats[w], piece, most, &pieces, {"strategy", "sma-cross:fast=3"}, {"set.slow", "9"}), 0);
            CHECK_INT(pieces.rows, whole.rows);
            CHECK(strcmp(pieces.text, whole.text) == 0);
            free(pieces.text);
        }
        CHECK(strcmp(whats[w], "figures") != 0 || whole.rows == SYMBOLS);
        CHECK(strcmp(whats[w], "equity") != 0 || whole.rows >= (size_t)n_bars);
        free(whole.text);
    }
    struct taken whole, pieces;
    CHECK_INT(RUN("sweep", 0, 1000000, &whole, {"strategy", "sma-cross"}, {"grid.fast", "2:6:2"},
                  {"grid.slow", "5,11"}, {"grid.average", "sma,ema"}),
              0);
    CHECK_INT(RUN("sweep", 77, 3, &pieces, {"strategy", "sma-cross"}, {"grid.fast", "2:6:2"},
                  {"grid.slow", "5,11"}, {"grid.average", "sma,ema"}),
              0);
    CHECK_INT(whole.rows, SYMBOLS * 10); /* fast=6 with slow=5 contradicts itself */
    CHECK(strcmp(pieces.text, whole.text) == 0);
    free(whole.text);
    free(pieces.text);
}

/* The engine on the symbol's file, as the verb runs it. */
static void run_file(int s, char hash[static 2 * LEDGER_HASH_SIZE + 1], double *ret_equity,
                     double *ret_sharpe)
{
    const char *path = files[s].path;
    const struct market_options options = {.no_cache = true};
    char why[MARKET_ERROR_MAX];
    uint8_t bytes[LEDGER_HASH_SIZE];
    struct market *market = NULL;
    struct backtest backtest;
    struct backtest_report report;
    struct backtest_terms terms;
    struct account_spec account;
    const struct report_config report_options = {.benchmark = REPORT_BENCHMARK_FIRST};
    CHECK_INT(market_store_load_files(&path, 1, &options, &market, NULL, why), 0);
    backtest_terms_init(&terms);
    CHECK_INT(backtest_terms_account(&terms, market, &account, why), 0);
    account.strategy = strategy_find("sma-cross");
    strategy_defaults(account.strategy, account.params);
    snprintf(account.name, sizeof account.name, "sma-cross");
    const struct backtest_config config = {.market = market,
                                           .to = market->rows,
                                           .accounts = &account,
                                           .n_accounts = 1,
                                           .latency_ns = terms.latency_ns,
                                           .slippage_e6 = terms.slippage_e6,
                                           .orders = true,
                                           .ledger = true};
    CHECK_INT(backtest_run(&config, &backtest, why, sizeof why), 0);
    CHECK_INT(backtest_audit(&backtest, market, &account, bytes, why, sizeof why), 0);
    CHECK_INT(backtest_report(&config, &backtest, 0, &report_options, &report), 0);
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(hash + 2 * i, 3, "%02x", bytes[i]);
    *ret_equity = report.final_equity;
    *ret_sharpe = report.metrics.sharpe;
    backtest_report_finish(&report);
    backtest_finish(&backtest);
    market_store_close(market);
}

static void test_files(void)
{
    struct taken taken;
    CHECK_INT(RUN("figures", 100, 2, &taken, {"strategy", "sma-cross"}), 0);
    const char *line = taken.text;
    for (int s = 0; s < SYMBOLS && line; s++) {
        char hash[2 * LEDGER_HASH_SIZE + 1], expected[256];
        double equity, sharpe;
        run_file(s, hash, &equity, &sharpe);
        const char *end = strchr(line, '\n');
        snprintf(expected, sizeof expected, "symbol=%s ", names[s]);
        CHECK(end && strncmp(line, expected, strlen(expected)) == 0);
        snprintf(expected, sizeof expected, " ledger_hash=%s ", hash);
        const char *found = strstr(line, expected);
        CHECK(found && found < end);
        snprintf(expected, sizeof expected, " equity=%a ", equity);
        found = strstr(line, expected);
        CHECK(found && found < end);
        snprintf(expected, sizeof expected, " sharpe=%a ", sharpe);
        found = strstr(line, expected);
        CHECK(isnan(sharpe) || (found && found < end));
        line = end ? end + 1 : NULL;
    }
    free(taken.text);
}

static void refused(int r, const char *words, struct taken *taken)
{
    CHECK_INT(r, -EINVAL);
    if (!strstr(err, words))
        fprintf(stderr, "  \"%s\" is not in \"%s\"\n", words, err);
    CHECK(strstr(err, words) != NULL);
    free(taken->text);
}

static void test_options(void)
{
    struct taken t;
    refused(RUN("figure", 0, 9, &t, {"strategy", "sma-cross"}), "figures, trades, rounds, equity or sweep",
            &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cros"}), "did you mean sma-cross?", &t);
    refused(RUN("figures", 0, 9, &t, {"cash", "100"}), "strategy: a strategy's name is needed", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"set.fst", "3"}), "did you mean fast?", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"set.fast", "60"}, {"set.slow", "50"}),
            "sma-cross: ", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"csh", "60"}),
            "csh: unknown option: did you mean cash?", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"cash", "much"}), "cash: \"much\"", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"risk.drawdwn", "0.2"}),
            "did you mean drawdown?", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"session", "regular"}),
            "session: it goes with calendar", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"interval", "7m"}), "interval: \"7m\"", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"way", "fast"}),
            "auto, engine or columns is needed", &t);
    refused(RUN("figures", 0, 9, &t, {"strategy", "sma-cross"}, {"grid.fast", "3"}), "grid: it is of a sweep",
            &t);
    refused(RUN("sweep", 0, 9, &t, {"strategy", "sma-cross"}), "grid: a parameter and its values are needed",
            &t);
    refused(RUN("sweep", 0, 9, &t, {"strategy", "sma-cross"}, {"grid.fast", "9:3"}),
            "lo:hi:step with lo <= hi", &t);
    refused(RUN("sweep", 0, 9, &t, {"strategy", "sma-cross"}, {"grid.fast", "3"}, {"metric", "shrp"}),
            "sortino", &t);
}

static void test_bars(void)
{
    struct taken t;
    null_close[5] = true;
    refused(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}), "ADAUSDT: bar 6: close is null", &t);
    null_close[5] = false;
    int64_t kept = time_us[7];
    time_us[7] = time_us[6];
    refused(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}), "one row a bar, not two of one time", &t);
    time_us[7] = kept;
    double high = prices[1][BARS + 3];
    prices[1][BARS + 3] = prices[2][BARS + 3] / 2;
    refused(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}), "high is below low: BTC: bar 4", &t);
    prices[1][BARS + 3] = high;
    symbol[400] = "AAA";
    refused(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}), "AAA comes after ADAUSDT", &t);
    symbol[400] = names[0];
    columns[5].name = "cloze";
    refused(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}), "column close is missing", &t);
    columns[5].name = "close";
}

/* A symbol of one bar fails, or is a row with the reason. */
static void test_short(void)
{
    struct taken t;
    int64_t all = n_bars;
    n_bars = BARS + 1;
    refused(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}),
            "BTC: no interval: BTC: at least two bars, or --interval", &t);
    refused(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}, {"interval", "1m"}),
            "BTC: sma-cross: there are 1 bars, fewer than the 30", &t);
    CHECK_INT(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}, {"errors", "rows"}), 0);
    CHECK_INT(t.rows, 2);
    CHECK(strstr(t.text, "symbol=BTC currency=null strategy=null"));
    CHECK(strstr(t.text, "error=no interval: BTC: at least two bars"));
    free(t.text);
    CHECK_INT(RUN("sweep", 50, 9, &t, {"strategy", "sma-cross"}, {"errors", "rows"}, {"interval", "1m"},
                  {"grid.fast", "2,3"}),
              0);
    CHECK_INT(t.rows, 3);
    CHECK(strstr(t.text, "error=grid: nothing was run"));
    free(t.text);
    n_bars = 0;
    CHECK_INT(RUN("figures", 50, 9, &t, {"strategy", "sma-cross"}), 0);
    CHECK_INT(t.rows, 0);
    free(t.text);
    n_bars = all;
}

int main(void)
{
    rng = random_seeded("spark/backtest", 31);
    draw();
    test_pieces();
    test_files();
    test_options();
    test_bars();
    test_short();
    papertape_spark_backtest_close(NULL);
    return check_done("spark/backtest");
}

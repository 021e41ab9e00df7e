/* Holding a symbol beside the account's equity: its closes against a look at every bar, what becomes of them
 * in the panel, and when they are read again. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history_reader.h"
#include "tui/keys.h"

static struct model *model;
static struct view view;
static const struct moment now = {fixture_now_ns, 1000000};
static const int64_t minute_ns = INT64_C(60) * 1000000000;

static void read_history(struct history_reader *reader)
{
    struct history_want want;
    char words[256];

    tui_view_want(&view, model, 200, &want);
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words)), 0);
    model->have_history = true;
}

/* The close of the newest bar that had ended then. */
static double close_at(int64_t at_ns)
{
    const struct history *h = &model->history;
    double close = NAN;

    for (int i = 0; i < h->n_bars; i++)
        if (h->bars[i].open_ns + minute_ns <= at_ns)
            close = h->bars[i].close;
    return close;
}

static void check_closes(struct history_reader *reader)
{
    const struct history_benchmark *b = &model->history.benchmark;
    const double fee = 0.001; /* what an account of the fixture's database pays as a taker */
    double first = NAN;
    int known = 0;

    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET; /* its bars are read too */
    read_history(reader);
    CHECK(!b->symbol[0] && isnan(tui_history_benchmark(b, fixture_now_ns)));
    CHECK_INT(tui_keys_press(&view, model, 80, 24, now, 'H'), ACTION_COLLECT);
    read_history(reader);
    CHECK_STR(b->symbol, "BTCUSDT");
    CHECK_STR(model->history.bars_interval, "1m");
    CHECK(b->n > HISTORY_BENCHMARK_MAX / 3 && b->n <= HISTORY_BENCHMARK_MAX);
    CHECK_INT(b->from_ns, model->history.equity[0].ts_ns);
    CHECK_INT(b->to_ns, model->history.equity[model->history.n_equity - 1].ts_ns);
    for (int i = 0; i < b->n; i++) {
        double want = close_at(b->from_ns + i * b->step_ns);
        CHECK(isnan(want) ? isnan(b->closes[i]) : b->closes[i] == want);
        first = isnan(first) ? want : first;
        known += isfinite(want);
    }
    CHECK(known > 4 && known < b->n); /* bars are of a part of the time alone */
    CHECK_NEAR(tui_history_benchmark(b, b->to_ns), close_at(b->to_ns) / first / (1 + fee), 1e-12);
    CHECK_STR(b->account, "main");
    CHECK(isnan(tui_history_benchmark(b, b->from_ns - 1)) && isnan(tui_history_benchmark(b, b->from_ns)));
}

/* Where the curve is longer by now, what is new is read alone, and at last every second close is dropped; of
 * a shorter one all of it. */
static void check_again(struct history_reader *reader)
{
    struct history_benchmark *b = &model->history.benchmark;
    int64_t *to_ns = &model->history.equity[model->history.n_equity - 1].ts_ns, end_ns = *to_ns;
    const int n = b->n;
    const int64_t step_ns = b->step_ns;

    b->closes[100] = 1; /* each stays */
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, "BTCUSDT"), 0);
    *to_ns += 5 * step_ns;
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, "BTCUSDT"), 0);
    CHECK(b->closes[100] == 1 && b->n == n + 5 && b->step_ns == step_ns && b->to_ns == *to_ns);
    for (int i = n; i < b->n; i++)
        CHECK_NEAR(b->closes[i], close_at(b->from_ns + i * step_ns), 0);
    b->newest = 1;
    ++*to_ns; /* no whole step */
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, "BTCUSDT"), 0);
    CHECK(b->n == n + 5 && b->newest == close_at(*to_ns));
    *to_ns = b->from_ns + 300 * step_ns;
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, "BTCUSDT"), 0);
    CHECK(b->closes[50] == 1 && b->n == 151 && b->step_ns == 2 * step_ns);
    *to_ns = end_ns;
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, "BTCUSDT"), 0);
    CHECK(b->closes[100] != 1 && b->n == n && b->step_ns == step_ns);
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, ""), 0);
    CHECK(!b->symbol[0] && b->n == 0);
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, "ABSENT"), 0);
    CHECK(b->n == 0 && isnan(tui_history_benchmark(b, b->to_ns)));
    CHECK_INT(tui_history_read_benchmark(reader, &model->history, "BTCUSDT"), 0);
    CHECK_INT(b->n, n);
}

static void check_panel(const char *golden)
{
    view.tab = TAB_POSITIONS;
    view.zoomed = PANEL_EQUITY;
    CHECK(picture_matches(golden, "equity-benchmark-80x24", model, &view, now, 80, 24, GLYPHS_BRAILLE));
    view.benchmark = false;
    char *text = picture_draw(model, &view, now, 80, 24, GLYPHS_ASCII);
    CHECK(text && !strstr(text, ": BTCUSDT"));
    free(text);
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    check_closes(reader);
    check_again(reader);
    check_panel(argv[1]);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/benchmark");
}

/* The equity's panel: the rows and columns of each day's profit or loss, of synthetic days; its return after
 * deposits; the labels of two curves, and of three, at all widths. */
#include <locale.h>

#include "cli/format.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tui/panel/panel.h"

enum { WIDTH = 60, HEIGHT_MAX = 70 };

static const int64_t day_ns = 86400 * INT64_C(1000000000);
static struct model *model;
static struct canvas canvas;
static enum glyphs glyphs = GLYPHS_BLOCK;
static int top; /* the first row of the days' part */

static void draw(int height)
{
    struct view view;
    struct moment now = {fixture_now_ns, 1000000};
    struct scene scene = {.model = model, .view = &view, .now = now, .real_now = now};

    tui_view_init(&view, true, 1000);
    CHECK_INT(tui_canvas_init(&canvas, WIDTH, height, glyphs), 0);
    struct area area = tui_canvas_area(&canvas);
    panel_draw(PANEL_EQUITY, &area, &scene);
    for (top = height - 1; top > 0 && tui_canvas_cell(&canvas, WIDTH - 4, top)->text[0] != L'─';)
        top--;
    while (top > 0 && tui_canvas_cell(&canvas, 11, top)->text[0] != L'e') /* "each day's profit or loss" */
        top--;
    top++;
}

/* The last n days up to now, each from an equity of 1000. */
static void put_days(const double *profits, int n)
{
    struct history *h = &model->history;

    h->n_equity = 0;
    for (int i = 0; i < n; i++) {
        int64_t ts_ns = fixture_now_ns - (n - 1 - i) * day_ns, day = ts_ns / day_ns;
        h->equity[h->n_equity++] = (struct history_equity){ts_ns, 1000 + profits[i], 1100};
        h->days[day % HISTORY_DAYS_MAX] = (struct history_day){day, profits[i]};
    }
}

/* How many cells of a column of the part are full and of that style. */
static int cells(int x, enum style style)
{
    int n = 0;

    for (int y = top; y < canvas.height; y++) {
        const struct cell *cell = tui_canvas_cell(&canvas, x, y);
        n += cell->text[0] == L'█' && cell->style == style;
    }
    return n;
}

static int most_cells(enum style style)
{
    int most = 0;

    for (int x = 0; x < WIDTH; x++)
        most = cells(x, style) > most ? cells(x, style) : most;
    return most;
}

/* A loss is as long as a profit of its amount, and half of one half as long. */
static void check_lengths(void)
{
    for (int height = 19; height <= HEIGHT_MAX; height++) {
        put_days((const double[]){100, -100, 100, -100, 0}, 5);
        draw(height);
        int most = most_cells(STYLE_UP);
        CHECK(most > 0);
        CHECK_INT(most_cells(STYLE_DOWN), most);
        tui_canvas_finish(&canvas);
        put_days((const double[]){100, -50, 0}, 3);
        draw(height);
        CHECK_INT(most_cells(STYLE_UP), most);
        CHECK_INT(most_cells(STYLE_DOWN), (most + 1) / 2);
        tui_canvas_finish(&canvas);
    }
}

/* Of more days than there are columns, the newest is in the last one. */
static void check_newest(void)
{
    double profits[200] = {[199] = -100};

    for (int n = 1; n <= 200; n++) {
        put_days(profits + 200 - n, n);
        draw(40);
        CHECK(n == 1 || cells(WIDTH - 2, STYLE_DOWN) > 0);
        tui_canvas_finish(&canvas);
    }
}

/* Where no peak is known, the drawdown has a gap: not 0 %, the top. */
static void check_unknown_peak(void)
{
    int filled[2] = {0};

    put_days((const double[20]){0}, 20);
    for (int i = 0; i < 10; i++)
        model->history.equity[i].peak = NAN;
    draw(40);
    for (int y = top - 2; tui_canvas_cell(&canvas, 11, y)->text[0] != L'd';
         y--) /* "dd: below the peak so far" */
        for (int x = 11; x < WIDTH - 1; x++)
            filled[x >= WIDTH / 2 + 6] += tui_canvas_cell(&canvas, x, y)->text[0] != L' ';
    CHECK_INT(filled[0], 0);
    CHECK(filled[1] > 0);
    tui_canvas_finish(&canvas);
    for (int i = 0; i < 20; i++)
        model->history.equity[i].peak = NAN;
    char *text = NULL;
    size_t size;
    draw(40);
    FILE *out = open_memstream(&text, &size);
    tui_canvas_print(&canvas, out);
    CHECK_INT(fclose(out), 0);
    CHECK(strstr(text, "max dd n/a") != NULL);
    free(text);
    tui_canvas_finish(&canvas);
}

/* The moment of a label: of a day "2024-08-08" or "08-08", else of the first such time from `from_ns` on. */
static int64_t label_ns(const char *text, int64_t from_ns)
{
    const int64_t second_ns = 1000000000;
    time_t from = from_ns / second_ns;
    int month, day, hour, minute;
    struct tm tm;

    gmtime_r(&from, &tm);
    tm.tm_sec = tm.tm_min = tm.tm_hour = 0;
    const bool dated =
        sscanf(text, "%*4d-%2d-%2d", &month, &day) == 2 || sscanf(text, "%2d-%2d", &month, &day) == 2;
    if (dated) {
        tm.tm_mon = month - 1;
        tm.tm_mday = day;
    }
    const char *colon = strchr(text, ':');
    int64_t ns = timegm(&tm) * second_ns;
    if (colon && sscanf(colon - 2, "%2d:%2d", &hour, &minute) == 2)
        ns += (hour * 60 + minute) * 60 * second_ns;
    return !dated && ns < from_ns ? ns + day_ns : ns;
}

/* Below a curve with its drawdown there are times: each at the column of its moment. */
static void check_times(void)
{
    static const int days[] = {2, 3, 7, 30, 90};
    const double profits[90] = {0};

    for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++)
        for (int height = 12; height <= 40; height += 7) {
            const int64_t from_ns = fixture_now_ns - (days[i] - 1) * day_ns;
            int64_t at_ns = from_ns;
            int labels = 0;
            put_days(profits, days[i]);
            draw(height);
            for (int x = 11; x < WIDTH; x++) {
                char text[12] = "";
                if (tui_canvas_cell(&canvas, x, height - 1)->text[0] != L'└')
                    continue;
                for (int k = 0, at = x + 1; k < 11 && at < WIDTH; k++, at++) {
                    const wchar_t c = tui_canvas_cell(&canvas, at, height - 1)->text[0];
                    text[k] = c == L'└' ? '\0' : (char)c;
                    if (!text[k])
                        break;
                }
                at_ns = label_ns(text, at_ns);
                const double share = (double)(at_ns - from_ns) / (double)(fixture_now_ns - from_ns);
                CHECK_NEAR(x - 11, floor(share * (WIDTH - 12)), 1.01);
                labels++;
            }
            CHECK(height == 12 ? labels == 0 : labels >= 3);
            tui_canvas_finish(&canvas);
        }
}

/* Of many points a column, one that stands out has its place: the chart's first row, or its last. */
static void check_extremes(void)
{
    enum { N = 1500, HEIGHT = 11 };
    struct history *h = &model->history;

    for (int up = 0; up < 2; up++)
        for (int at = 1; at < N - 1; at += 37) {
            int found = 0;
            h->n_equity = 0;
            for (int i = 0; i < N; i++)
                h->equity[h->n_equity++] = (struct history_equity){fixture_now_ns - (N - i) * day_ns / N,
                                                                   i == at ? (up ? 1200 : 900)
                                                                   : i % 2 ? 1050
                                                                           : 1051,
                                                                   NAN};
            glyphs = GLYPHS_BRAILLE;
            draw(HEIGHT);
            for (int x = 11; x < WIDTH - 1; x++)
                found += tui_canvas_cell(&canvas, x, up ? 1 : HEIGHT - 1)->text[0] != L' ';
            CHECK(found > 0);
            tui_canvas_finish(&canvas);
        }
    glyphs = GLYPHS_BLOCK;
}

/* The whole text of a panel, for free(). */
static char *panel_text(enum panel panel, int height)
{
    struct view view;
    struct moment now = {fixture_now_ns, 1000000};
    struct scene scene = {.model = model, .view = &view, .now = now, .real_now = now};
    char *text = NULL;
    size_t size;

    tui_view_init(&view, true, 1000);
    CHECK_INT(tui_canvas_init(&canvas, 100, height, glyphs), 0);
    struct area area = tui_canvas_area(&canvas);
    panel_draw(panel, &area, &scene);
    FILE *out = open_memstream(&text, &size);
    tui_canvas_print(&canvas, out);
    CHECK_INT(fclose(out), 0);
    tui_canvas_finish(&canvas);
    return text;
}

/* After money came and went, the curve of all has the return that the header and the account have; one of a
 * span the return on its first point and what came since. */
static void check_transfers(void)
{
    struct history *h = &model->history;
    struct status_account *account = &model->status.accounts[0];
    const struct status_account kept = *account;
    struct random random = random_seeded("tui/equity_panel", 5);

    for (int i = 0; i < 200; i++) {
        const double put_in = (double)random_between(&random, 100, 2000000) / 100;
        const double equity = put_in * (double)random_between(&random, 2, 30000) / 10000;
        const double before = put_in * (double)random_between(&random, 1, 99) / 100;
        char words[FORMAT_MAX], percent[FORMAT_MAX];
        account->equity = equity;
        account->deposits = put_in;
        account->return_pct = account_return_pct(equity, put_in);
        snprintf(percent, sizeof(percent), " %s ",
                 cli_format_percent(words, 100 * (equity - put_in) / put_in, 2));
        h->n_equity = 0;
        h->equity[h->n_equity++] = (struct history_equity){fixture_now_ns - day_ns, before, put_in};
        h->equity[h->n_equity++] = (struct history_equity){fixture_now_ns - day_ns / 2, equity, put_in};
        for (int all = 0; all < 2; all++) {
            h->equity_span = all ? SPAN_ALL : SPAN_DAY;
            h->equity_flows = all ? put_in : put_in - before;
            const enum panel panels[] = {PANEL_EQUITY, PANEL_HEADER, PANEL_ACCOUNTS};
            for (int k = 0; k < 3; k++) {
                char *text = panel_text(panels[k], k == 0 ? 12 : k == 1 ? 1 : 4);
                if (!strstr(text, percent))
                    fprintf(stderr, "no \"%s\" in:\n%s", percent, text);
                CHECK(strstr(text, percent) != NULL);
                free(text);
            }
        }
    }
    h->equity_span = SPAN_DAY;
    h->equity_flows = 0;
    *account = kept;
}

/* Is a cell below the rule, from row y on, drawn in that style? */
static bool drawn(int y, enum style style)
{
    for (; y < canvas.height; y++)
        for (int x = 0; x < canvas.width; x++) {
            const struct cell *cell = tui_canvas_cell(&canvas, x, y);
            if (cell->style == style && cell->text[0] != L' ' && cell->text[0] != L'\0')
                return true;
        }
    return false;
}

/* The words of a row, without what is not ASCII. */
static const char *row_words(int y)
{
    static char words[512];
    int n = 0;

    for (int x = 0; x < canvas.width; x++) {
        const wchar_t c = tui_canvas_cell(&canvas, x, y)->text[0];
        words[n++] = c > 0 && c < 128 ? (char)c : ' ';
    }
    words[n] = '\0';
    return words;
}

/* The panel in that size: a curve beside the account's is drawn only with its label, above the drawdown as
 * well; and where no backtest's is, the gain has its place. */
static void check_labelled(const struct view *view, int width, int height, bool stale, int *ret_drawn)
{
    struct moment now = {fixture_now_ns, stale ? 1100000 : 1000000};
    struct scene scene = {.model = model, .view = view, .now = now, .real_now = now};
    int below = 0;

    CHECK_INT(tui_canvas_init(&canvas, width, height, glyphs), 0);
    struct area area = tui_canvas_area(&canvas);
    panel_draw(PANEL_EQUITY, &area, &scene);
    const bool both = drawn(1, STYLE_LINE), holds = drawn(1, STYLE_LINE_3);
    const char *words = row_words(0);
    bool right = (!both || (strstr(words, "live") && strstr(words, ".. backtest"))) &&
                 (!holds || strstr(words, ": BTCUSDT "));
    if (!strstr(words, ".. backtest") && width >= 39)
        right = right && strstr(words, stale ? " STALE " : " +10.00 ") != NULL;
    for (int y = 1; y < height; y++)
        below = strstr(row_words(y), "max dd") ? y : below;
    if (below > 0 && drawn(below + 1, STYLE_LINE))
        right = right && strchr(strstr(row_words(below), ".. backtest"), '%');
    if (!right) {
        fprintf(stderr, "%d x %d, backtest %d, benchmark %d:\n", width, height, both, holds);
        tui_canvas_print(&canvas, stderr);
    }
    CHECK(right);
    ret_drawn[0] += both;
    ret_drawn[1] += holds;
    tui_canvas_finish(&canvas);
}

static void check_labels(void)
{
    struct history *h = &model->history;
    struct backtest_view *tested = &model->backtest;
    double *equity = &model->status.accounts[0].equity, kept = *equity;
    struct view view;

    *equity = 1010;
    put_days((const double[]){0, 40, -30, 60, -20, 0}, 6);
    tui_view_init(&view, true, 1000);
    view.benchmark = true;
    h->benchmark = (struct history_benchmark){
        .from_ns = h->equity[0].ts_ns, .to_ns = fixture_now_ns, .n = 2, .newest = 1.2};
    h->benchmark.step_ns = (fixture_now_ns - h->equity[0].ts_ns) / 2;
    strcpy(h->benchmark.symbol, "BTCUSDT");
    h->benchmark.closes[0] = 1;
    h->benchmark.closes[1] = 1.1;
    tested->state = BACKTEST_DONE;
    strcpy(tested->account, "main");
    for (int i = 0; i < h->n_equity; i++)
        tested->curve[tested->n_curve++] =
            (struct history_equity){h->equity[i].ts_ns, i % 2 ? 990 : 1080, 1080};
    for (int stale = 0; stale < 2; stale++)
        for (enum glyphs each = GLYPHS_ASCII; each <= GLYPHS_BRAILLE; each++) {
            int n[2] = {0};
            glyphs = each;
            for (int width = 10; width <= 200; width++)
                for (int height = 3; height <= 40; height += width % 10 == 9 ? 1 : 12)
                    check_labelled(&view, width, height, stale, n);
            CHECK(n[0] > 50 && n[1] > 50);
        }
    glyphs = GLYPHS_BLOCK;
    *equity = kept;
    tested->state = BACKTEST_NONE;
    tested->n_curve = 0;
    h->benchmark = (struct history_benchmark){.newest = NAN};
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    model = tui_model_create(1000);
    json_t *status = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, status, (struct moment){fixture_now_ns, 1000000}), 0);
    json_decref(status);
    strcpy(model->history.equity_account, "main");
    check_lengths();
    check_newest();
    check_unknown_peak();
    check_times();
    check_extremes();
    check_transfers();
    check_labels();
    tui_model_destroy(model);
    return check_done("tui/equity_panel");
}

/* The pages of sweeps: suggested ranges and the command lines of the form, what is read of a sweep's folder
 * in each of its states, the cells of the heat map by medians that are computed here, filters and order, each
 * of the keys that the table names, clicks, and what it all looks like. */
#include "tui/sweep_page.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/heat.h"
#include "tui/key_table.h"
#include "tui/keys.h"
#include "tui/mouse.h"

#define DONE    "001723161255342"
#define STOPPED "001723161300000"
#define FAILED  "001723161310000"
#define RUNNING "001723161320000"

static const char *golden;
static char cache[SCRATCH_PATH_MAX];
static struct model *model;
static struct view view;
static int lock;
static const struct moment now = {1723161355342000000, 1000000};

/* ---- folders of sweeps ---- */

static void put(const char *id, const char *file, const char *text)
{
    char path[2 * SCRATCH_PATH_MAX];

    snprintf(path, sizeof(path), "%s/papertape/dashboard-sweeps/%s/%s", cache, id, file);
    FILE *out = fopen(path, "w");
    CHECK(out && fputs(text, out) >= 0 && fclose(out) == 0);
}

static void make(const char *id, const char *fields)
{
    char path[2 * SCRATCH_PATH_MAX], text[1024];

    snprintf(path, sizeof(path), "%s/papertape", cache);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/papertape/dashboard-sweeps", cache);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/papertape/dashboard-sweeps/%s", cache, id);
    CHECK_INT(mkdir(path, 0700), 0);
    snprintf(text, sizeof(text),
             "{\"schema\":\"papertape.dashboard_sweep/1\",\"started_ms\":%lld,\"fields\":%s}", atoll(id),
             fields);
    put(id, "fields.json", text);
    put(id, "lock", "");
}

/* A Sharpe ratio of 0.1 for each bar of fast, less 0.01 for each of slow; sets of 15 and 12 contradict
 * themselves, and one never traded. */
static double sharpe_of(int fast, int slow)
{
    return fast == 5 && slow == 20 ? NAN : 0.1 * fast - 0.01 * slow;
}

static void put_rows(const char *id)
{
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof(text),
                                 "fast,slow,average,sharpe,sortino,calmar,cagr,return,max_drawdown,omega,"
                                 "profit_factor,expectancy,sqn,win_rate,equity,fees,exposure,trades,fills,"
                                 "rejected,dsr,exact,stopped\n");

    for (int fast = 15; fast >= 5; fast -= 5)
        for (int slow = 12; slow <= 36; slow += 8)
            for (int average = 0; average < 2 && fast < slow; average++) {
                double sharpe = sharpe_of(fast, slow) + (average ? 0.5 : 0);
                at += (size_t)snprintf(text + at, sizeof(text) - at, "%d,%d,%s,", fast, slow,
                                       average ? "sma" : "ema");
                if (!isnan(sharpe))
                    at += (size_t)snprintf(text + at, sizeof(text) - at, "%.17g", sharpe);
                at += (size_t)snprintf(text + at, sizeof(text) - at,
                                       ",,,0.02,0.0%d,-0.1%d,,,,,0.4,10%d00.5,1,0.5,%d,9,0,%.4f,true,false\n",
                                       fast, slow, fast, 100 - fast, isnan(sharpe) ? 0 : sharpe / 4);
            }
    put(id, "rows.csv", text);
}

static size_t put_best(char *text, size_t size, int rank, int fast, int slow, double sharpe)
{
    return (size_t)snprintf(
        text, size,
        "%s{\"params\":{\"fast\":%d.0,\"slow\":%d.0,\"average\":\"sma\"},\"dsr\":%.4f,\"return_pct\":%d.25,"
        "\"sharpe\":%.3f,\"max_drawdown_pct\":-1%d.5,\"trades\":%d,\"beside\":8,\"beside_hold\":%d,"
        "\"sharpe_fees_twice\":%.3f,\"sharpe_more_slippage\":%s,\"periods_sharpe_median\":%.2f,\"periods_above_0\":%d}",
        rank > 1 ? "," : "", fast, slow, 0.9 - 0.1 * rank, 7 - 3 * rank, sharpe, rank, 100 - fast, 8 - rank,
        sharpe - 0.5, rank == 3 ? "null" : "0.125", sharpe - 1, 6 - rank);
}

static void put_result(const char *id, bool stopped)
{
    char text[4096];
    size_t at = (size_t)snprintf(
        text, sizeof(text),
        "{\"schema\":\"papertape.sweep/1\",\"strategy\":\"sma-cross\",\"metric\":\"dsr\",\"combinations\":24,"
        "\"runs\":%d,\"runs_exact\":12,%s\"few_trades\":2,\"seconds\":1.25,\"stopped\":%s,\"luck\":{\"verdict\":\"%s\",\"pbo\":0.625,"
        "\"words\":[\"%s\",\"Of 20 distinct sets without skill the best would be expected to show a Sharpe of "
        "1.91\\nover 2.00 years; the best here shows 1.88.\",\"PBO 62.5 %%: so often what was best in one half of "
        "the rows was below the median in the other, as a coin would be.\\nIt lost there in 53.0 %% of all "
        "halves.\"]},\"top\":[",
        stopped ? 11 : 20,
        stopped ? ""
                : "\"screened\":true,\"periods\":{\"days\":30,\"sampling\":\"sobol\",\"seed\":1,"
                  "\"windows\":[{},{},{},{},{},{},{},{}]},",
        stopped ? "true" : "false", stopped ? "stopped" : "luck",
        stopped
            ? "No verdict: stopped: 11 of 24 sets are done, and the figures here, the order too, are of these alone."
            : "No more than luck: the best has a deflated Sharpe ratio of 0.8000; above 0.99 it would be more.");

    for (int i = 1; i <= 3; i++)
        at += put_best(text + at, sizeof(text) - at, i, 15, 12 + 8 * i, sharpe_of(15, 12 + 8 * i) + 0.5);
    snprintf(text + at, sizeof(text) - at, "]}\n");
    put(id, "result.json", text);
}

static void make_sweeps(void)
{
    char path[2 * SCRATCH_PATH_MAX];

    make(
        DONE,
        "{\"strategy\":\"sma-cross\",\"bars\":\"/data/bars/BTCUSDT_5m.csv.gz\",\"metric\":\"dsr\",\"top\":\"3\","
        "\"fee-taker\":\"0.001\",\"samples\":\"9\",\"options\":\"--shorts --sampling sobol "
        "--calendar nyse --screen --periods 8 --period-days=30\",\"param fast\":\"5:15:5\","
        "\"param slow\":\"12:36:8\",\"param average\":\"sma,ema\",\"param fraction\":\"0.5\"}");
    put_rows(DONE);
    put_result(DONE, false);
    make(STOPPED, "{\"strategy\":\"sma-cross\",\"bars\":\"/data/ETHUSDT_1h.csv\"}");
    put_rows(STOPPED);
    put_result(STOPPED, true);
    make(FAILED, "{\"strategy\":\"triple-confirmation\",\"bars\":\"/data/none.csv\"}");
    put(FAILED, "progress",
        "papertape: sweep: note: of nothing\npapertape: sweep: /data/none.csv: No such file or directory\n");
    make(
        RUNNING,
        "{\"strategy\":\"exec:python3 mine.py\",\"bars\":\"/data/ETHUSDT_1h.csv,/data/BTCUSDT_1h.csv\","
        "\"options\":\"--backend gpu --periods 8 --period-days 30 --universe 'volume>1e6; top 10 by volume' --yes\"}");
    put(RUNNING, "progress",
        "{\"schema\":\"papertape.sweep_progress/1\",\"stage\":\"sets\",\"done\":3,\"of\":806,\"seconds\":1.5,\"left_s\":null,"
        "\"best\":null}\n"
        "papertape: sweep: note: a line between\n"
        "{\"schema\":\"papertape.sweep_progress/1\",\"stage\":\"sets\",\"done\":328,\"of\":806,\"seconds\":61.5,\"left_s\":89.6,"
        "\"best\":{\"params\":{\"fast\":5.0},\"text\":\"fast=5 slow=100\",\"metric\":\"sharpe\",\"value\":1.2345,\"trades\":319}}\n"
        "{\"schema\":\"papertape.sweep_pro");
    snprintf(path, sizeof(path), "%s/papertape/dashboard-sweeps/" RUNNING "/lock", cache);
    lock = open(path, O_RDWR | O_CLOEXEC);
    CHECK(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0);
}

/* ---- keys ---- */

static enum action press(int key)
{
    enum action action = tui_keys_press(&view, model, 80, 24, now, key);

    if (view.sweeps) {
        tui_sweep_list_read(&view.sweeps->list);
        tui_sweep_page_read(view.sweeps);
    }
    return action;
}

static void type(const char *text)
{
    for (; *text; text++)
        press(*text);
}

/* The list, with the cursor on a sweep. */
static void begin(const char *id)
{
    tui_view_finish(&view);
    tui_view_init(&view, true, 1000); /* --readonly: it changes nothing of the daemon's */
    CHECK_INT(press('U'), ACTION_SWEEPS);
    CHECK(view.sweeps && view.sweeps->wants == SWEEP_WANTS_READ);
    view.sweeps->wants = 0;
    for (int i = 0; i < view.sweeps->list.n && strcmp(view.sweeps->chosen, id) != 0; i++)
        press('j');
    CHECK_STR(view.sweeps->chosen, id);
}

static void begin_table(const char *id)
{
    begin(id);
    press(PRESS_ENTER);
    CHECK_INT(view.sweeps->mode, SWEEP_TABLE);
}

/* ---- the form ---- */

static void check_suggestions(void)
{
    static const struct {
        struct sweep_param param;
        const char *range;
    } cases[] = {
        {{.fallback = 10, .low = 1, .high = 1000, .integer = true}, "6:20:2"},
        {{.fallback = 30, .low = 2, .high = 5000, .integer = true}, "15:60:5"},
        {{.fallback = 14, .low = 2, .high = 20, .integer = true}, "8:20:2"},
        {{.fallback = 2, .low = 1, .high = 5, .integer = true}, "1:4:1"},
        {{.fallback = 1, .low = 1, .high = 1, .integer = true}, "1:1:1"},
        {{.fallback = 0, .low = 0, .high = 100, .integer = true}, "0:4:1"},
        {{.fallback = 0.02, .low = 0, .high = 1}, "0.01:0.04:0.005"},
        {{.fallback = -30, .low = -100, .high = 0}, "-45:0:5"},
        {{.words = "sma ema", .word = "sma"}, "sma,ema"},
    };
    char range[SWEEP_VALUE_MAX];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_STR(tui_sweep_form_suggest(&cases[i].param, range), cases[i].range);
}

static void check_sets(void)
{
    struct sweep_form *form = tui_sweep_form_create("");

    CHECK_STR(tui_sweep_form_value(form, "strategy"), "sma-cross");
    CHECK_STR(tui_sweep_form_value(form, "param fast"), "6:20:2");
    CHECK_STR(tui_sweep_form_value(form, "param fraction"), "");
    CHECK(isnan(tui_sweep_form_sets(form)) && strstr(form->words, "bars"));
    tui_sweep_form_put(form, "bars", "x.csv");
    CHECK_NEAR(tui_sweep_form_sets(form), 80, 0);
    tui_sweep_form_put(form, "param average", "sma,ema");
    CHECK_NEAR(tui_sweep_form_sets(form), 160, 0);
    tui_sweep_form_put(form, "samples", "12");
    CHECK_NEAR(tui_sweep_form_sets(form), 12, 0);
    tui_sweep_form_put(form, "samples", "1.5");
    CHECK(isnan(tui_sweep_form_sets(form)) && strstr(form->words, "samples: a whole number"));
    tui_sweep_form_put(form, "samples", "");
    tui_sweep_form_put(form, "param fast", "0:3:1");
    CHECK(isnan(tui_sweep_form_sets(form)) && strstr(form->words, "fast"));
    tui_sweep_form_put(form, "param fast", "");
    tui_sweep_form_put(form, "param slow", "50");
    tui_sweep_form_put(form, "param average", "");
    CHECK(isnan(tui_sweep_form_sets(form)) && strstr(form->words, "a range is needed"));
    tui_sweep_form_put(form, "strategy", "exec:x");
    CHECK(!tui_sweep_form_describe(form) && isnan(tui_sweep_form_sets(form)));
    CHECK(!tui_sweep_form_take(form, "{}"));
    CHECK(tui_sweep_form_take(
        form, "{\"strategies\":[{\"name\":\"mine\",\"params\":[{\"name\":\"n\",\"summary\":\"bars\","
              "\"integer\":true,\"default\":8,\"min\":1,\"max\":99},{\"name\":\"side\",\"summary\":"
              "\"which\",\"default\":\"long\",\"words\":[\"long\",\"both\"]}]}]}"));
    CHECK_STR(tui_sweep_form_value(form, "param n"), "4:16:2");
    CHECK_NEAR(tui_sweep_form_sets(form), 7, 0);
    tui_sweep_form_put(form, "param side", "long,both");
    CHECK_NEAR(tui_sweep_form_sets(form), 14, 0);
    tui_sweep_form_put(form, "param side", "long,none");
    CHECK(isnan(tui_sweep_form_sets(form)));
    tui_sweep_form_destroy(form);
}

static void check_lines(void)
{
    struct sweep_argv argv = {0};
    char line[1024];

    begin(DONE);
    const struct sweep_entry *entry = tui_sweep_page_chosen(view.sweeps);
    tui_sweep_argv_sweep(&argv, entry->fields);
    tui_sweep_argv_line(&argv, line, sizeof(line));
    CHECK_STR(
        line,
        "papertape sweep --strategy sma-cross --grid fast=5:15:5 --grid slow=12:36:8 --grid average=sma,ema --set "
        "fraction=0.5 --bars /data/bars/BTCUSDT_5m.csv.gz --fee-taker 0.001 --metric dsr --samples 9 --top 3 "
        "--shorts --sampling sobol --calendar nyse --screen --periods 8 --period-days=30");
    tui_sweep_argv_finish(&argv);
    tui_sweep_argv_plan(&argv, entry->fields);
    tui_sweep_argv_line(&argv, line, sizeof(line));
    CHECK(strstr(line,
                 "--samples 9 --top 3 --shorts --sampling sobol --calendar nyse --periods 8 --period-days=30 "
                 "--dry-run --json"));
    tui_sweep_argv_finish(&argv);
    tui_sweep_argv_run(&argv, entry->fields, "fast=5 slow=20 average=ema");
    tui_sweep_argv_line(&argv, line, sizeof(line));
    CHECK_STR(
        line,
        "papertape backtest --strategy sma-cross --set fraction=0.5 --bars /data/bars/BTCUSDT_5m.csv.gz "
        "--fee-taker 0.001 --shorts --calendar nyse --set fast=5 --set slow=20 --set average=ema");
    CHECK(!argv.words[argv.n]);
    tui_sweep_argv_finish(&argv);
    begin(RUNNING);
    tui_sweep_argv_sweep(&argv, tui_sweep_page_chosen(view.sweeps)->fields);
    tui_sweep_argv_line(&argv, line, sizeof(line));
    CHECK(strstr(line, "--backend gpu"));
    tui_sweep_argv_finish(&argv);
    tui_sweep_argv_plan(&argv, tui_sweep_page_chosen(view.sweeps)->fields);
    tui_sweep_argv_line(&argv, line, sizeof(line));
    CHECK(strstr(line, "--dry-run") && !strstr(line, "--backend"));
    tui_sweep_argv_finish(&argv);
    tui_sweep_argv_run(&argv, tui_sweep_page_chosen(view.sweeps)->fields, "");
    tui_sweep_argv_line(&argv, line, sizeof(line));
    CHECK_STR(
        line,
        "papertape backtest --strategy 'exec:python3 mine.py' --bars /data/ETHUSDT_1h.csv,/data/BTCUSDT_1h.csv "
        "--universe 'volume>1e6; top 10 by volume'");
    tui_sweep_argv_finish(&argv);
    tui_sweep_argv_add(&argv, "exec:it's $HOME", "volume>1e6");
    tui_sweep_argv_line(&argv, line, sizeof(line));
    CHECK_STR(line, "'exec:it'\\''s $HOME' 'volume>1e6'");
    tui_sweep_argv_line(&argv, line, 8);
    CHECK_STR(line, "'exec:i");
    tui_sweep_argv_finish(&argv);
}

/* Planned, then started; one that takes long is asked about, and its answer counts alone. */
static void check_start(void)
{
    static const char *const plan =
        "{\"schema\":\"papertape.sweep_plan/1\",\"asked\":80,\"left\":72,\"seconds\":%s,\"asks_above_s\":60}";
    char text[256];

    for (int turn = 0; turn < 4; turn++) {
        begin(DONE);
        press('s');
        struct sweep_page *page = view.sweeps;
        tui_sweep_form_put(page->form, "bars", "x.csv");
        CHECK_INT(press(PRESS_ENTER), ACTION_SWEEPS);
        CHECK_INT(page->wants, SWEEP_WANTS_PLAN);
        CHECK_INT(page->plan.state, SWEEP_PLANNING);
        page->wants = 0;
        snprintf(text, sizeof(text), plan, turn == 0 ? "59.9" : "61.5");
        tui_sweep_page_planned(page, turn == 3 ? NULL : text, turn == 3 ? "no such file" : NULL);
        CHECK_INT(page->plan.state, turn == 3 ? SWEEP_PLAN_FAILED : SWEEP_PLANNED);
        CHECK_INT(page->asks, turn == 1 || turn == 2 ? SWEEP_ASKS_LONG : SWEEP_ASKS_NOTHING);
        if (turn == 1 || turn == 2)
            press(turn == 1 ? 'y' : 'Y');
        CHECK_INT(page->wants, turn < 2 ? SWEEP_WANTS_START : 0);
    }
    begin(DONE);
    press('s');
    tui_sweep_form_put(view.sweeps->form, "bars", "x.csv");
    press(PRESS_F5);
    CHECK_INT(view.sweeps->plan.state, SWEEP_PLANNING);
    type("m"); /* the plan is of other values, then */
    snprintf(text, sizeof(text), plan, "59.9");
    tui_sweep_page_planned(view.sweeps, text, NULL);
    CHECK_INT(view.sweeps->plan.state, SWEEP_UNPLANNED);
    begin(DONE);
    press('s');
    press(PRESS_ENTER); /* without bars: nothing */
    CHECK_INT(view.sweeps->wants, 0);
    CHECK(strstr(view.sweeps->form->words, "bars"));
    type("mine"); /* another strategy: it is described first */
    press(PRESS_DOWN);
    CHECK_INT(view.sweeps->wants, SWEEP_WANTS_DESCRIPTION);
}

/* ---- what is read ---- */

/* What was asked for beside the sets, while it runs and with what came of it; options without a value, and
 * in either form. */
static void check_asked_for(void)
{
    static const struct {
        const char *fields, *result, *words;
    } cases[] = {
        {"{\"samples\":\"40\"}", NULL, "40 samples at random"},
        {"{\"options\":\"--samples=7 --sampling sobol\"}", NULL, "7 samples by Sobol's sequence"},
        {"{\"options\":\"--screen\"}", NULL, "screened first"},
        {"{\"options\":\"--screen\"}", "{\"runs\":4,\"screened\":false}",
         "not covered by the screen: all run exactly"},
        {"{\"options\":\"--backend=gpu\"}", "{\"runs\":4,\"runs_exact\":2,\"screened\":true}",
         "screened on the GPU, 2 run exactly"},
        {"{\"options\":\"--universe top-10\"}", "{\"runs\":4,\"universe\":{\"rule\":\"top 10 by volume\"}}",
         "universe top 10 by volume"},
        {"{\"options\":\"--periodsx 8 --period-days 30 --screener\"}", NULL, ""},
        {"{\"options\":\"--periods\"}", NULL, ""},
        {"{\"options\":\"--universe 'open\"}", NULL, ""},
        {"{}", "{\"runs\":4}", ""},
    };
    char words[512];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sweep_entry entry = {.fields = json_loads(cases[i].fields, 0, NULL), .outcome = {.runs = -1}};
        json_t *result = cases[i].result ? json_loads(cases[i].result, 0, NULL) : NULL;
        if (result)
            tui_sweep_outcome_take(&entry.outcome, result);
        CHECK_STR(tui_sweep_entry_asked(&entry, words, sizeof(words)), cases[i].words);
        json_decref(result);
        json_decref(entry.fields);
    }
    begin(DONE);
    CHECK_STR(
        tui_sweep_entry_asked(tui_sweep_page_chosen(view.sweeps), words, sizeof(words)),
        "9 samples by Sobol's sequence; screened, 12 run exactly; 8 periods of 30 days: best above 0 in 5, median Sharpe 0.80");
    begin(RUNNING);
    CHECK_STR(tui_sweep_entry_asked(tui_sweep_page_chosen(view.sweeps), words, sizeof(words)),
              "screened on the GPU first; then 8 periods of 30 days; universe volume>1e6; top 10 by volume");
    CHECK_STR(tui_sweep_entry_asked(tui_sweep_page_chosen(view.sweeps), words, 9), "screened");
}

/* Another dashboard that asks at the same time is no sweep that runs. */
static void check_asked(void)
{
    char path[PATH_MAX];

    CHECK(tui_sweep_path(DONE, "lock", path));
    const int other = open(path, O_RDWR | O_CLOEXEC);
    CHECK(other >= 0 && flock(other, LOCK_SH | LOCK_NB) == 0);
    CHECK(!tui_sweep_is_running(DONE));
    close(other);
}

static void check_states(void)
{
    begin(DONE);
    const struct sweep_list *list = &view.sweeps->list;
    CHECK_INT(list->n, 4);
    static const enum sweep_state states[] = {SWEEP_RUNNING, SWEEP_FAILED, SWEEP_STOPPED, SWEEP_DONE};
    for (int i = 0; i < 4; i++)
        CHECK_INT(list->entries[i].state, states[i]);
    CHECK_INT(list->entries[0].so_far.done, 328);
    CHECK_NEAR(list->entries[0].so_far.left_s, 89.6, 1e-9);
    CHECK_STR(list->entries[0].so_far.set, "fast=5 slow=100");
    CHECK_STR(list->entries[1].complaint, "/data/none.csv: No such file or directory");
    CHECK_STR(list->entries[3].outcome.verdict, "luck");
    CHECK_STR(
        list->entries[3].outcome.sentences[1],
        "Of 20 distinct sets without skill the best would be expected to show a Sharpe of 1.91 over 2.00 years; the best "
        "here shows 1.88.");
    CHECK_INT(list->entries[3].started_ns, INT64_C(1723161255342000000));
    CHECK(!tui_sweep_is_running(DONE) && tui_sweep_is_running(RUNNING));
    check_asked();
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median over the axis that is not shown, and the best of a cell. */
static void check_map(void)
{
    begin_table(DONE);
    press('m');
    struct sweep_page *page = view.sweeps;
    struct sweep_map *map = &page->map;
    CHECK_INT(page->mode, SWEEP_MAP);
    CHECK_INT(map->metric, SWEEP_DSR);
    while (map->metric != SWEEP_SHARPE)
        press('i');
    CHECK_INT(map->along.n, 3);
    CHECK_INT(map->up.n, 4);
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 3; column++) {
            const int fast = 5 + 5 * column, slow = 12 + 8 * row;
            const struct sweep_cell *cell = &map->cells[row][column];
            double sharpe = sharpe_of(fast, slow);
            CHECK_INT(cell->sets, fast < slow ? 2 : 0);
            if (fast < slow && !isnan(sharpe))
                CHECK_NEAR(cell->value, sharpe + 0.25, 1e-12);
            else
                CHECK(isnan(cell->value));
            if (fast < slow && !isnan(sharpe))
                CHECK_NEAR(page->detail.runs[cell->best].metrics[SWEEP_SHARPE], sharpe + 0.5, 1e-12);
        }
    CHECK_INT(page->detail.axes[2].n_words, 2);
    press(']'); /* the next one is what goes up: they change places */
    CHECK(map->x == 1 && map->y == 0);
    press(']');
    CHECK(map->x == 2 && map->y == 0 && map->along.n == 2 && map->up.n == 3);
    double own[3] = {sharpe_of(15, 36), sharpe_of(15, 20), sharpe_of(15, 28)};
    qsort(own, 3, sizeof(own[0]), compare);
    for (int i = 0; i < 2; i++) {
        bool sma = strcmp(page->detail.axes[2].words[(int)map->along.first[i]], "sma") == 0;
        CHECK_NEAR(map->cells[2][i].value, own[1] + (sma ? 0.5 : 0), 1e-12);
    }
    press('{');
    CHECK(map->x == 0 && map->y == 2);
    press('{');
    CHECK(map->x == 0 && map->y == 1);
    CHECK_INT(tui_heat_shade(map->low, map->high, NAN), -1);
    CHECK_INT(tui_heat_shade(map->low, map->high, map->low), 0);
    CHECK_INT(tui_heat_shade(map->low, map->high, map->high), HEAT_SHADES - 1);
    for (int i = 1; i < HEAT_SHADES; i++)
        CHECK_INT(tui_heat_shade(map->low, map->high, tui_heat_from(map->low, map->high, i) + 1e-9), i);
}

static int shown(void)
{
    int n, *rows = view.sweeps->mode == SWEEP_LIST ? tui_sweep_page_entries(view.sweeps, &n)
                                                   : tui_sweep_page_rows(view.sweeps, &n);

    free(rows);
    return n;
}

static void check_filter(const char *words, int n)
{
    press('/');
    type(words);
    press(PRESS_ENTER);
    if (shown() != n)
        fprintf(stderr, "filter %s\n", words);
    CHECK_INT(shown(), n);
    press(PRESS_ESCAPE);
    CHECK(view.sweeps && view.sweeps->of_list.filter[0] == '\0' && view.sweeps->of_table.filter[0] == '\0');
}

static void check_filters(void)
{
    begin(DONE);
    check_filter("sma", 2);
    check_filter("!sma", 2);
    check_filter("state=done", 1);
    check_filter("dsr>0.1", 2);
    check_filter("sets<15", 1);
    check_filter("2024-08-08", 4);
    check_filter("nothing of the kind", 0);
    begin_table(DONE);
    check_filter("slow=28", 1);
    check_filter("sharpe>1.7", 2);
    check_filter("slip<1", 2);
    check_filter("set=fast=15", 3);
    begin_table(DONE);
    CHECK_STR(tui_sweep_page_sort(view.sweeps), "rank");
    press('I');
    int n, *rows = tui_sweep_page_rows(view.sweeps, &n);
    CHECK(n == 3 && rows[0] == 2 && rows[2] == 0);
    free(rows);
    press('o'); /* dsr is what they are ordered by: there is no column for it beside that */
    CHECK_STR(tui_sweep_page_sort(view.sweeps), "dsr");
}

/* ---- keys and the mouse ---- */

/* The page on which a key of the table has something to do. */
static void begin_for(int key)
{
    if (key == 'x') {
        begin(RUNNING);
    } else if (key == 'e') {
        begin(STOPPED);
    } else if (key == 'k' || key == 'd' || key == 'r') {
        begin(DONE);
    } else if (strchr("[]{}i", key)) {
        begin_table(DONE);
        press('m');
    } else {
        begin(RUNNING);
    }
}

/* Does the key want or change anything? */
static bool acts(int key)
{
    struct sweep_page *before = malloc(sizeof(*before));

    memcpy(before, view.sweeps, sizeof(*before));
    bool done =
        press(key) != ACTION_NONE || !view.sweeps || memcmp(before, view.sweeps, sizeof(*before)) != 0;
    free(before);
    return done;
}

static void check_keys(void)
{
    const struct key_row *row;

    for (int i = 0; (row = tui_key_table(i)); i++) {
        if (row->place != KEYS_SWEEPS)
            continue;
        for (const char *word = row->keys; *word; word += strcspn(word, " "), word += strspn(word, " ")) {
            const int key = strncmp(word, "Enter", 5) == 0 ? PRESS_ENTER
                            : strncmp(word, "Esc", 3) == 0 ? PRESS_ESCAPE
                                                           : *word;
            begin_for(key);
            if (!acts(key)) {
                fprintf(stderr, "%.*s does nothing\n", (int)strcspn(word, " "), word);
                CHECK(false);
            }
        }
    }
    begin(DONE);
    CHECK(!acts('Z'));
    begin(RUNNING);
    press('x');
    CHECK_INT(view.sweeps->wants, SWEEP_WANTS_STOP);
    begin(STOPPED);
    press('e');
    CHECK_INT(view.sweeps->wants, SWEEP_WANTS_AGAIN);
    begin(DONE);
    press('d');
    press('n');
    CHECK_INT(view.sweeps->wants, 0);
    press('d');
    press('y');
    CHECK_INT(view.sweeps->wants, SWEEP_WANTS_REMOVE);
    begin(RUNNING);
    press('d');
    CHECK_INT(view.sweeps->asks, SWEEP_ASKS_NOTHING);
    begin(DONE);
    press('q');
    CHECK(!view.sweeps);
}

/* Where a row, or a cell, of that index was drawn. */
static bool click(int index)
{
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, 80, 24, GLYPHS_BRAILLE), 0);
    tui_view_draw(&view, model, now, &canvas);
    bool found = false;
    for (int i = 0; i < canvas.n_rows && !found; i++)
        if (canvas.rows[i].index == index) {
            tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK,
                            canvas.rows[i].x + canvas.rows[i].width / 2, canvas.rows[i].y);
            found = true;
        }
    tui_canvas_finish(&canvas);
    return found;
}

static void check_mouse(void)
{
    begin(RUNNING);
    CHECK(click(3));
    CHECK_STR(view.sweeps->chosen, DONE);
    CHECK_INT(view.sweeps->mode, SWEEP_LIST);
    CHECK(click(3)); /* again: Enter */
    CHECK_INT(view.sweeps->mode, SWEEP_TABLE);
    press('m');
    CHECK(click(2 * SWEEP_MAP_COLUMNS + 1));
    CHECK_INT(view.sweeps->map.row, 2);
    CHECK_INT(view.sweeps->map.column, 1);
    CHECK(click(2 * SWEEP_MAP_COLUMNS + 1));
    CHECK_INT(view.sweeps->mode, SWEEP_RUN);
    CHECK_STR(view.sweeps->run_set, "fast=10 slow=28 average=sma");
    CHECK_INT(view.sweeps->wants, SWEEP_WANTS_RUN);
    begin(DONE);
    press('r');
    CHECK(click(4));
    CHECK_STR(view.sweeps->form->fields[view.sweeps->form->row].name, "from");
}

/* ---- screens ---- */

static void picture(const char *name, int width, int height, enum glyphs glyphs)
{
    char file[64];

    snprintf(file, sizeof(file), "%s-%dx%d", name, width, height);
    CHECK(picture_matches(golden, file, model, &view, now, width, height, glyphs));
}

static void pictures(const char *name)
{
    picture(name, 80, 24, GLYPHS_BRAILLE);
    picture(name, 120, 40, GLYPHS_BRAILLE);
    picture(name, 200, 60, GLYPHS_BRAILLE);
}

static void draw_run(void)
{
    begin_table(DONE);
    press(PRESS_ENTER);
    struct backtest_view *run = &view.sweeps->run;
    *run = (struct backtest_view){.state = BACKTEST_DONE,
                                  .equity = 10425.5,
                                  .return_pct = 4.25,
                                  .drawdown_pct = -11.5,
                                  .sharpe = 1.88,
                                  .win_rate_pct = 41.25,
                                  .trades = 85,
                                  .n_curve = 40};
    for (int i = 0; i < run->n_curve; i++)
        run->curve[i] = (struct history_equity){.ts_ns = (1000 + i * i) * INT64_C(60000000000),
                                                .equity = 10000 + 425.5 * i / 39 + 100 * (i % 7 == 3),
                                                .peak = 10000};
    pictures("sweep-run");
}

static void draw_screens(void)
{
    begin(DONE);
    pictures("sweeps");
    picture("sweeps", 40, 10, GLYPHS_ASCII);
    press('r');
    tui_sweep_page_planned(view.sweeps, NULL, NULL);
    pictures("sweep-form");
    picture("sweep-form", 40, 10, GLYPHS_ASCII);
    view.sweeps->plan = (struct sweep_form_plan){
        .state = SWEEP_PLANNED, .sets = 80, .seconds = 252, .left = 72, .asks_above_s = 60};
    view.sweeps->asks = SWEEP_ASKS_LONG;
    picture("sweep-long", 80, 24, GLYPHS_BRAILLE);
    begin_table(DONE);
    pictures("sweep");
    picture("sweep", 40, 10, GLYPHS_ASCII);
    begin_table(STOPPED);
    picture("sweep-stopped", 80, 24, GLYPHS_BRAILLE);
    begin_table(FAILED);
    picture("sweep-failed", 80, 24, GLYPHS_BRAILLE);
    begin_table(RUNNING);
    picture("sweep-running", 80, 24, GLYPHS_BRAILLE);
    begin_table(DONE);
    press('m');
    press('i');
    pictures("sweep-map");
    picture("sweep-map-ascii", 80, 24, GLYPHS_ASCII);
    picture("sweep-map", 40, 12, GLYPHS_ASCII);
    draw_run();
}

int main(int argc, char **argv)
{
    json_t *status = json_loads(fixture_status, 0, NULL);
    char folder[SCRATCH_MAX];

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    scratch_make(folder);
    snprintf(cache, sizeof(cache), "%s", folder);
    setenv("XDG_CACHE_HOME", cache, 1);
    model = tui_model_create(1000);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    make_sweeps();
    check_suggestions();
    check_sets();
    check_lines();
    check_start();
    check_states();
    check_asked_for();
    check_map();
    check_filters();
    check_keys();
    check_mouse();
    draw_screens();
    tui_view_finish(&view);
    close(lock);
    tui_model_destroy(model);
    return check_done("tui/sweep");
}

/* Devices while they are sampled: the day's greatest follows each sample; a device that falls silent; one
 * that comes before another; eight of them on a small screen, on the overview the hottest, on their tab all
 * of them by the keys. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history.h"
#include "tui/keys.h"
#include "tui/view.h"

#define SECOND_NS INT64_C(1000000000)
#define GIB       (1024.0 * 1024 * 1024)

enum { DEVICES = 8, HOTTEST = 7, SAMPLES = 150, INTERVAL_S = 2 };

static const char *golden;
static struct moment now = {1723161255342000000, 1000000};
static struct db_writer *writer;
static struct history_reader *reader;
static struct model *model;

/* ---- a database that is written and read by turns ---- */

static void put_holder(const char *device, int64_t pid, int64_t ts_ns, double gib)
{
    const struct db_device_process holder = {.pid = pid,
                                             .device = device,
                                             .ts_ns = ts_ns,
                                             .role = "ppo-btc",
                                             .name = "papertape-train",
                                             .memory_bytes = gib / 3 * GIB,
                                             .util_percent = 50};

    db_writer_put_device_process(writer, &holder);
}

static void put_device(int i, int64_t ts_ns, double gib, const char *name, const char *reason)
{
    struct device_sample sample = {.driver = "560.35.03", .processes_known = true};
    struct db_device device;
    struct db_device_sample row;

    for (int k = 0; k < DB_DEVICE_FIGURES; k++)
        ((double *)&sample.figures)[k] = NAN;
    sample.figures.util_percent = 10 * i + 5;
    sample.figures.memory_used_bytes = gib * GIB;
    sample.figures.memory_total_bytes = 80 * GIB;
    sample.figures.power_w = 300;
    sample.figures.power_limit_w = 700;
    sample.figures.temperature_c = i == HOTTEST ? 88 : i == 4 ? 71 : 40 + i;
    sample.figures.throttle_power = i == HOTTEST;
    sample.figures.throttle_thermal = i == HOTTEST;
    sample.figures.throttle_hardware = 0;
    snprintf(sample.device, sizeof(sample.device), "nvidia:GPU-%d", i);
    snprintf(sample.name, sizeof(sample.name), "%s", name);
    db_device_of(&sample, ts_ns, &device, &row);
    device.reason = reason;
    db_writer_put_device(writer, &device);
    db_writer_put_device_sample(writer, &row);
    for (int k = 0; k < 3; k++)
        put_holder(sample.device, 7200 + i + 100 * k, ts_ns, gib);
}

static void put_process(int64_t ts_ns, double mib)
{
    const struct process_sample sample = {
        .pid = 4711, .role = "daemon", .cpu_percent = 1, .resident_bytes = mib * 1024 * 1024};
    struct db_process process;
    struct db_process_sample row;

    db_process_of(&sample, ts_ns, &process, &row);
    db_writer_put_process(writer, &process);
    db_writer_put_process_sample(writer, &row);
}

static void begin(const char *name)
{
    char err[DB_ERROR_MAX] = "";

    CHECK_INT(db_writer_open(scratch_path(name), &(struct db_writer_config){.max_delay_ms = 1}, &writer, err,
                             sizeof(err)),
              0);
    db_writer_put_meta(writer, DB_GPU_REASON_KEY, "");
}

static void end(void)
{
    tui_history_close(reader);
    tui_model_destroy(model);
    reader = NULL;
    model = NULL;
}

static void close_writer(void)
{
    char err[DB_ERROR_MAX] = "";

    CHECK_INT(db_writer_close(writer, 30000, err, sizeof(err)), 0);
}

/* What the dashboard does each second, with the reader and the model that it has. */
static void take(const char *name)
{
    char words[256] = "";

    if (!model)
        model = tui_model_create(1000);
    if (!reader)
        CHECK_INT(tui_history_open(scratch_path(name), &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read(reader, now.wall_ns, &(struct history_want){{0}}, &model->history, words,
                               sizeof(words)),
              0);
    model->have_history = true;
}

static bool shows(enum tab tab, int cursor, const char *words)
{
    struct view view;

    tui_view_init(&view, true, 1000);
    view.tab = tab;
    view.cursor[PANEL_GPU] = cursor;
    char *text = picture_draw(model, &view, now, 80, 24, GLYPHS_BRAILLE);
    bool found = text && strstr(text, words);
    free(text);
    return found;
}

/* ---- the greatest follows ---- */

static void check_bounds(const struct history_device *d)
{
    const double *last = (const double *)&d->last, *max = (const double *)&d->max;

    for (int i = 0; i < DB_DEVICE_FIGURES; i++)
        CHECK(isnan(last[i]) ? isnan(max[i]) : max[i] >= last[i]);
}

static void test_greatest(void)
{
    const int64_t start_ns = now.wall_ns;
    double sum = 0;

    /* Across minutes, of which the database sums one up while the reader has the day of an earlier one. */
    for (int i = 0; i < SAMPLES; i++) {
        double gib = i < 2 ? 1 : 1 + i * 0.5;
        now.wall_ns = start_ns + i * INTERVAL_S * SECOND_NS;
        begin("greatest.db");
        put_device(0, now.wall_ns, gib, "Fake", "");
        put_process(now.wall_ns, 20 + i);
        close_writer();
        take("greatest.db");
        sum += gib;
        const struct history_device *d = &model->history.devices.devices[0];
        const struct history_process *p = &model->history.devices.processes[0];
        check_bounds(d);
        CHECK_NEAR(d->last.memory_used_bytes, gib * GIB, 1);
        CHECK_NEAR(d->max.memory_used_bytes, gib * GIB, 1);
        CHECK_NEAR(d->mean.memory_used_bytes, sum / (i + 1) * GIB, GIB * 1e-6);
        CHECK_INT(d->span.n, i + 1);
        CHECK_NEAR(p->max.resident_bytes, (20 + i) * 1024.0 * 1024, 1);
        CHECK_INT(p->span.n, i + 1);
    }
    CHECK_INT(model->history.devices.devices[0].interval_ns, INTERVAL_S * SECOND_NS);
    end();
    now.wall_ns = start_ns;
}

/* ---- a device that falls silent ---- */

static void test_silent(int interval_s)
{
    const char *name = interval_s == 2 ? "silent.db" : "slow.db";
    const struct moment start = now;

    begin(name);
    for (int ago_s = 20 * interval_s; ago_s >= 0; ago_s -= interval_s)
        put_device(0, now.wall_ns - ago_s * SECOND_NS, 1, "Fake", "");
    close_writer();
    take(name);
    CHECK_INT(model->history.devices.devices[0].interval_ns, interval_s * SECOND_NS);
    CHECK(!shows(TAB_OVERVIEW, 0, " ago"));
    now.wall_ns = start.wall_ns + 3 * interval_s * SECOND_NS;
    CHECK(!shows(TAB_OVERVIEW, 0, " ago"));
    CHECK(shows(TAB_GPU, 0, "sampled "));
    now.wall_ns += SECOND_NS;
    take(name);
    CHECK(shows(TAB_OVERVIEW, 0, " ago"));
    CHECK(shows(TAB_GPU, 0, "last use "));
    now.wall_ns = start.wall_ns + 5 * 60 * SECOND_NS;
    take(name);
    for (int i = 0; i < HISTORY_MINUTE_PARTS; i++)
        CHECK(isnan(model->history.devices.devices[0].minute[i]));
    CHECK(shows(TAB_GPU, 0, "last use 5m ago"));
    CHECK(shows(TAB_GPU, 0, "mean   5 max   5"));
    end();
    now = start;
}

/* ---- a device before another ---- */

/* Its name stands before the other's, within the minute in which utilisation by phase was read. */
static void test_places(void)
{
    const struct db_training training = fixture_training_row("ppo-btc", "update", 1000);
    const struct db_training_state state = {"ppo-btc", "update", now.wall_ns - SECOND_NS, NAN};

    begin("places.db");
    db_writer_put_training(writer, &training);
    db_writer_put_training_state(writer, &state);
    put_device(1, now.wall_ns, 1, "Fake", "");
    close_writer();
    take("places.db");
    CHECK_INT(model->history.devices.n_uses, 1);
    begin("places.db");
    put_device(0, now.wall_ns, 1, "Fake", "");
    close_writer();
    take("places.db");
    const struct history_devices *h = &model->history.devices;
    CHECK_INT(h->n, 2);
    CHECK_INT(h->n_uses, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(h->uses[i].device, i);
        CHECK_NEAR(h->uses[i].util_percent, 10 * i + 5, 0);
    }
    end();
}

/* ---- eight on a small screen ---- */

static void press(struct view *view, int key)
{
    tui_keys_press(view, model, 80, 24, now, key);
}

/* Is it shown somewhere between the first page and the last, a page at a time? */
static bool reached(struct view *view, const char *words)
{
    bool found = false;

    press(view, PRESS_HOME);
    for (int i = 0; i < 20 && !found; i++) {
        found = shows(TAB_GPU, view->cursor[PANEL_GPU], words);
        press(view, PRESS_PAGE_DOWN);
    }
    return found;
}

static void check_screen(const char *name, const struct view *view)
{
    CHECK(picture_matches(golden, name, model, view, now, 80, 24, GLYPHS_BRAILLE));
}

static void test_many(void)
{
    struct view view;
    char words[32];

    begin("many.db");
    for (int ago_s = 60; ago_s >= 0; ago_s -= INTERVAL_S) {
        for (int i = 0; i < DEVICES; i++)
            put_device(i, now.wall_ns - ago_s * SECOND_NS, 8 + i,
                       i == 1 ? "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition, 96 GB" : "Fake",
                       i == 2 ? "lost: the driver does not answer, and says nothing about why it does not"
                              : "");
        put_process(now.wall_ns - ago_s * SECOND_NS, 24);
    }
    close_writer();
    take("many.db");
    tui_view_init(&view, true, 1000);
    check_screen("devices-many-overview-80x24", &view);
    CHECK(shows(TAB_OVERVIEW, 0, "88 C") && shows(TAB_OVERVIEW, 0, "71 C") && shows(TAB_OVERVIEW, 0, " +6 "));
    view.tab = TAB_GPU;
    check_screen("devices-many-80x24", &view);
    for (int i = 0; i < DEVICES; i++) {
        snprintf(words, sizeof(words), "nvidia:GPU-%d", i);
        CHECK(reached(&view, words));
        snprintf(words, sizeof(words), "pid %d", 7200 + i);
        CHECK(reached(&view, words));
    }
    CHECK(reached(&view, "processes on devices"));
    CHECK(reached(&view, "own processes"));
    CHECK(reached(&view, "power+thermal"));
    CHECK(reached(&view, " 65%")); /* the row below the first page, which the last row covers */
    press(&view, 'G');
    check_screen("devices-many-end-80x24", &view);
    press(&view, 'j'); /* stays */
    press(&view, 'k');
    CHECK(shows(TAB_GPU, view.cursor[PANEL_GPU], "+2 more rows: j, PgDn, G"));
    end();
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "C.UTF-8");
    golden = argc > 1 ? argv[1] : "tests/tui/golden";
    test_greatest();
    test_silent(2);
    test_silent(60);
    test_places();
    test_many();
    return check_done("devices_live");
}

/* Devices and processes as the dashboard reads and draws them: two devices over a day, one that a training
 * holds, without a daemon; after a while; where processes are hidden; where there is no device. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history.h"
#include "tui/view.h"

#define SECOND_NS INT64_C(1000000000)
#define GIB       (1024.0 * 1024 * 1024)

enum { DAY_S = 86400, FINE_S = 600, PHASE_S = 20 };

static const char *golden;
static struct moment now = {1723161255342000000, 1000000};

/* ---- the database ---- */

/* Busy in the updates of the last ten minutes, in a wave before. */
static double util_of(int device, int ago_s)
{
    if (device == 1)
        return 3;
    if (ago_s < FINE_S)
        return ago_s / PHASE_S % 2 ? 97 : 31;
    return floor(50 + 40 * sin(ago_s / 9000.0));
}

static void put_device(struct db_writer *writer, int i, int ago_s, bool known)
{
    const double util = util_of(i, ago_s);
    struct device_sample sample = {.driver = "560.35.03",
                                   .processes_known = known,
                                   .figures = {.util_percent = util,
                                               .memory_util_percent = util / 2,
                                               .memory_used_bytes = (i                ? 0.6
                                                                     : ago_s < FINE_S ? 61.2
                                                                                      : 12.5) *
                                                                    GIB,
                                               .memory_total_bytes = 79.6 * GIB,
                                               .power_w = 70 + 6 * util,
                                               .power_limit_w = 700,
                                               .clock_mhz = 1980,
                                               .memory_clock_mhz = 2619,
                                               .temperature_c = i ? NAN : 34 + floor(util / 3),
                                               .fan_percent = NAN,
                                               .throttle_power = ago_s < PHASE_S && i == 0,
                                               .throttle_thermal = 0,
                                               .throttle_hardware = 0,
                                               .pcie_rx_bytes_s = NAN,
                                               .pcie_tx_bytes_s = NAN}};
    struct db_device device;
    struct db_device_sample row;
    snprintf(sample.device, sizeof(sample.device), "nvidia:GPU-%d", i);
    snprintf(sample.name, sizeof(sample.name), "NVIDIA H100 80GB HBM3");
    db_device_of(&sample, now.wall_ns - ago_s * SECOND_NS, &device, &row);
    db_writer_put_device(writer, &device);
    db_writer_put_device_sample(writer, &row);
    if (i == 1 || ago_s >= FINE_S || !known)
        return;
    const struct db_device_process holders[] = {
        {.pid = 7202,
         .role = "ppo-btc",
         .name = "papertape-train",
         .memory_bytes = 60.1 * GIB,
         .util_percent = util},
        {.pid = 911, .role = "", .name = "Xorg", .memory_bytes = 0.2 * GIB, .util_percent = NAN}};
    for (size_t k = 0; k < sizeof(holders) / sizeof(holders[0]); k++) {
        struct db_device_process holder = holders[k];
        holder.device = sample.device;
        holder.ts_ns = row.ts_ns;
        db_writer_put_device_process(writer, &holder);
    }
}

static void put_process(struct db_writer *writer, const char *role, int ago_s, double cpu, double mib)
{
    struct process_sample sample = {.pid = 4711,
                                    .cpu_percent = cpu,
                                    .resident_bytes = mib * 1024 * 1024,
                                    .read_bytes_s = 0,
                                    .written_bytes_s = mib * 1024};
    struct db_process process;
    struct db_process_sample row;
    snprintf(sample.role, sizeof(sample.role), "%s", role);
    db_process_of(&sample, now.wall_ns - ago_s * SECOND_NS, &process, &row);
    db_writer_put_process(writer, &process);
    db_writer_put_process_sample(writer, &row);
}

static void put_training(struct db_writer *writer)
{
    const struct db_training row = fixture_training_row("ppo-btc", "update", 1000);
    db_writer_put_training(writer, &row);
    for (int ago_s = FINE_S; ago_s > 0; ago_s -= PHASE_S) {
        const struct db_training_state state = {"ppo-btc", (ago_s - 1) / PHASE_S % 2 ? "update" : "rollout",
                                                now.wall_ns - ago_s * SECOND_NS + 1, NAN};
        db_writer_put_training_state(writer, &state);
    }
}

static const char *write_database(const char *name, bool devices, bool known)
{
    const char *path = scratch_path(name);
    struct db_writer *writer = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_writer_open(path, &(struct db_writer_config){.max_delay_ms = 1}, &writer, err, sizeof(err)),
              0);
    db_writer_put_meta(writer, DB_GPU_REASON_KEY, devices ? "" : "no GPU");
    put_training(writer);
    for (int ago_s = DAY_S + FINE_S; ago_s >= 0; ago_s -= ago_s > FINE_S ? 60 : 2) {
        for (int i = 0; devices && i < 2; i++)
            put_device(writer, i, ago_s, known);
        put_process(writer, "daemon", ago_s, 1.2, 24);
        if (ago_s <= FINE_S)
            put_process(writer, "ppo-btc", ago_s, ago_s > 20 ? 180 : 740, 1530);
    }
    CHECK_INT(db_writer_close(writer, 30000, err, sizeof(err)), 0);
    return path;
}

/* ---- what is read and drawn ---- */

static struct model *load(const char *path)
{
    struct model *model = tui_model_create(1000);
    struct status *stored = calloc(1, sizeof(*stored));
    struct history_reader *reader = NULL;
    int64_t accounts_age_ms;
    char words[256];
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read(reader, now.wall_ns, &(struct history_want){{0}}, &model->history, words,
                               sizeof(words)),
              0);
    CHECK_INT(tui_history_status(reader, now.wall_ns, stored, &accounts_age_ms, words, sizeof(words)), 0);
    tui_model_take_stored(model, stored, accounts_age_ms, now);
    model->have_history = true;
    tui_history_close(reader);
    tui_status_finish(stored);
    free(stored);
    return model;
}

static void check_screen(const char *name, const struct model *model, enum tab tab, int width, int height)
{
    struct view view;
    tui_view_init(&view, true, 1000);
    view.tab = tab;
    CHECK(picture_matches(golden, name, model, &view, now, width, height, GLYPHS_BRAILLE));
}

static void check_figures(const struct history_devices *h)
{
    double sum = 0, n = 0, highest = 0;
    for (int ago_s = DAY_S; ago_s >= 0; ago_s -= ago_s > FINE_S ? 60 : 2, n++) {
        sum += util_of(0, ago_s);
        highest = fmax(highest, util_of(0, ago_s));
    }
    CHECK_INT(h->n, 2);
    CHECK_NEAR(h->devices[0].last.util_percent, 31, 0);
    CHECK_NEAR(h->devices[0].max.util_percent, highest, 0);
    CHECK_NEAR(h->devices[0].mean.util_percent, sum / n,
               0.1); /* a minute at the day's beginning may reach into it */
    CHECK(isnan(h->devices[1].last.temperature_c) && isnan(h->devices[1].mean.temperature_c));
    for (int i = 0; i < HISTORY_MINUTE_PARTS; i++)
        CHECK_NEAR(h->devices[0].minute[i], util_of(0, 2 * (HISTORY_MINUTE_PARTS - 1 - i)), 0);
    CHECK_INT(h->n_holders, 2);
    CHECK_STR(h->holders[0].role, "ppo-btc");
    CHECK_INT(h->n_uses, 2);
    CHECK_STR(h->uses[0].state, "rollout");
    CHECK_NEAR(h->uses[0].util_percent, 31, 1e-9);
    CHECK_STR(h->uses[1].state, "update");
    CHECK_NEAR(h->uses[1].util_percent, 97, 1e-9);
    CHECK_INT(h->n_processes, 2);
    const struct history_process *daemon = &h->processes[0], *worker = &h->processes[1];
    CHECK_NEAR(worker->last.cpu_percent, 740, 0);
    for (int i = 0; i < HISTORY_MINUTE_PARTS; i++)
        CHECK_NEAR(worker->minute[i], 2 * (HISTORY_MINUTE_PARTS - 1 - i) > 20 ? 180 : 740, 0);
    for (int i = 0; i < HISTORY_DAY_PARTS; i++) { /* the worker is there for FINE_S */
        CHECK_NEAR(daemon->day[i], 1.2, 1e-9);
        CHECK_NEAR(daemon->memory_day[i], 24 * 1024.0 * 1024, 1e-3);
        bool there = (HISTORY_DAY_PARTS - 1 - i) * DAY_S / HISTORY_DAY_PARTS < FINE_S;
        CHECK(there ? worker->day[i] >= 180 && worker->day[i] < 740 : isnan(worker->day[i]));
    }
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "C.UTF-8");
    golden = argc > 1 ? argv[1] : "tests/tui/golden";
    struct model *model = load(write_database("devices.db", true, true));
    check_figures(&model->history.devices);
    check_screen("devices-100x30", model, TAB_GPU, 100, 30);
    check_screen("devices-80x24", model, TAB_GPU, 80, 24);
    check_screen("devices-overview-80x24", model, TAB_OVERVIEW, 80, 24);
    check_screen("devices-overview-120x40", model, TAB_OVERVIEW, 120, 40);
    now.wall_ns += 12 * 60 * SECOND_NS;
    check_screen("devices-old-100x30", model, TAB_GPU, 100, 30);
    tui_model_destroy(model);
    now.wall_ns -= 12 * 60 * SECOND_NS;
    model = load(write_database("hidden.db", true, false));
    check_screen("devices-hidden-80x24", model, TAB_GPU, 80, 24);
    tui_model_destroy(model);
    model = load(write_database("none.db", false, false));
    check_screen("devices-none-80x24", model, TAB_GPU, 80, 24);
    tui_model_destroy(model);
    return check_done("devices");
}

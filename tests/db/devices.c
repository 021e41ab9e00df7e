/* Samples of devices and processes, read back: at the finest resolution of each moment, no moment twice and
 * none left out, also where minutes are wanted; processes on devices from first to last; how busy a
 * training's devices were in each of its states. devices.py has the arithmetic of what is stored. */
#include <math.h>
#include <stdlib.h>

#include "db/device_span.h"
#include "tests/db/fixture.h"
#include "tests/db/sql.h"

#define SECOND_NS INT64_C(1000000000)
#define HOUR_NS   (3600 * SECOND_NS)
#define START_NS  (INT64_C(1785542400) * SECOND_NS)

static const struct db_writer_config config = {.max_delay_ms = 1};

/* Utilisation alone is known. */
static void put_sample(struct db_writer *writer, const char *key, int64_t ts_ns, double util)
{
    struct device_sample sample = {.processes_known = true};
    struct db_device device;
    struct db_device_sample row;
#define UNKNOWN(name) sample.figures.name = NAN;
    RECORD_DEVICE_FIGURES(UNKNOWN)
#undef UNKNOWN
    snprintf(sample.device, sizeof sample.device, "%s", key);
    snprintf(sample.name, sizeof sample.name, "Fake");
    sample.figures.util_percent = util;
    db_device_of(&sample, ts_ns, &device, &row);
    db_writer_put_device(writer, &device);
    db_writer_put_device_sample(writer, &row);
}

/* ---- resolutions ---- */

struct seen {
    int rows, samples, minutes, tens, extremes, wrong;
    int64_t end_ns, sum_n; /* end_ns: of the last row's time, where the next may begin */
    struct db_span span;
};

static void see(void *ctx, const struct db_device_sample *row)
{
    struct seen *seen = ctx;
    seen->rows++;
    db_span_add(&seen->span, row->statistic, row->n, (const double *)&row->figures, DB_DEVICE_FIGURES);
    if (row->statistic == DB_MIN || row->statistic == DB_MAX) {
        seen->extremes++;
        return;
    }
    seen->wrong += row->ts_ns < seen->end_ns; /* twice, or out of order */
    seen->end_ns = row->ts_ns + (row->period_s ? row->period_s * SECOND_NS : 1);
    seen->samples += row->period_s == 0;
    seen->minutes += row->period_s == 60;
    seen->tens += row->period_s == 600;
    seen->sum_n += row->n;
}

static struct seen read_samples(struct db_reader *reader, const struct db_samples_wanted *wanted)
{
    struct seen seen = {0};
    CHECK_INT(db_reader_device_samples(reader, wanted, see, &seen), 0);
    CHECK_INT(seen.wrong, 0);
    return seen;
}

/* Three days, a sample every 20 s: utilisation 0 … 99 in turn. */
static void test_resolutions(void)
{
    enum { STEP_S = 20, SAMPLES = 3 * 86400 / STEP_S };
    const char *path = scratch_path("resolutions.db");
    struct db_writer *writer = fixture_writer(path, &config);
    for (int i = 0; i < SAMPLES; i++)
        put_sample(writer, "a", START_NS + i * (int64_t)STEP_S * SECOND_NS, i % 100);
    put_sample(writer, "b", START_NS + 3 * 24 * HOUR_NS, 5);
    fixture_close(writer);

    struct db_reader *reader = fixture_reader(path);
    struct db_samples_wanted all = {
        .key = "a", .from_ns = INT64_MIN, .to_ns = INT64_MAX, .fine_ns = INT64_MIN, .minute_ns = INT64_MIN};
    struct seen seen = read_samples(reader, &all);
    CHECK_INT(seen.sum_n, SAMPLES); /* every sample once, at some resolution */
    CHECK_INT(seen.samples, 2 * 3600 / STEP_S);
    CHECK_INT(seen.minutes, 46 * 60);
    CHECK_INT(seen.tens, 24 * 6);
    CHECK_INT(seen.extremes, 0);
    all.extremes = true;
    seen = read_samples(reader, &all);
    CHECK_INT(seen.extremes, 2 * (46 * 60 + 24 * 6));
    struct device_figures figures;
    db_span_figures(&seen.span, DB_MEAN, (double *)&figures, DB_DEVICE_FIGURES);
    CHECK_NEAR(figures.util_percent, (12900 * 49.5 + 60 * 29.5) / SAMPLES, 1e-9);
    CHECK(isnan(figures.power_w));
    db_span_figures(&seen.span, DB_MAX, (double *)&figures, DB_DEVICE_FIGURES);
    CHECK_NEAR(figures.util_percent, 99, 0);
    db_span_figures(&seen.span, DB_MIN, (double *)&figures, DB_DEVICE_FIGURES);
    CHECK_NEAR(figures.util_percent, 0, 0);

    /* The last hour; a day in minutes, its last minute as samples. */
    int64_t end_ns = START_NS + 3 * 24 * HOUR_NS;
    seen = read_samples(reader, &(struct db_samples_wanted){.key = "a",
                                                            .from_ns = end_ns - HOUR_NS,
                                                            .to_ns = INT64_MAX,
                                                            .fine_ns = INT64_MIN,
                                                            .minute_ns = INT64_MIN});
    CHECK_INT(seen.samples, 3600 / STEP_S);
    CHECK_INT(seen.rows, 3600 / STEP_S);
    seen = read_samples(reader, &(struct db_samples_wanted){.key = "a",
                                                            .from_ns = end_ns - 24 * HOUR_NS,
                                                            .to_ns = INT64_MAX,
                                                            .fine_ns = end_ns - 60 * SECOND_NS,
                                                            .minute_ns = INT64_MIN});
    CHECK_INT(seen.samples, 60 / STEP_S);
    CHECK_INT(seen.sum_n, 86400 / STEP_S);
    /* The same in tens of minutes, as far as those are summed up. */
    seen = read_samples(reader, &(struct db_samples_wanted){.key = "a",
                                                            .from_ns = end_ns - 24 * HOUR_NS,
                                                            .to_ns = INT64_MAX,
                                                            .fine_ns = end_ns - 60 * SECOND_NS,
                                                            .minute_ns = end_ns - 60 * SECOND_NS});
    CHECK_INT(seen.samples, 60 / STEP_S);
    CHECK_INT(seen.minutes, 9);
    CHECK_INT(seen.tens, 143);
    CHECK_INT(seen.sum_n, 86400 / STEP_S);
    seen = read_samples(reader, &(struct db_samples_wanted){.key = "none", .to_ns = INT64_MAX});
    CHECK_INT(seen.rows, 0);
    db_reader_close(reader);
}

/* Before the first minute is over, and with every sample in the one that is not. */
static void test_first_minute(void)
{
    const char *path = scratch_path("first.db");
    struct db_writer *writer = fixture_writer(path, &config);
    for (int i = 0; i < 50; i++)
        put_sample(writer, "a", START_NS + i * SECOND_NS, i);
    fixture_close(writer);
    struct db_reader *reader = fixture_reader(path);
    struct db_samples_wanted wanted = {
        .key = "a", .from_ns = INT64_MIN, .to_ns = INT64_MAX, .fine_ns = INT64_MAX, .minute_ns = INT64_MIN};
    CHECK_INT(read_samples(reader, &wanted).samples, 50);
    wanted.fine_ns = START_NS + 40 * SECOND_NS;
    CHECK_INT(read_samples(reader, &wanted).samples, 50);
    db_reader_close(reader);
}

/* A clock that is set back: the minutes that were summed up are summed up again with what came since. */
static void test_set_back(void)
{
    const char *path = scratch_path("back.db");
    struct db_writer *writer = fixture_writer(path, &config);
    for (int i = 0; i < 600; i += 10)
        put_sample(writer, "a", START_NS + i * SECOND_NS, 10);
    for (int i = 125; i < 600; i += 10)
        put_sample(writer, "a", START_NS + i * SECOND_NS, 30);
    for (int i = 600; i < 1300; i += 10)
        put_sample(writer, "a", START_NS + i * SECOND_NS, 10);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path,
                             "SELECT sum(n) FROM device_samples WHERE period_s = 60 AND statistic = 'mean' "
                             "AND ts_ns < 1785542400000000000 + 1260000000000"),
              126 + 48);
    CHECK_INT(sql_query_file(path,
                             "SELECT count(*) FROM device_samples WHERE period_s = 60 AND statistic = 'mean' "
                             "AND n = 12 AND util_percent = 20"),
              8);
    CHECK_INT(
        sql_query_file(path, "SELECT sum(n) FROM device_samples WHERE period_s = 600 AND statistic = 'max'"),
        120 + 48);
}

/* ---- processes on devices, and phases ---- */

static void hold(struct db_writer *writer, const char *device, int64_t pid, const char *role, int64_t ts_ns,
                 double memory)
{
    const struct db_device_process row = {.device = device,
                                          .pid = pid,
                                          .name = "papertape-train",
                                          .role = role,
                                          .ts_ns = ts_ns,
                                          .memory_bytes = memory,
                                          .util_percent = NAN};
    db_writer_put_device_process(writer, &row);
}

static void keep_process(void *ctx, const struct db_device_process *row)
{
    struct db_device_process **next = ctx;
    *(*next)++ = *row;
}

static void test_holders(void)
{
    const char *path = scratch_path("holders.db");
    struct db_writer *writer = fixture_writer(path, &config);
    put_sample(writer, "a", START_NS, 1);
    for (int i = 0; i <= 10; i++)
        hold(writer, "a", 7, i < 3 ? "" : "ppo", START_NS + i * 2 * SECOND_NS, 100 - abs(5 - i));
    hold(writer, "a", 7, "", START_NS + 200 * SECOND_NS,
         NAN); /* its number again, after more than a minute */
    hold(writer, "a", 8, "ppo", START_NS + 200 * SECOND_NS, 50);
    fixture_close(writer);

    struct db_reader *reader = fixture_reader(path);
    struct db_device_process rows[4], *next = rows;
    CHECK_INT(db_reader_device_processes(reader, 0, INT64_MAX, keep_process, &next), 0);
    CHECK_INT(next - rows, 3);
    CHECK_INT(rows[0].pid, 8);
    CHECK_INT(rows[1].pid, 7);
    CHECK(isnan(rows[1].memory_bytes_max));
    CHECK_INT(rows[2].first_ns, START_NS);
    CHECK_INT(rows[2].ts_ns, START_NS + 20 * SECOND_NS);
    CHECK_INT(rows[2].n, 11);
    CHECK_NEAR(rows[2].memory_bytes, 95, 0);
    CHECK_NEAR(rows[2].memory_bytes_max, 100, 0);
    db_reader_close(reader);
    CHECK_INT(sql_query_file(path, "SELECT role = 'ppo' FROM device_processes WHERE n = 11"), 1);
}

struct phases {
    struct {
        char training[16], device[16], state[16];
        int64_t n;
        double mean, max;
    } rows[8];
    int n;
};

static void keep_phase(void *ctx, const struct db_device_phase *row)
{
    struct phases *phases = ctx;
    if (phases->n == 8)
        return;
    snprintf(phases->rows[phases->n].training, 16, "%s", row->training);
    snprintf(phases->rows[phases->n].device, 16, "%s", row->device);
    snprintf(phases->rows[phases->n].state, 16, "%s", row->state);
    phases->rows[phases->n].n = row->n;
    phases->rows[phases->n].mean = row->util_percent;
    phases->rows[phases->n++].max = row->util_percent_max;
}

static void put_training(struct db_writer *writer, const char *name, const char *device, int64_t started_ns,
                         int64_t ended_ns)
{
    struct db_training row = fixture_training(name, started_ns);
    row.state = ended_ns ? "done" : "update";
    row.device = device;
    row.started_ns = started_ns;
    row.ended_ns = ended_ns;
    db_writer_put_training(writer, &row);
}

static void put_state(struct db_writer *writer, const char *training, int64_t ts_ns, const char *state)
{
    const struct db_training_state row = {training, state, ts_ns, NAN};
    db_writer_put_training_state(writer, &row);
}

/* Device a: 90 while "ppo" updates, 20 in its rollouts; device b is another's. */
static void test_phases(bool known)
{
    const char *path = scratch_path(known ? "phases.db" : "hidden.db");
    struct db_writer *writer = fixture_writer(path, &config);
    put_training(writer, "ppo", "cuda", START_NS, 0);
    put_training(writer, "past", "cuda", START_NS - HOUR_NS, START_NS - HOUR_NS / 2);
    put_training(writer, "on-cpu", "cpu", START_NS, 0); /* no device's user */
    put_state(writer, "on-cpu", START_NS, "update");
    for (int i = 0; i < 10; i++)
        put_state(writer, "ppo", START_NS + i * 10 * SECOND_NS, i % 2 ? "update" : "rollout");
    put_state(writer, "past", START_NS - HOUR_NS, "update");
    for (int i = 0; i < 100; i++) {
        int64_t ts_ns = START_NS + i * SECOND_NS;
        put_sample(writer, "a", ts_ns, i / 10 % 2 ? 90 + i % 10 : 20);
        put_sample(writer, "b", ts_ns, 1);
        hold(writer, "a", 7, "ppo", ts_ns, 5);
        hold(writer, "a", 8, "ppo", ts_ns, 5); /* its second process there: no sample counts twice */
    }
    fixture_close(writer);
    if (!known) {
        sqlite3 *db;
        CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
        sql_exec(db, "UPDATE devices SET processes_known = 0 WHERE device = 'a'");
        sql_exec(db, "DELETE FROM device_processes");
        sqlite3_close(db);
    }
    struct db_reader *reader = fixture_reader(path);
    struct phases phases = {0};
    CHECK_INT(db_reader_device_phases(reader, 0, INT64_MAX, keep_phase, &phases), 0);
    CHECK_INT(phases.n, 2);
    CHECK_STR(phases.rows[0].training, "ppo");
    CHECK_STR(phases.rows[0].device, "a");
    CHECK_STR(phases.rows[0].state, "rollout");
    CHECK_INT(phases.rows[0].n, 50);
    CHECK_NEAR(phases.rows[0].mean, 20, 1e-9);
    CHECK_STR(phases.rows[1].state, "update");
    CHECK_NEAR(phases.rows[1].mean, 94.5, 1e-9);
    CHECK_NEAR(phases.rows[1].max, 99, 0);
    phases.n = 0;
    CHECK_INT(db_reader_device_phases(reader, START_NS + 95 * SECOND_NS, INT64_MAX, keep_phase, &phases), 0);
    CHECK_INT(phases.n, 1);
    CHECK_INT(phases.rows[0].n, 5);
    phases.n = 0;
    CHECK_INT(db_reader_device_phases(reader, START_NS, START_NS + 12 * SECOND_NS, keep_phase, &phases), 0);
    CHECK_INT(phases.n, 2);
    CHECK_INT(phases.rows[0].n, 10);
    CHECK_INT(phases.rows[1].n, 3);
    db_reader_close(reader);
}

/* One that stops answering: the reason, and what is known of it; one that never answered is none. */
static void test_reason(void)
{
    const char *path = scratch_path("reason.db");
    struct db_writer *writer = fixture_writer(path, &config);
    put_sample(writer, "a", START_NS, 50);
    struct db_device lost = {.device = "a", .reason = "lost"}, never = {.device = "b", .reason = "lost"};
    db_writer_put_device(writer, &lost);
    db_writer_put_device(writer, &never);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path,
                             "SELECT count(*) FROM devices WHERE device = 'a' AND name = 'Fake' AND reason = "
                             "'lost' AND last_ns = 1785542400000000000 AND first_ns = last_ns"),
              1);
    CHECK_INT(sql_query_file(path, "SELECT count(*) FROM devices"), 1);
    writer = fixture_writer(path, &config);
    put_sample(writer, "a", START_NS + SECOND_NS, 50);
    fixture_close(writer);
    CHECK_INT(sql_query_file(path, "SELECT last_ns - first_ns FROM devices WHERE reason = ''"), SECOND_NS);
}

int main(void)
{
    test_reason();
    test_resolutions();
    test_first_minute();
    test_set_back();
    test_holders();
    test_phases(true);
    test_phases(false);
    return check_done("devices");
}

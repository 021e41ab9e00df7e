/* Writes samples of nine days to a database, or lists them: device_writer list SEED; device_writer write SEED
 * DATABASE AFTER_NS, those later than that. The same seed, the same samples. Three devices and two processes
 * at irregular moments, with gaps of hours; one of either ends after hours, one after days. For devices.py.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/db/fixture.h"
#include "tests/random.h"

#define SECOND_NS INT64_C(1000000000)
#define START_NS  (INT64_C(1785542400) * SECOND_NS + 123456789)

enum { DAY_S = 86400, HOUR_S = 3600, FIGURES = sizeof(struct device_figures) / sizeof(double) };

static struct db_writer *writer; /* NULL: lists */
static int64_t after_ns = INT64_MIN;

/* Some are not known, one never is. */
static void draw(struct random *random, double *figures, int n)
{
    for (int i = 0; i < n; i++) {
        double value = (double)random_between(random, 0, 1000000) / 7;
        figures[i] = random_chance(random, i % 3 == 0 ? 20 : 1) || i == 5 ? NAN : value;
    }
}

static void list(const char *table, const char *key, int64_t ts_ns, const double *figures, int n)
{
    printf("%s,%s,%lld", table, key, (long long)ts_ns);
    for (int i = 0; i < n; i++)
        isnan(figures[i]) ? printf(",") : printf(",%.17g", figures[i]);
    putchar('\n');
}

static void sample_device(struct random *random, const char *key, int64_t ts_ns)
{
    struct device_sample sample = {0};
    struct db_device device;
    struct db_device_sample row;
    snprintf(sample.device, sizeof sample.device, "%s", key);
    draw(random, (double *)&sample.figures, FIGURES);
    db_device_of(&sample, ts_ns, &device, &row);
    if (!writer) {
        list("device_samples", key, ts_ns, (const double *)&row.figures, FIGURES);
    } else if (ts_ns > after_ns) {
        db_writer_group_begin(writer);
        CHECK(db_writer_put_device(writer, &device) > 0);
        CHECK(db_writer_put_device_sample(writer, &row) > 0);
        db_writer_group_end(writer);
    }
}

static void sample_process(struct random *random, const char *role, int64_t ts_ns)
{
    struct process_sample sample = {.pid = 7};
    struct db_process process;
    struct db_process_sample row;
    snprintf(sample.role, sizeof sample.role, "%s", role);
    draw(random, &sample.cpu_percent, 4);
    db_process_of(&sample, ts_ns, &process, &row);
    if (!writer) {
        list("process_samples", role, ts_ns, (const double *)&row.figures, 4);
    } else if (ts_ns > after_ns) {
        db_writer_group_begin(writer);
        CHECK(db_writer_put_process(writer, &process) > 0);
        CHECK(db_writer_put_process_sample(writer, &row) > 0);
        db_writer_group_end(writer);
    }
}

static void sample_all(struct random *random, int64_t second)
{
    int64_t ts_ns = START_NS + second * SECOND_NS;
    sample_device(random, "nvidia:GPU-0", ts_ns);
    sample_process(random, "daemon", ts_ns + 1);
    if (second < 4 * DAY_S && random_chance(random, 40))
        sample_device(random, "nvidia:GPU-1", ts_ns + 2);
    if (second < 2 * HOUR_S)
        sample_device(random, "amd:0000:03:00.0", ts_ns + 3);
    if (second > DAY_S && second < 5 * DAY_S && random_chance(random, 30))
        sample_process(random, "ppo-btc", ts_ns + 4);
}

int main(int argc, char **argv)
{
    struct random random = {argc > 2 ? strtoull(argv[2], NULL, 0) : 1};
    static const struct db_writer_config config = {.max_delay_ms = 1, .queue_max = 1 << 28};
    if (argc > 4) {
        writer = fixture_writer(argv[3], &config);
        after_ns = strtoll(argv[4], NULL, 0);
        puts("open");
        fflush(stdout);
    }
    for (int64_t second = 0; second < 9 * DAY_S; second += random_between(&random, 1, 90)) {
        if (random_chance(&random, 1) && random_chance(&random, 5))
            second += random_between(&random, 60, 9 * HOUR_S);
        sample_all(&random, second);
    }
    if (writer)
        fixture_close(writer);
    return check_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The board's streams against the reference, to the bit: bar by bar over several series, with looks ahead in
 * between, saved and loaded at any bar; invalid memories are refused; on a device that fails at any call. */
#include "daemon/streams.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

enum { SERIES = 3, BARS = 400, SPECS_MAX = 64 };

static double open_[BARS], high[BARS], low[BARS], close_[BARS], volume[BARS], time_[BARS];

static struct indicator_bar bar_at(int i)
{
    return (struct indicator_bar){open_[i], high[i], low[i], close_[i], volume[i], time_[i]};
}

static void make(struct random *random)
{
    double price = 60000;
    for (int i = 0; i < BARS; i++) {
        open_[i] = price;
        price *= 1 + ((double)(random_next(random) % 2001) - 1000) * 1e-6;
        close_[i] = price;
        high[i] = fmax(open_[i], close_[i]) + (double)(random_next(random) % 100);
        low[i] = fmin(open_[i], close_[i]) - (double)(random_next(random) % 100);
        volume[i] = (double)(random_next(random) % 100000) * 1e-3;
        time_[i] = 1723161240.0 + 60.0 * i;
    }
}

static size_t all_specs(struct indicator_spec specs[SPECS_MAX])
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    for (size_t i = 0; i < n && i < SPECS_MAX; i++) {
        specs[i] = (struct indicator_spec){.row = rows[i]};
        for (size_t k = 0; k < rows[i]->n_options; k++)
            specs[i].options[k] = rows[i]->options[k].value;
    }
    return n < SPECS_MAX ? n : SPECS_MAX;
}

static double expected[4 * SPECS_MAX][BARS];
static size_t n_outputs;

static void compute_expected(void)
{
    struct indicator_spec specs[SPECS_MAX];
    size_t n = all_specs(specs);
    const struct indicator_columns columns = {open_, high, low, close_, volume, time_};
    for (size_t i = 0; i < n; i++) {
        double *out[INDICATOR_OUTPUTS_MAX];
        for (size_t k = 0; k < specs[i].row->n_outputs; k++)
            out[k] = expected[n_outputs++];
        CHECK_INT(indicator_reference(&specs[i], &columns, BARS, out), 0);
    }
}

static bool same_bits(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(isnan(a[i]) && isnan(b[i])) && memcmp(&a[i], &b[i], sizeof *a) != 0)
            return false;
    return true;
}

static void on_the_cpu(struct random *random)
{
    struct indicator_spec specs[SPECS_MAX];
    struct streams *streams, *other;
    size_t n_specs = all_specs(specs), outputs;
    CHECK_INT(daemon_streams_create(specs, n_specs, SERIES, &streams), 0);
    CHECK_INT(daemon_streams_create(specs, n_specs, SERIES, &other), 0);
    outputs = daemon_streams_outputs(streams);
    CHECK(outputs >= n_specs);

    CHECK_INT(outputs, n_outputs);

    const uint32_t series[SERIES] = {2, 0, 1};
    double *values = calloc(SERIES * outputs, sizeof *values), *ahead = calloc(outputs, sizeof *ahead);
    double *wanted = calloc(outputs, sizeof *wanted);
    for (int i = 0; i < BARS; i++) {
        struct indicator_bar bars[SERIES] = {bar_at(i), bar_at(i), bar_at(i)};
        for (size_t k = 0; k < outputs; k++)
            wanted[k] = expected[k][i];
        daemon_streams_peek(streams, 1, (const uint32_t[]){1}, &bars[0], ahead);
        CHECK(same_bits(ahead, wanted, outputs));
        daemon_streams_update(streams, SERIES, series, bars, values);
        for (int s = 0; s < SERIES; s++)
            CHECK(same_bits(values + (size_t)s * outputs, wanted, outputs));
        /* A memory of any bar continues in another object: here it always does. */
        void *memory;
        size_t size;
        CHECK_INT(daemon_streams_save(streams, 0, &memory, &size), 0);
        CHECK_INT(daemon_streams_load(other, 1, memory, size), 0);
        if (i + 1 < BARS) {
            struct indicator_bar next = bar_at(i + 1);
            for (size_t k = 0; k < outputs; k++)
                wanted[k] = expected[k][i + 1];
            daemon_streams_update(other, 1, (const uint32_t[]){1}, &next, values);
            CHECK(same_bits(values, wanted, outputs));
        }
        /* Cut short, too long, of another version or other streams: refused, and the series restarts. */
        if (i % 50 == 49) {
            CHECK_INT(daemon_streams_load(other, 2, memory, size - 1 - random_next(random) % (size - 1)),
                      -EINVAL);
            unsigned char *longer = calloc(1, size + 8);
            memcpy(longer, memory, size);
            CHECK_INT(daemon_streams_load(other, 2, longer, size + 8), -EINVAL);
            CHECK_INT(daemon_streams_load(other, 2, NULL, 0), -EINVAL);
            longer[0]++; /* of another version */
            CHECK_INT(daemon_streams_load(other, 2, longer, size), -EINVAL);
            for (size_t b = 0; b < size; b++)
                longer[b] = (unsigned char)random_next(random);
            CHECK_INT(daemon_streams_load(other, 2, longer, size), -EINVAL);
            free(longer);
            struct indicator_bar first = bar_at(0);
            for (size_t k = 0; k < outputs; k++)
                wanted[k] = expected[k][0];
            daemon_streams_update(other, 1, (const uint32_t[]){2}, &first, values);
            CHECK(same_bits(values, wanted, outputs));
        }
        free(memory);
    }
    free(values);
    free(ahead);
    free(wanted);
    daemon_streams_destroy(streams);
    daemon_streams_destroy(other);
    daemon_streams_destroy(NULL);
    CHECK_INT(daemon_streams_create(NULL, 0, 2, &streams), 0); /* no indicators: bars alone */
    CHECK_INT(daemon_streams_outputs(streams), 0);
    daemon_streams_destroy(streams);
}

/* More series at any bar: the old ones continue, the new ones have seen nothing, on a device too. */
static void growing(const char *path, struct random *random)
{
    struct indicator_spec specs[SPECS_MAX];
    struct streams *streams;
    struct gpu_module *module = NULL;
    char reason[GPU_REASON_MAX] = "";
    size_t n_specs = all_specs(specs), n = 1;
    int started[SERIES] = {0}, grown[SERIES] = {0, (int)random_between(random, 1, BARS / 2)};
    grown[2] = grown[1] + (int)random_between(random, 1, BARS / 4);
    double *values = calloc(SERIES * n_outputs, sizeof *values), *wanted = calloc(n_outputs, sizeof *wanted);
    setenv("FAKE_GPU_FAIL", "none", 1);
    CHECK_INT(gpu_module_open(path, &module, reason, sizeof reason), 0);
    CHECK_INT(daemon_streams_create(specs, n_specs, 1, &streams), 0);
    CHECK_INT(daemon_streams_to_device(streams, module, reason, sizeof reason), 0);
    for (int i = 0; i < BARS; i++) {
        const uint32_t series[SERIES] = {0, 1, 2};
        struct indicator_bar bars[SERIES];
        if (n < SERIES && i == grown[n]) {
            CHECK_INT(daemon_streams_grow(streams, n + 1), 0);
            CHECK(!daemon_streams_are_on_device(streams));
            if (n == 1)
                CHECK_INT(daemon_streams_to_device(streams, module, reason, sizeof reason), 0);
            started[n++] = i;
        }
        for (size_t s = 0; s < n; s++)
            bars[s] = bar_at(i - started[s]);
        daemon_streams_update(streams, n, series, bars, values);
        for (size_t s = 0; s < n; s++) {
            for (size_t k = 0; k < n_outputs; k++)
                wanted[k] = expected[k][i - started[s]];
            CHECK(same_bits(values + s * n_outputs, wanted, n_outputs));
        }
    }
    CHECK_INT(n, SERIES);
    CHECK_INT(daemon_streams_grow(streams, 1), 0); /* never fewer */
    daemon_streams_update(streams, 1, (const uint32_t[]){2}, &(struct indicator_bar){1, 1, 1, 1, 1, 1},
                          values);
    daemon_streams_destroy(streams);
    gpu_module_close(module);
    free(values);
    free(wanted);
}

/* On a device that fails as `how` says after so many calls: every value is the reference's, before, in and
 * after the failing call, whichever that is; what was saved continues as well. */
static void on_a_device(const char *path, const char *how, int after)
{
    struct indicator_spec specs[SPECS_MAX];
    struct gpu_module *module = NULL;
    struct streams *streams, *other;
    char reason[GPU_REASON_MAX] = "", number[16];
    size_t n_specs = all_specs(specs);
    snprintf(number, sizeof number, "%d", after);
    setenv("FAKE_GPU_FAIL", how, 1);
    setenv("FAKE_GPU_FAIL_AFTER", number, 1);
    CHECK_INT(gpu_module_open(path, &module, reason, sizeof reason), 0);
    CHECK_INT(daemon_streams_create(specs, n_specs, SERIES, &streams), 0);
    CHECK_INT(daemon_streams_create(specs, n_specs, SERIES, &other), 0);
    double *values = calloc(SERIES * n_outputs, sizeof *values), *wanted = calloc(n_outputs, sizeof *wanted);
    const uint32_t series[SERIES] = {1, 2, 0};
    bool failing = strcmp(how, "none") != 0, left = false;
    for (int i = 0; i < BARS; i++) {
        struct indicator_bar bars[SERIES] = {bar_at(i), bar_at(i), bar_at(i)};
        if (i == 30) { /* it comes in the middle */
            int r = daemon_streams_to_device(streams, module, reason, sizeof reason);
            CHECK_INT(r, strcmp(how, "create") == 0 ? -ENOMEM : 0);
            CHECK(r == 0 || strstr(reason, "out of memory"));
        }
        left |= i >= 30 && !daemon_streams_are_on_device(streams);
        for (size_t k = 0; k < n_outputs; k++)
            wanted[k] = expected[k][i];
        if (i % 3 == 0) {
            daemon_streams_peek(streams, SERIES, series, bars, values);
            for (int s = 0; s < SERIES; s++)
                CHECK(same_bits(values + (size_t)s * n_outputs, wanted, n_outputs));
        }
        daemon_streams_update(streams, SERIES, series, bars, values);
        for (int s = 0; s < SERIES; s++)
            CHECK(same_bits(values + (size_t)s * n_outputs, wanted, n_outputs));
        if (i % 41 == 40 && i + 1 < BARS) {
            void *memory;
            size_t size;
            CHECK_INT(daemon_streams_save(streams, 2, &memory, &size), 0);
            CHECK_INT(daemon_streams_load(other, 0, memory, size), 0);
            free(memory);
            struct indicator_bar next = bar_at(i + 1);
            for (size_t k = 0; k < n_outputs; k++)
                wanted[k] = expected[k][i + 1];
            daemon_streams_update(other, 1, (const uint32_t[]){0}, &next, values);
            CHECK(same_bits(values, wanted, n_outputs));
        }
    }
    CHECK(left == failing);
    CHECK(daemon_streams_are_on_device(streams) == !failing);
    CHECK((daemon_streams_failure(streams)[0] != '\0') == (failing && strcmp(how, "create") != 0));
    CHECK(daemon_streams_to_host(streams));
    CHECK(!daemon_streams_are_on_device(streams));
    free(values);
    free(wanted);
    daemon_streams_destroy(streams);
    daemon_streams_destroy(other);
    gpu_module_close(module);
}

/* argv: the fake GPU module. */
int main(int argc, char **argv)
{
    struct random random = random_seeded("daemon/streams", 20261121);
    if (argc != 2)
        return EXIT_FAILURE;
    make(&random);
    compute_expected();
    on_the_cpu(&random);
    growing(argv[1], &random);
    on_a_device(argv[1], "none", 0);
    on_a_device(argv[1], "create", 0);
    for (int after = 0; after < 12; after++) {
        on_a_device(argv[1], "memory", after);
        on_a_device(argv[1], "error", 37 * after);
    }
    return check_done("daemon/streams");
}

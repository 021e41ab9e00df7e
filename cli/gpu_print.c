/* Prints devices and processes, as tables and as an object. */
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/gpu.h"
#include "db/records.h"

#define AT(name)     (int)(offsetof(struct device_figures, name) / sizeof(double))
#define AT_OWN(name) (int)(offsetof(struct db_process_figures, name) / sizeof(double))
#define GIB          (1024.0 * 1024 * 1024)
#define MIB          (1024.0 * 1024)

/* What a figure is of a device or a process: its last, or its span's. */
static double value_of(const struct gpu_sampled *of, enum db_statistic statistic, int at)
{
    double figures[DB_SPAN_FIGURES];
    if (statistic == DB_SAMPLE)
        return of->last[at];
    db_span_figures(&of->span, statistic, figures, DB_SPAN_FIGURES);
    return figures[at];
}

/* A column of figures: in units of `unit`, with so many decimals. */
struct figure_column {
    int at;
    enum db_statistic statistic;
    double unit;
    int decimals;
};

static int print_figures(const struct gpu_sampled *of, const struct figure_column *columns, int n,
                         char buf[][FORMAT_MAX], const char **cells)
{
    for (int i = 0; i < n; i++)
        cells[i] = cli_format_number(
            buf[i], value_of(of, columns[i].statistic, columns[i].at) / columns[i].unit, columns[i].decimals);
    return n;
}

static int64_t age_ms(int64_t now_ns, int64_t then_ns)
{
    return then_ns < now_ns ? (now_ns - then_ns) / 1000000 : 0;
}

static const char *age_of(char buf[static FORMAT_MAX], int64_t now_ns, int64_t then_ns)
{
    return cli_format_age(buf, age_ms(now_ns, then_ns));
}

static const struct stored_column device_columns[] = {
    {"device", -8}, {"name", -8},      {"age", 5},        {"util_%", 6},       {"mean", 5},
    {"max", 5},     {"memory_gib", 7}, {"max", 5},        {"of", 5},           {"power_w", 7},
    {"mean", 5},    {"max", 5},        {"limit", 5},      {"clock_mhz", 9},    {"temp_c", 6},
    {"max", 5},     {"fan_%", 5},      {"throttled", -9}, {"throttled_%", 11}, {"reason", -1},
};
static const struct figure_column device_figures[] = {
    {AT(util_percent), DB_SAMPLE, 1, 0},
    {AT(util_percent), DB_MEAN, 1, 0},
    {AT(util_percent), DB_MAX, 1, 0},
    {AT(memory_used_bytes), DB_SAMPLE, GIB, 1},
    {AT(memory_used_bytes), DB_MAX, GIB, 1},
    {AT(memory_total_bytes), DB_SAMPLE, GIB, 1},
    {AT(power_w), DB_SAMPLE, 1, 0},
    {AT(power_w), DB_MEAN, 1, 0},
    {AT(power_w), DB_MAX, 1, 0},
    {AT(power_limit_w), DB_SAMPLE, 1, 0},
    {AT(clock_mhz), DB_SAMPLE, 1, 0},
    {AT(temperature_c), DB_SAMPLE, 1, 0},
    {AT(temperature_c), DB_MAX, 1, 0},
    {AT(fan_percent), DB_SAMPLE, 1, 0},
};
enum { DEVICE_FIGURES = sizeof device_figures / sizeof *device_figures };

/* The share of the time in which any reason slowed it; the reasons may have been there together. */
static double throttled(const struct gpu_sampled *device)
{
    struct device_figures mean;
    db_span_figures(&device->span, DB_MEAN, (double *)&mean, DB_DEVICE_FIGURES);
    return 100 * db_throttled_most(&mean);
}

/* By what its last sample says: "power", "power+thermal"; "-" while nothing slows it. */
static const char *throttled_now(char buf[static FORMAT_MAX], const struct gpu_sampled *device)
{
    return cli_format_throttled(buf, device->last[AT(throttle_power)], device->last[AT(throttle_thermal)],
                                device->last[AT(throttle_hardware)]);
}

static void print_devices(const struct gpu_read *read, int64_t now_ns)
{
    struct stored_list list = {.name = "devices",
                               .columns = device_columns,
                               .n_columns = sizeof device_columns / sizeof *device_columns,
                               .fits = true};
    for (size_t i = 0; i < read->n_devices; i++) {
        const struct gpu_sampled *device = &read->devices[i];
        char buf[STORED_COLUMNS_MAX][FORMAT_MAX], age[FORMAT_MAX], share[FORMAT_MAX], kinds[FORMAT_MAX];
        const char *cells[STORED_COLUMNS_MAX] = {device->key, device->name,
                                                 age_of(age, now_ns, device->last_ns)};
        int n = 3 + print_figures(device, device_figures, DEVICE_FIGURES, buf, cells + 3);
        cells[n++] = throttled_now(kinds, device);
        cells[n++] = cli_format_number(share, throttled(device), 0);
        cells[n] = device->reason;
        cli_stored_row(&list, cells);
    }
    cli_stored_end(&list);
}

static const struct stored_column holder_columns[] = {
    {"on", -8}, {"pid", 7},    {"program", -12}, {"whose", -10}, {"memory_gib", 7},
    {"max", 5}, {"util_%", 6}, {"max", 5},       {"since", 5},   {"seen", 5},
};

/* Of which devices processes are hidden, as in a container. */
static void print_hidden(const struct gpu_read *read)
{
    size_t hidden = 0;
    for (size_t i = 0; i < read->n_devices; i++)
        hidden += !read->devices[i].processes_known;
    if (hidden == 0)
        return;
    fputs("\nprocesses on devices", stdout);
    const char *separator = ": ";
    for (size_t i = 0; i < read->n_devices && hidden < read->n_devices; i++)
        if (!read->devices[i].processes_known) {
            printf("%s%s", separator, read->devices[i].key);
            separator = ", ";
        }
    puts(": " FORMAT_HIDDEN);
}

static void print_holders(const struct gpu_read *read, int64_t now_ns)
{
    struct stored_list list = {.name = "holders",
                               .columns = holder_columns,
                               .n_columns = sizeof holder_columns / sizeof *holder_columns,
                               .fits = true};
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], d[FORMAT_MAX], e[FORMAT_MAX], f[FORMAT_MAX],
        pid[STORED_CELL];
    for (size_t i = 0; i < read->n_holders; i++) {
        const struct db_device_process *p = &read->holders[i];
        const char *cells[] = {p->device,
                               cli_stored_integer(pid, p->pid),
                               p->name,
                               p->role,
                               cli_format_number(a, p->memory_bytes / GIB, 1),
                               cli_format_number(b, p->memory_bytes_max / GIB, 1),
                               cli_format_number(c, p->util_percent, 0),
                               cli_format_number(d, p->util_percent_max, 0),
                               age_of(e, now_ns, p->first_ns),
                               age_of(f, now_ns, p->ts_ns)};
        if (i == 0)
            putchar('\n');
        cli_stored_row(&list, cells);
    }
    if (read->n_holders > 0)
        cli_stored_end(&list);
    print_hidden(read);
}

static const struct stored_column phase_columns[] = {
    {"training", -12}, {"on", -8}, {"phase", -10}, {"util_%", 6}, {"max", 5}, {"samples", 7},
};

static void print_phases(const struct gpu_read *read)
{
    struct stored_list list = {.name = "phases",
                               .columns = phase_columns,
                               .n_columns = sizeof phase_columns / sizeof *phase_columns,
                               .fits = true};
    char a[FORMAT_MAX], b[FORMAT_MAX], n[STORED_CELL];
    for (size_t i = 0; i < read->n_phases; i++) {
        const struct db_device_phase *p = &read->phases[i];
        const char *cells[] = {p->training,
                               p->device,
                               p->state,
                               cli_format_number(a, p->util_percent, 0),
                               cli_format_number(b, p->util_percent_max, 0),
                               cli_stored_integer(n, p->n)};
        if (i == 0)
            putchar('\n');
        cli_stored_row(&list, cells);
    }
    if (read->n_phases > 0)
        cli_stored_end(&list);
}

static const struct stored_column process_columns[] = {
    {"process", -8},   {"pid", 7}, {"age", 5},         {"cpu_%", 6}, {"mean", 6},           {"max", 6},
    {"memory_mib", 7}, {"max", 7}, {"read_mib/s", 10}, {"mean", 6},  {"written_mib/s", 13}, {"mean", 6},
};
static const struct figure_column process_figures[] = {
    {AT_OWN(cpu_percent), DB_SAMPLE, 1, 0},     {AT_OWN(cpu_percent), DB_MEAN, 1, 0},
    {AT_OWN(cpu_percent), DB_MAX, 1, 0},        {AT_OWN(resident_bytes), DB_SAMPLE, MIB, 0},
    {AT_OWN(resident_bytes), DB_MAX, MIB, 0},   {AT_OWN(read_bytes_s), DB_SAMPLE, MIB, 1},
    {AT_OWN(read_bytes_s), DB_MEAN, MIB, 1},    {AT_OWN(written_bytes_s), DB_SAMPLE, MIB, 1},
    {AT_OWN(written_bytes_s), DB_MEAN, MIB, 1},
};
enum { PROCESS_FIGURES = sizeof process_figures / sizeof *process_figures };

static void print_processes(const struct gpu_read *read, int64_t now_ns)
{
    struct stored_list list = {.name = "processes",
                               .columns = process_columns,
                               .n_columns = sizeof process_columns / sizeof *process_columns,
                               .fits = true};
    bool any = false;
    for (size_t i = 0; i < read->n_processes; i++) {
        const struct gpu_sampled *process = &read->processes[i];
        char buf[STORED_COLUMNS_MAX][FORMAT_MAX], age[FORMAT_MAX], pid[STORED_CELL];
        const char *cells[STORED_COLUMNS_MAX] = {process->key, cli_stored_integer(pid, process->pid),
                                                 age_of(age, now_ns, process->last_ns)};
        if (process->span.n == 0)
            continue; /* not of this span */
        print_figures(process, process_figures, PROCESS_FIGURES, buf, cells + 3);
        if (!any)
            putchar('\n');
        any = true;
        cli_stored_row(&list, cells);
    }
    if (any)
        cli_stored_end(&list);
}

void cli_gpu_print(const struct gpu_read *read, int64_t now_ns)
{
    if (read->n_devices > 0)
        print_devices(read, now_ns);
    if (read->n_devices == 0 || read->reason[0])
        puts(read->reason[0] ? read->reason : FORMAT_NO_DEVICE);
    print_holders(read, now_ns);
    print_phases(read);
    print_processes(read, now_ns);
}

/* ---- as an object ---- */

static json_t *figures_object(const struct gpu_sampled *of, enum db_statistic statistic,
                              const char *const *names, int n)
{
    json_t *object = json_object();
    for (int i = 0; i < n; i++)
        json_object_set_new(object, names[i], record_json_real(value_of(of, statistic, i)));
    return object;
}

/* Its last figures, and the span's. */
static void set_figures(json_t *object, const struct gpu_sampled *of, const char *const *names, int n,
                        int64_t now_ns)
{
    json_object_set_new(object, "age_ms", json_integer((json_int_t)age_ms(now_ns, of->last_ns)));
    json_object_set_new(object, "last", figures_object(of, DB_SAMPLE, names, n));
    json_object_set_new(object, "mean", figures_object(of, DB_MEAN, names, n));
    json_object_set_new(object, "min", figures_object(of, DB_MIN, names, n));
    json_object_set_new(object, "max", figures_object(of, DB_MAX, names, n));
    json_object_set_new(object, "n", json_integer((json_int_t)of->span.n));
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? record_json_text(text) : json_null();
}

static json_t *device_object(const struct gpu_sampled *device, int64_t now_ns)
{
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:I, s:I}", "device", record_json_text(device->key), "name",
                  text_or_null(device->name), "driver", text_or_null(device->driver), "profile",
                  text_or_null(device->profile), "reason", text_or_null(device->reason), "processes_known",
                  device->processes_known, "first_ns", (json_int_t)device->first_ns, "last_ns",
                  (json_int_t)device->last_ns);
    set_figures(object, device, cli_gpu_device_figures, DB_DEVICE_FIGURES, now_ns);
    return object;
}

static json_t *process_object(const struct gpu_sampled *process, int64_t now_ns)
{
    json_t *object = json_pack("{s:o, s:I, s:I, s:I}", "role", record_json_text(process->key), "pid",
                               (json_int_t)process->pid, "first_ns", (json_int_t)process->first_ns, "last_ns",
                               (json_int_t)process->last_ns);
    set_figures(object, process, cli_gpu_process_figures, DB_PROCESS_FIGURES, now_ns);
    return object;
}

json_t *cli_gpu_object(const struct gpu_read *read, int64_t now_ns)
{
    json_t *devices = json_array(), *holders = json_array(), *phases = json_array(),
           *processes = json_array();
    for (size_t i = 0; i < read->n_devices; i++)
        json_array_append_new(devices, device_object(&read->devices[i], now_ns));
    for (size_t i = 0; i < read->n_holders; i++)
        json_array_append_new(
            holders, record_json_object(&db_record_device_processes, NULL, 0, &read->holders[i], NULL));
    for (size_t i = 0; i < read->n_phases; i++) {
        const struct db_device_phase *p = &read->phases[i];
        json_array_append_new(
            phases, json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "training", record_json_text(p->training),
                              "device", record_json_text(p->device), "state", record_json_text(p->state),
                              "util_percent", record_json_real(p->util_percent), "util_percent_max",
                              record_json_real(p->util_percent_max), "n", (json_int_t)p->n));
    }
    for (size_t i = 0; i < read->n_processes; i++)
        json_array_append_new(processes, process_object(&read->processes[i], now_ns));
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "papertape.gpu/1", "reason",
                     text_or_null(read->reason), "devices", devices, "device_processes", holders, "phases",
                     phases, "processes", processes);
}

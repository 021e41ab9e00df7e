#include "cli/gpu.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/verbs.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"

#define DEFAULT_NS (3600 * INT64_C(1000000000))

/* ---- samples, a row each ---- */

#define FIGURE_COLUMN(name) {#name, (int)sizeof(#name) - 1},
static const struct stored_column device_columns[] = {
    {"ts_ns", -24},    {"device", -12}, {"name", -12}, RECORD_DEVICE_FIGURES(FIGURE_COLUMN){"period_s", 8},
    {"statistic", -9}, {"n", 4}};
static const struct stored_column process_columns[] = {
    {"ts_ns", -24},    {"role", -12}, {"pid", 7}, RECORD_PROCESS_FIGURES(FIGURE_COLUMN){"period_s", 8},
    {"statistic", -9}, {"n", 4}};

struct gpu_listing {
    struct stored_list *list;
    json_t *array; /* NULL: the list */
    const struct gpu_asked *asked;
    const struct gpu_sampled *of;
};

struct sample {
    int64_t ts_ns, period_s, n;
    enum db_statistic statistic;
    const double *figures;
};

/* Exact, for programs; a table has a percentage to a tenth and bytes whole, as other tables do. */
static const char *real(enum stored_form form, char buf[static STORED_CELL], const char *name, double value)
{
    char number[FORMAT_MAX];
    if (form == STORED_TABLE)
        snprintf(buf, STORED_CELL, "%s", cli_format_number(number, value, strstr(name, "percent") ? 1 : 0));
    else if (isnan(value))
        buf[0] = '\0';
    else
        snprintf(buf, STORED_CELL, "%.15g", value);
    return buf;
}

static void list_sample(const struct gpu_listing *listing, const struct sample *sample, const char *name,
                        int count)
{
    char buf[STORED_COLUMNS_MAX][STORED_CELL];
    const char *cells[STORED_COLUMNS_MAX];
    enum stored_form form = listing->list->form;
    int n = 0;
    cells[n] = cli_stored_time(form, buf[n], sample->ts_ns), n++;
    cells[n++] = listing->of->key;
    cells[n++] = name;
    for (int i = 0; i < count; i++, n++)
        cells[n] = real(form, buf[n], listing->list->columns[3 + i].name, sample->figures[i]);
    cells[n] = cli_stored_integer(buf[n], sample->period_s), n++;
    cells[n++] = db_words_statistic.names[sample->statistic];
    cells[n] = cli_stored_integer(buf[n], sample->n);
    cli_stored_row(listing->list, cells);
}

static void add_sample(const struct gpu_listing *listing, const struct sample *sample, const char *key,
                       const char *const *names, int count)
{
    json_t *object = json_pack("{s:I, s:s}", "ts_ns", (json_int_t)sample->ts_ns, key, listing->of->key);
    for (int i = 0; i < count; i++)
        json_object_set_new(object, names[i], record_json_real(sample->figures[i]));
    json_object_set_new(object, "period_s", json_integer((json_int_t)sample->period_s));
    json_object_set_new(object, "statistic", json_string(db_words_statistic.names[sample->statistic]));
    json_object_set_new(object, "n", json_integer((json_int_t)sample->n));
    json_array_append_new(listing->array, object);
}

/* Is it a row for this --statistic? */
static bool is_wanted(const struct gpu_asked *asked, enum db_statistic statistic)
{
    const char *word = asked->statistic ? asked->statistic : "mean";
    return statistic == DB_SAMPLE || strcmp(word, "all") == 0 ||
           strcmp(word, db_words_statistic.names[statistic]) == 0;
}

static void on_device(void *ctx, const struct db_device_sample *row)
{
    const struct gpu_listing *listing = ctx;
    const struct sample sample = {row->ts_ns, row->period_s, row->n, row->statistic,
                                  (const double *)&row->figures};
    if (!is_wanted(listing->asked, row->statistic))
        return;
    if (listing->array)
        add_sample(listing, &sample, "device", cli_gpu_device_figures, DB_DEVICE_FIGURES);
    else
        list_sample(listing, &sample, listing->of->name, DB_DEVICE_FIGURES);
}

static void on_process(void *ctx, const struct db_process_sample *row)
{
    const struct gpu_listing *listing = ctx;
    const struct sample sample = {row->ts_ns, row->period_s, row->n, row->statistic,
                                  (const double *)&row->figures};
    char pid[STORED_CELL];
    if (!is_wanted(listing->asked, row->statistic))
        return;
    if (listing->array)
        add_sample(listing, &sample, "role", cli_gpu_process_figures, DB_PROCESS_FIGURES);
    else
        list_sample(listing, &sample, cli_stored_integer(pid, listing->of->pid), DB_PROCESS_FIGURES);
}

/* By device or role, then by time. */
static int read_samples(struct db_reader *reader, const struct gpu_read *read, const struct gpu_asked *asked,
                        struct stored_list *list, json_t *array)
{
    const struct gpu_sampled *each = asked->processes ? read->processes : read->devices;
    size_t n = asked->processes ? read->n_processes : read->n_devices;
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct gpu_listing listing = {list, array, asked, &each[i]};
        const struct db_samples_wanted wanted = {.key = each[i].key,
                                                 .from_ns = asked->from_ns,
                                                 .to_ns = asked->to_ns,
                                                 .fine_ns = INT64_MIN,
                                                 .minute_ns = INT64_MIN,
                                                 .extremes =
                                                     !is_wanted(asked, DB_MEAN) || is_wanted(asked, DB_MAX)};
        r = asked->processes ? db_reader_process_samples(reader, &wanted, on_process, &listing)
                             : db_reader_device_samples(reader, &wanted, on_device, &listing);
    }
    return r;
}

/* ---- the verb ---- */

static int print_samples(struct db_reader *reader, const struct gpu_read *read, const struct gpu_asked *asked,
                         enum stored_form form)
{
    struct stored_list list = {.name = "gpu", .form = form, .columns = device_columns};
    list.n_columns = sizeof device_columns / sizeof *device_columns;
    if (asked->processes) {
        list.columns = process_columns;
        list.n_columns = sizeof process_columns / sizeof *process_columns;
    }
    int r = read_samples(reader, read, asked, &list, NULL);
    cli_stored_end(&list);
    return r < 0 ? r : list.r;
}

static int print_object(struct db_reader *reader, const struct gpu_read *read, const struct gpu_asked *asked,
                        int64_t now_ns)
{
    json_t *object = cli_gpu_object(read, now_ns), *samples = json_array();
    int r = object && samples ? read_samples(reader, read, asked, NULL, samples) : -ENOMEM;
    if (r < 0) {
        json_decref(object);
        json_decref(samples);
        return r;
    }
    json_object_set_new(object, asked->processes ? "process_samples" : "samples", samples);
    return cli_stored_print("gpu", object, 15) == EXIT_OK ? 0 : -ENOMEM;
}

static const struct db_selected selected = {NULL}; /* the queries have the period */

/* An hour until --to, --at or now, without --from. Returns the moment that ages are of. */
static int64_t set_period(struct gpu_asked *asked)
{
    const struct db_selection *given = &asked->selection;
    const int64_t now_ns = given->at_ns > 0 ? given->at_ns : clock_wall_ns();
    const int64_t end_ns = given->to_ns == INT64_MAX ? now_ns : given->to_ns;

    asked->from_ns = given->from_ns == INT64_MIN ? end_ns - DEFAULT_NS : given->from_ns;
    asked->to_ns = given->to_ns == INT64_MAX ? INT64_MAX : given->to_ns - 1;
    return now_ns;
}

static int run(struct option_call *call)
{
    struct gpu_asked asked = *(const struct gpu_asked *)call->into;
    struct gpu_read read = {0};
    struct db_reader *reader;
    enum stored_form form = cli_stored_form(call);
    if (form == STORED_TABLE && asked.statistic && !asked.processes)
        return option_fail(call, EXIT_USAGE,
                           "--statistic: it goes with --csv, --json or --processes: the table "
                           "of devices has the mean and the greatest");
    int status = cli_selected_open("gpu", call->state, call->into, &selected, &reader);
    if (status != EXIT_OK)
        return status;
    const int64_t now_ns = set_period(&asked);
    int r = db_reader_begin(reader);
    bool rows = form == STORED_CSV || (form == STORED_TABLE && asked.processes);
    if (r == 0)
        r = rows ? cli_gpu_read_sampled(reader, &read) : cli_gpu_read(reader, &asked, &read);
    if (r == 0 && form == STORED_JSON)
        r = print_object(reader, &read, &asked, now_ns);
    else if (r == 0 && rows)
        r = print_samples(reader, &read, &asked, form);
    else if (r == 0)
        cli_gpu_print(&read, now_ns);
    db_reader_end(reader);
    cli_gpu_finish(&read);
    return cli_stored_close("gpu", reader, r);
}

static_assert(DB_SAMPLES_KEPT_S == 2 * 3600 && DB_MINUTES_KEPT_S == 48 * 3600 && DB_TENS_KEPT_S == 8 * 86400,
              "the last sentence of .about");

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run}};

static const struct option_row options[] = {
    SELECTED_PERIOD("sampled, an hour before the end by default,"),
    SELECTED_MOMENT(),
    {"statistic", "mean|min|max|all",
     "of samples that are summed up, minutes and tens of minutes: their mean (default), least or greatest, or "
     "a row each; not of the table of devices, which has its own columns",
     offsetof(struct gpu_asked, statistic)},
    {"processes", NULL, "samples of the daemon's, trainer's and trainings' processes, not of devices",
     offsetof(struct gpu_asked, processes)},
};

static const struct option_refusal refused[] = {
    SELECTED_REFUSED_ACCOUNT("devices are of a machine, not of an account")};

CLI_VERB(cli_gpu) = {
    .name = "gpu",
    .words = "what devices and processes used, as a table, CSV or JSON",
    .about =
        "Stored samples of devices, with or without a daemon. A table has each device now, with the mean and "
        "the greatest since --from, the processes on it, utilisation by the phase of a training, and our own "
        "processes. What is without mean or max is the newest sample, as `last` in JSON is, whatever --from and "
        "--to are, or with --at the newest one of then. With --csv a row a sample at the finest resolution that is stored of each moment: "
        "ts_ns,device,name, the figures, period_s (0: a single sample), statistic and n, of how many samples. "
        "An empty cell is not known. Samples are kept for 2 hours, minutes for 48, tens of minutes for 8 days.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct gpu_asked),
    .init = cli_selected_init,
};

#include "cli/indicators.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_args.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "engine/backtest/higher.h"
#include "exchange/bars_file.h"
#include "exchange/calendar_file.h"
#include "exchange/exit_status.h"
#include "indicators_gpu/indicators.h"
#include "indicators_gpu/module.h"

enum backend { BACKEND_CPU, BACKEND_REFERENCE, BACKEND_STREAM, BACKEND_GPU };

static const char *const backend_names[] = {
    [BACKEND_CPU] = "cpu",
    [BACKEND_REFERENCE] = "reference",
    [BACKEND_STREAM] = "stream",
    [BACKEND_GPU] = "gpu",
};

struct indicators_request {
    enum backend backend;
    enum indicator_precision precision;
    struct indicators_bars sessions;
    struct bars_file_options file;
    struct bars_file bars;
    struct calendar_file *calendar; /* NULL: none */
    double *open_time_s;            /* [bars.n] */
    size_t n_specs, n_columns;
    struct indicator_spec *specs; /* [n_specs] */
    int64_t *frame_ns;            /* [n_specs]: its longer interval, 0: the bars' own */
    const char **intervals;       /* [n_specs]: its text, or NULL; the arguments' */
    double **out;                 /* [n_columns], bars.n each: spec by spec */
};

static struct indicator_columns columns_of(const struct indicators_request *request)
{
    const struct bars_file *bars = &request->bars;
    return (struct indicator_columns){bars->open,  bars->high,   bars->low,
                                      bars->close, bars->volume, request->open_time_s};
}

static int reference_one(const struct indicator_spec *spec, const struct indicators_request *request,
                         double **out)
{
    struct indicator_columns in = columns_of(request);
    return indicator_reference(spec, &in, request->bars.n, out);
}

static int stream_one(const struct indicator_spec *spec, const struct indicators_request *request,
                      double **out)
{
    const struct bars_file *bars = &request->bars;
    struct indicator_stream *stream;
    int r = indicator_stream_open(spec, &stream);
    if (r < 0)
        return r;
    for (size_t i = 0; i < bars->n; i++) {
        struct indicator_bar bar = {bars->open[i],  bars->high[i],   bars->low[i],
                                    bars->close[i], bars->volume[i], request->open_time_s[i]};
        double values[INDICATOR_OUTPUTS_MAX];
        bool ready = indicator_stream_update(stream, &bar, values);
        for (size_t k = 0; k < spec->row->n_outputs; k++)
            out[k][i] = ready ? values[k] : NAN;
    }
    r = indicator_stream_refused(stream) > 0 ? -EINVAL : 0;
    indicator_stream_close(stream);
    return r;
}

/* One after the other. */
static int compute_each(const struct indicators_request *request,
                        int (*one)(const struct indicator_spec *spec,
                                   const struct indicators_request *request, double **out))
{
    double **out = request->out;
    int r = 0;
    for (size_t i = 0; i < request->n_specs && r == 0; out += request->specs[i++].row->n_outputs)
        r = one(&request->specs[i], request, out);
    return r;
}

static int compute_gpu(const struct indicators_request *request)
{
    struct indicator_columns in = columns_of(request);
    struct gpu_batch batch = {
        .method = GPU_EXACT,
        .n_series = 1,
        .n_bars = request->bars.n,
        .series = &in,
        .n_specs = request->n_specs,
        .specs = request->specs,
        .out = request->out,
    };
    struct gpu_module *module;
    char reason[GPU_REASON_MAX];
    int r = gpu_module_open(NULL, &module, reason, sizeof(reason));
    if (r == 0) {
        r = gpu_module_compute(module, &batch, reason, sizeof(reason));
        gpu_module_close(module);
    }
    if (r == 0)
        return 0;
    fprintf(stderr, "papertape: --backend gpu: %s: the CPU computes instead\n", reason);
    return compute_each(request, reference_one);
}

static float *narrow(const double *values, size_t n)
{
    float *ret = malloc((n + 1) * sizeof(*ret));
    for (size_t i = 0; ret && i < n; i++)
        ret[i] = (float)values[i];
    return ret;
}

/* In float32: its outputs are widened into the request's. */
static int compute_f32(const struct indicators_request *request, struct indicator_request *fast,
                       const double *const in[], char *err, size_t err_cap)
{
    float *columns[INDICATOR_COLUMNS] = {NULL}, **out = calloc(request->n_columns, sizeof(*out));
    size_t n = request->bars.n;
    bool memory = out != NULL;
    for (size_t c = 0; c < INDICATOR_COLUMNS && memory; c++)
        if (1u << c != INDICATOR_TIME) {
            memory = (columns[c] = narrow(in[c], n)) != NULL;
            fast->columns[c].values = columns[c];
        }
    for (size_t k = 0; k < request->n_columns && memory; k++)
        memory = (out[k] = malloc((n + 1) * sizeof(float))) != NULL;
    fast->out = (void *const *)out;

    int r = memory ? indicator_compute(fast, err, err_cap) : -ENOMEM;
    for (size_t k = 0; k < request->n_columns && r == 0; k++)
        for (size_t i = 0; i < n; i++)
            request->out[k][i] = (double)out[k][i];
    for (size_t k = 0; k < request->n_columns && out; k++)
        free(out[k]);
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        free(columns[c]);
    free(out);
    return r;
}

static int compute_cpu(const struct indicators_request *request, char *err, size_t err_cap)
{
    const struct bars_file *bars = &request->bars;
    const double *const in[INDICATOR_COLUMNS] = {bars->open,  bars->high,   bars->low,
                                                 bars->close, bars->volume, request->open_time_s};
    struct indicator_request fast = {.precision = request->precision,
                                     .n_specs = request->n_specs,
                                     .specs = request->specs,
                                     .out = (void *const *)request->out};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        fast.columns[c] = (struct indicator_column){in[c], bars->n};
    return request->precision == INDICATOR_F32 ? compute_f32(request, &fast, in, err, err_cap)
                                               : indicator_compute(&fast, err, err_cap);
}

/* On failure `err` may hold what was wrong. */
static int compute(const struct indicators_request *request, char *err, size_t err_cap)
{
    switch (request->backend) {
    case BACKEND_STREAM:
        return compute_each(request, stream_one);
    case BACKEND_GPU:
        return compute_gpu(request);
    case BACKEND_CPU:
        return compute_cpu(request, err, err_cap);
    case BACKEND_REFERENCE:
        break;
    }
    return compute_each(request, reference_one);
}

static int print_csv(const struct indicators_request *request)
{
    int digits = request->precision == INDICATOR_F32 ? 9 : 17;
    fputs("timestamp_ns", stdout);
    for (size_t i = 0; i < request->n_specs; i++)
        for (size_t k = 0; k < request->specs[i].row->n_outputs; k++) {
            char name[160];
            cli_indicators_column(&request->specs[i], k, request->intervals[i], name, sizeof(name));
            printf(",%s", name);
        }
    putchar('\n');
    for (size_t i = 0; i < request->bars.n && !ferror(stdout); i++) {
        printf("%" PRId64, request->bars.open_time_ns[i]);
        for (size_t k = 0; k < request->n_columns; k++) {
            double value = request->out[k][i];
            if (!isnan(value))
                printf(",%.*g", digits, value);
            else
                putchar(',');
        }
        putchar('\n');
    }
    return EXIT_OK;
}

static int parse_specs(char **texts, struct indicators_request *request)
{
    for (size_t i = 0; i < request->n_specs; i++) {
        char err[200], text[PATH_MAX];
        int status =
            cli_indicators_split(texts[i], text, sizeof(text), &request->intervals[i], &request->frame_ns[i]);
        if (status != EXIT_OK)
            return status;
        if (indicator_spec_parse(text, &request->specs[i], err, sizeof(err)) < 0) {
            fprintf(stderr, "papertape: indicators: %s: %s\n", texts[i], err);
            return EXIT_USAGE;
        }
        request->n_columns += request->specs[i].row->n_outputs;
    }
    return EXIT_OK;
}

static int out_of_memory(void)
{
    return cli_stored_fail(EXIT_ERROR, "indicators", "", "out of memory");
}

/* EXIT_OK with memory for the specs. */
static int specs_make(struct indicators_request *request)
{
    request->specs = calloc(request->n_specs + 1, sizeof(*request->specs));
    request->frame_ns = calloc(request->n_specs + 1, sizeof(*request->frame_ns));
    request->intervals = calloc(request->n_specs + 1, sizeof(*request->intervals));
    return request->specs && request->frame_ns && request->intervals ? EXIT_OK : out_of_memory();
}

static void specs_finish(struct indicators_request *request)
{
    free(request->specs);
    free(request->frame_ns);
    free(request->intervals);
}

/* The request's part of one interval: `part` borrows all but its specs and its outputs' list, which are that
 * interval's, as far as they go. False without memory. */
static bool part_make(const struct indicators_request *request, int64_t frame_ns,
                      struct indicators_request *part)
{
    double **out = request->out;
    *part = *request;
    part->n_specs = part->n_columns = 0;
    part->specs = calloc(request->n_specs, sizeof(*part->specs));
    part->out = calloc(request->n_columns, sizeof(*part->out));
    for (size_t i = 0; part->specs && part->out && i < request->n_specs; i++)
        for (size_t k = 0, n = request->specs[i].row->n_outputs; k < n; k++, out++)
            if (request->frame_ns[i] == frame_ns) {
                part->specs[part->n_specs] = request->specs[i];
                part->n_specs += k + 1 == n;
                part->out[part->n_columns++] = *out;
            }
    return part->specs && part->out;
}

static int compute_part(const char *path, const struct indicators_request *part)
{
    char wrong[200] = "";
    int r = part->bars.n > 0 ? compute(part, wrong, sizeof(wrong)) : 0;
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "indicators", path, *wrong ? wrong : strerror(-r)) : EXIT_OK;
}

/* What the newest closed bar of the longer interval has; NaN before the first. */
static void spread(const struct higher *frame, size_t n, const double *values, double *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t closed = higher_closed(&frame->closed, i);
        out[i] = closed > 0 ? values[closed - 1] : (double)NAN;
    }
}

/* Of longer bars: computed on those, by the same backend, into columns of their own. */
static int compute_frame(const char *path, const struct indicators_request *request, int64_t frame_ns,
                         struct indicators_request *part)
{
    const struct trading_calendar *calendar =
        request->calendar ? calendar_file_view(request->calendar) : NULL;
    struct higher frame;
    int status = cli_indicators_frame(path, &request->bars, calendar, frame_ns, &frame);
    if (status != EXIT_OK)
        return status;
    double *cells = calloc(part->n_columns * (frame.n + 1), sizeof(*cells)), **out = part->out;
    double **own = calloc(part->n_columns, sizeof(*own));
    for (size_t k = 0; cells && own && k < part->n_columns; k++)
        own[k] = cells + k * (frame.n + 1);
    part->out = own;
    part->bars.n = frame.n;
    part->bars.open = (double *)frame.columns.open; /* read only, as the file's */
    part->bars.high = (double *)frame.columns.high;
    part->bars.low = (double *)frame.columns.low;
    part->bars.close = (double *)frame.columns.close;
    part->bars.volume = (double *)frame.columns.volume;
    part->open_time_s = (double *)frame.columns.time;
    status = cells && own ? compute_part(path, part) : out_of_memory();
    for (size_t k = 0; status == EXIT_OK && k < part->n_columns; k++)
        spread(&frame, request->bars.n, own[k], out[k]);
    part->out = out;
    free(own);
    free(cells);
    backtest_higher_finish(&frame);
    return status;
}

/* Interval by interval. */
static int compute_all(const char *path, const struct indicators_request *request)
{
    int status = EXIT_OK;
    for (size_t i = 0; i < request->n_specs && status == EXIT_OK; i++) {
        struct indicators_request part;
        size_t first = 0;
        while (request->frame_ns[first] != request->frame_ns[i])
            first++;
        if (first < i)
            continue;
        status = !part_make(request, request->frame_ns[i], &part) ? out_of_memory()
                 : request->frame_ns[i] > 0 ? compute_frame(path, request, request->frame_ns[i], &part)
                                            : compute_part(path, &part);
        free(part.specs);
        free(part.out);
    }
    return status;
}

static int run_file(const char *path, char **texts, struct indicators_request *request)
{
    int status = specs_make(request);
    if (status == EXIT_OK)
        status = parse_specs(texts, request);
    if (status != EXIT_OK)
        return status;
    status =
        cli_indicators_read(path, &request->sessions, &request->file, &request->bars, &request->calendar);
    if (status != EXIT_OK)
        return status;
    request->open_time_s = calloc(request->bars.n + 1, sizeof(double));
    if (!request->open_time_s)
        return out_of_memory();
    for (size_t i = 0; i < request->bars.n; i++)
        request->open_time_s[i] = (double)request->bars.open_time_ns[i] / 1e9;
    request->out = calloc(request->n_columns, sizeof(*request->out));
    for (size_t k = 0; request->out && k < request->n_columns; k++)
        if (!(request->out[k] = calloc(request->bars.n + 1, sizeof(double))))
            return out_of_memory();
    if (!request->out)
        return out_of_memory();

    status = compute_all(path, request);
    return status == EXIT_OK ? print_csv(request) : status;
}

static void finish(struct indicators_request *request)
{
    for (size_t k = 0; request->out && k < request->n_columns; k++)
        free(request->out[k]);
    free(request->out);
    free(request->open_time_s);
    specs_finish(request);
    bars_file_finish(&request->bars);
    calendar_file_close(request->calendar);
}

static int run_list(int n, char **texts, bool json)
{
    struct indicators_request request = {.n_specs = (size_t)n};
    int status = specs_make(&request);
    if (status == EXIT_OK)
        status = parse_specs(texts, &request);
    if (status == EXIT_OK)
        status = json    ? cli_indicators_list_json(request.specs, request.intervals, request.n_specs)
                 : n > 0 ? cli_indicators_list_specs(request.specs, request.intervals, request.n_specs)
                         : cli_indicators_list_table();
    specs_finish(&request);
    return status;
}

/* The options' values. */
struct asked {
    const char *backend, *precision, *symbol;
    struct indicators_bars sessions;
    bool repair, list;
};

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct indicators_request request = {
        .backend = BACKEND_REFERENCE,
        .sessions = asked->sessions,
        .file = {.any_price = true, .symbol = asked->symbol, .repair = asked->repair}};

    setlocale(LC_NUMERIC, "C"); /* CSV has decimal points in every locale */
    for (size_t i = 0; asked->backend && i < sizeof backend_names / sizeof *backend_names; i++)
        if (strcmp(backend_names[i], asked->backend) == 0)
            request.backend = (enum backend)i;
    if (call->json && !asked->list)
        return option_fail(call, EXIT_USAGE, "--json goes with --list: see papertape indicators --help");
    if (asked->list)
        return run_list(call->n, call->arguments, call->json);
    if (call->n < 2)
        return option_fail(call, EXIT_USAGE,
                           "a file and at least one indicator are needed: see papertape indicators --help");
    if (asked->precision && strcmp(asked->precision, "f32") == 0) {
        if (asked->backend && request.backend != BACKEND_CPU)
            return option_fail(call, EXIT_USAGE,
                               "--precision: f32: --backend %s computes in f64 only: cpu has both",
                               asked->backend);
        request.precision = INDICATOR_F32;
        request.backend = BACKEND_CPU;
    }
    request.n_specs = (size_t)call->n - 1;
    int status = run_file(call->arguments[0], call->arguments + 1, &request);
    finish(&request);
    return status;
}

static const struct option_action actions[] = {
    {.arguments = "[FILE] [SPEC...]", .needed = "*,list", .run = run}};

#define AT(member) offsetof(struct asked, member)

static const struct option_row options[] = {
    {"backend", "reference|stream|gpu|cpu",
     "reference, the default: the plain float64 definitions; stream: bar by bar, as the daemon does, the "
     "same digits; gpu: the exact GPU kernels, the same digits, and without a GPU the reference; cpu: "
     "vectors, many bars at a time, within the tolerance that --list states",
     AT(backend)},
    {"precision", "f64|f32", "f64 when left out; f32: float32 columns, which --backend cpu alone has",
     AT(precision)},
    {"symbol", "SYMBOL", "the file's, where its name does not begin with it; of Parquet, one of those in it",
     AT(symbol)},
    {"interval", "INTERVAL", "of Parquet that has bars of several, as 1m or 4h", AT(sessions.interval_ns),
     cli_run_take_interval},
    {"calendar", "CALENDAR",
     "when the bars' market trades, " CALENDAR_NAMES " (docs/market-store.md); without it at all times",
     AT(sessions.calendar)},
    {"session", "regular|extended|all",
     "the bars that are computed on, as if there were no others: of the regular session, which it is with a "
     "calendar, of that and the extended hours, or every bar",
     AT(sessions.session), .with = "calendar"},
    {"zone", "ZONE", "of the file's times that name none, as America/New_York; UTC without it",
     AT(sessions.zone)},
    {"straddle", "refuse|keep",
     "bars that begin in one session and end in another: an error, or kept, as part of the regular session",
     AT(sessions.straddle), .with = "calendar"},
    {"repair", NULL, "widen low and high of bars whose open or close lies outside them", AT(repair)},
    {"plugins", "DIR", "where lib:NAME:INDICATOR is of NAME.so", .take = cli_run_take_plugins},
    {"list", NULL,
     "the indicators: options with defaults and ranges, inputs, outputs, the bar of the first output, bars "
     "until its beginning no longer shows, bytes that move for a bar, tolerance of cpu in float64 and "
     "float32; of a SPEC, all that is known",
     AT(list)},
};

CLI_VERB(cli_indicators) = {
    .name = "indicators",
    .words = "what they come to on a bars file, as CSV",
    .about =
        "Prints indicators of a bars file as CSV: timestamp_ns and one column an output, empty before the "
        "first one. FILE is CSV, plain or gzip, with or without a header, or Parquet (docs/lake.md). SPEC is NAME:options, as sma:20, "
        "ema:14, rsi:14, macd:12,26,9, atr:14; or lib:FILE.so:NAME:options of a shared object, whose code runs as this program's "
        "(docs/plugins.md); with @INTERVAL, as ema:9@1h, of the closed bars of that longer interval; options left out at the end keep their defaults. --list has "
        "all, --list SPEC... these; --json goes with it.",
    .page = "market",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
};

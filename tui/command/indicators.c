#include "tui/command/indicators.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "indicators_gpu/indicators.h"
#include "indicators_gpu/module.h"

enum { EXIT_USAGE = 2 };

enum backend { BACKEND_CPU, BACKEND_REFERENCE, BACKEND_STREAM, BACKEND_GPU };

static const char *const backend_names[] = {
    [BACKEND_CPU] = "cpu",
    [BACKEND_REFERENCE] = "reference",
    [BACKEND_STREAM] = "stream",
    [BACKEND_GPU] = "gpu",
};
enum { N_BACKENDS = sizeof(backend_names) / sizeof(backend_names[0]) };

static const char help[] =
    "Usage: papertape indicators FILE SPEC...\n"
    "       papertape indicators --list [--json]\n"
    "\n"
    "Prints indicators of a bars file as CSV: timestamp_ns and one column an output, empty\n"
    "before the first one. FILE is CSV, plain or gzip, with or without a header. SPEC is\n"
    "NAME:options, as sma:20, ema:14, rsi:14, macd:12,26,9, atr:14; options left out at the\n"
    "end keep their defaults.\n"
    "\n"
    "  --backend B      who computes; all four print the same digits:\n"
    "                     cpu        (default) the CPU, by the reference code\n"
    "                     reference  the plain float64 definitions\n"
    "                     stream     bar by bar, as the daemon does\n"
    "                     gpu        the exact GPU kernels; without a GPU the CPU, and why\n"
    "                                on stderr\n"
    "  --precision P    f64 (default); f32 is not offered by any backend yet\n"
    "  --symbol S       the file's symbol, where its name does not begin with it\n"
    "  --list           the indicators, with their options, inputs and outputs\n"
    "  --json           with --list: as JSON\n"
    "  --state DIR      accepted as by every verb; not used\n"
    "  --help           this text\n"
    "\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

struct request {
    enum backend backend;
    const char *symbol; /* NULL: by the file's name */
    struct bars_file bars;
    double *open_time_s; /* [bars.n] */
    size_t n_specs, n_columns;
    struct indicator_spec *specs; /* [n_specs] */
    double **out;                 /* [n_columns], bars.n each: spec by spec */
};

static const struct {
    enum indicator_input bit;
    const char *name;
} inputs[] = {
    {INDICATOR_OPEN, "open"},   {INDICATOR_HIGH, "high"},     {INDICATOR_LOW, "low"},
    {INDICATOR_CLOSE, "close"}, {INDICATOR_VOLUME, "volume"}, {INDICATOR_TIME, "time"},
};
enum { N_INPUTS = sizeof(inputs) / sizeof(inputs[0]) };

static struct indicator_spec default_spec(const struct indicator *row)
{
    struct indicator_spec spec = {.row = row};
    for (size_t i = 0; i < row->n_options; i++)
        spec.options[i] = row->options[i].value;
    return spec;
}

static int finish_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_SUCCESS;
    fprintf(stderr, "papertape: indicators: stdout: %s\n", strerror(errno));
    return EXIT_FAILURE;
}

static int list_table(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    printf("%-6s %-32s %-15s %-18s %s\n", "NAME", "OPTIONS", "INPUTS", "OUTPUTS", "SUMMARY");
    for (size_t i = 0; i < n; i++) {
        char options[128] = "", reads[64] = "", outputs[64] = "";
        size_t len = 0;
        for (size_t k = 0; k < rows[i]->n_options; k++)
            len += (size_t)snprintf(options + len, sizeof(options) - len, "%s%s=%.15g", k ? "," : "",
                                    rows[i]->options[k].name, rows[i]->options[k].value);
        len = 0;
        for (size_t k = 0; k < N_INPUTS; k++)
            if (rows[i]->inputs & inputs[k].bit)
                len += (size_t)snprintf(reads + len, sizeof(reads) - len, "%s%s", len ? "," : "",
                                        inputs[k].name);
        len = 0;
        for (size_t k = 0; k < rows[i]->n_outputs; k++)
            len += (size_t)snprintf(outputs + len, sizeof(outputs) - len, "%s%s", k ? "," : "",
                                    *rows[i]->outputs[k] ? rows[i]->outputs[k] : rows[i]->name);
        printf("%-6s %-32s %-15s %-18s %s\n", rows[i]->name, options, reads, outputs, rows[i]->summary);
    }
    return finish_stdout();
}

static json_t *json_of(const struct indicator *row)
{
    struct indicator_spec spec = default_spec(row);
    json_t *reads = json_array(), *options = json_array(), *columns = json_array();
    for (size_t k = 0; k < N_INPUTS; k++)
        if (row->inputs & inputs[k].bit)
            json_array_append_new(reads, json_string(inputs[k].name));
    for (size_t k = 0; k < row->n_options; k++) {
        const struct indicator_option *option = &row->options[k];
        json_array_append_new(options, json_pack("{s:s, s:f, s:f, s:f, s:b}", "name", option->name, "default",
                                                 option->value, "min", option->min, "max", option->max,
                                                 "whole", option->whole));
    }
    for (size_t k = 0; k < row->n_outputs; k++) {
        char name[128];
        indicator_spec_name(&spec, k, name, sizeof(name));
        json_array_append_new(columns, json_string(name));
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:I, s:b}", "name", row->name, "summary", row->summary,
                     "inputs", reads, "options", options, "columns", columns, "lookback_bars",
                     (json_int_t)indicator_lookback(&spec), "gpu", true);
}

static int list_json(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(all, json_of(rows[i]));
    json_t *root = json_pack("{s:s, s:o}", "schema", "papertape.indicators/1", "indicators", all);
    if (!root) {
        fputs("papertape: indicators: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    int r = json_dumpf(root, stdout, JSON_INDENT(2));
    json_decref(root);
    putchar('\n');
    return r == 0 ? finish_stdout() : EXIT_FAILURE;
}

static struct indicator_columns columns_of(const struct request *request)
{
    const struct bars_file *bars = &request->bars;
    return (struct indicator_columns){bars->open,  bars->high,   bars->low,
                                      bars->close, bars->volume, request->open_time_s};
}

static int compute_reference(const struct request *request)
{
    struct indicator_columns in = columns_of(request);
    double **out = request->out;
    int r = 0;
    for (size_t i = 0; i < request->n_specs && r == 0; out += request->specs[i++].row->n_outputs)
        r = indicator_reference(&request->specs[i], &in, request->bars.n, out);
    return r;
}

static int stream_one(const struct indicator_spec *spec, const struct request *request, double *const out[])
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

static int compute_stream(const struct request *request)
{
    double **out = request->out;
    int r = 0;
    for (size_t i = 0; i < request->n_specs && r == 0; out += request->specs[i++].row->n_outputs)
        r = stream_one(&request->specs[i], request, out);
    return r;
}

static int compute_gpu(const struct request *request)
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
    return compute_reference(request);
}

static int compute(const struct request *request)
{
    switch (request->backend) {
    case BACKEND_STREAM:
        return compute_stream(request);
    case BACKEND_GPU:
        return compute_gpu(request);
    case BACKEND_CPU:
    case BACKEND_REFERENCE:
        break;
    }
    return compute_reference(request);
}

static int print_csv(const struct request *request)
{
    fputs("timestamp_ns", stdout);
    for (size_t i = 0; i < request->n_specs; i++)
        for (size_t k = 0; k < request->specs[i].row->n_outputs; k++) {
            char name[160];
            indicator_spec_name(&request->specs[i], k, name, sizeof(name));
            printf(",%s", name);
        }
    putchar('\n');
    for (size_t i = 0; i < request->bars.n && !ferror(stdout); i++) {
        printf("%" PRId64, request->bars.open_time_ns[i]);
        for (size_t k = 0; k < request->n_columns; k++) {
            double value = request->out[k][i];
            if (!isnan(value))
                printf(",%.17g", value);
            else
                putchar(',');
        }
        putchar('\n');
    }
    return finish_stdout();
}

static int parse_specs(char **texts, struct request *request)
{
    for (size_t i = 0; i < request->n_specs; i++) {
        char err[200];
        if (indicator_spec_parse(texts[i], &request->specs[i], err, sizeof(err)) < 0) {
            fprintf(stderr, "papertape: indicators: %s: %s\n", texts[i], err);
            return -EINVAL;
        }
        request->n_columns += request->specs[i].row->n_outputs;
    }
    return 0;
}

static int out_of_memory(void)
{
    fputs("papertape: indicators: out of memory\n", stderr);
    return EXIT_FAILURE;
}

static void report_gaps(const char *path, const struct bars_file *bars)
{
    int64_t missing = 0;
    for (size_t i = 0; i < bars->n_gaps; i++)
        missing += bars->gaps[i].missing;
    if (bars->n_gaps > 0)
        fprintf(stderr, "papertape: note: %s: %" PRId64 " bars are missing in %zu gap%s: computed across\n",
                path, missing, bars->n_gaps, bars->n_gaps == 1 ? "" : "s");
}

static int run_file(const char *path, char **texts, struct request *request)
{
    char err[BARS_FILE_ERROR_MAX];
    request->specs = calloc(request->n_specs, sizeof(*request->specs));
    if (!request->specs)
        return out_of_memory();
    if (parse_specs(texts, request) < 0)
        return EXIT_USAGE;
    if (bars_file_read(path, request->symbol, &request->bars, err) < 0) {
        fprintf(stderr, "papertape: %s\n", err);
        return EXIT_FAILURE;
    }
    report_gaps(path, &request->bars);
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

    int r = compute(request);
    if (r < 0) {
        fprintf(stderr, "papertape: indicators: %s: %s: every value must be finite\n", path, strerror(-r));
        return EXIT_FAILURE;
    }
    return print_csv(request);
}

static void finish(struct request *request)
{
    for (size_t k = 0; request->out && k < request->n_columns; k++)
        free(request->out[k]);
    free(request->out);
    free(request->open_time_s);
    free(request->specs);
    bars_file_finish(&request->bars);
}

static int parse_backend(const char *name, enum backend *ret)
{
    for (size_t i = 0; i < N_BACKENDS; i++)
        if (strcmp(backend_names[i], name) == 0) {
            *ret = (enum backend)i;
            return 0;
        }
    fprintf(stderr, "papertape: --backend: %s: cpu, reference, stream or gpu\n", name);
    return -EINVAL;
}

static int parse_precision(const char *name)
{
    if (strcmp(name, "f64") == 0)
        return 0;
    if (strcmp(name, "f32") == 0)
        fputs("papertape: --precision: f32: no backend computes it yet: f64 works with every one\n", stderr);
    else
        fprintf(stderr, "papertape: --precision: %s: f64 is needed\n", name);
    return -EINVAL;
}

enum {
    OPTION_BACKEND = 1,
    OPTION_PRECISION,
    OPTION_SYMBOL,
    OPTION_STATE,
    OPTION_LIST,
    OPTION_JSON,
    OPTION_HELP
};

static const struct option long_options[] = {
    {"backend", required_argument, NULL, OPTION_BACKEND},
    {"precision", required_argument, NULL, OPTION_PRECISION},
    {"symbol", required_argument, NULL, OPTION_SYMBOL},
    {"state", required_argument, NULL, OPTION_STATE},
    {"list", no_argument, NULL, OPTION_LIST},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {0},
};

static int usage(const char *why)
{
    fprintf(stderr, "papertape: indicators: %s: see papertape indicators --help\n", why);
    return EXIT_USAGE;
}

static int wrong_option(const char *word, int option)
{
    bool has_value = option == '?' && optopt && strncmp(word, "--", 2) == 0;
    const char *why = option == ':' ? "needs a value" : has_value ? "takes no value" : "unknown option";

    fprintf(stderr, "papertape: indicators: %s: %s: see papertape indicators --help\n", word, why);
    return EXIT_USAGE;
}

int command_indicators(int argc, char **argv)
{
    struct request request = {.backend = BACKEND_CPU};
    bool list = false, json = false;

    setlocale(LC_NUMERIC, "C");
    optind = 0; /* the program may have scanned its own options before: begin anew */
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1;) {
        switch (option) {
        case OPTION_BACKEND:
            if (parse_backend(optarg, &request.backend) < 0)
                return EXIT_USAGE;
            break;
        case OPTION_PRECISION:
            if (parse_precision(optarg) < 0)
                return EXIT_USAGE;
            break;
        case OPTION_SYMBOL:
            request.symbol = optarg;
            break;
        case OPTION_STATE:
            break;
        case OPTION_LIST:
            list = true;
            break;
        case OPTION_JSON:
            json = true;
            break;
        case OPTION_HELP:
            fputs(help, stdout);
            return finish_stdout();
        default:
            return wrong_option(argv[optind - 1], option);
        }
    }
    if (list && optind < argc)
        return usage("--list takes no file");
    if (json && !list)
        return usage("--json goes with --list");
    if (list)
        return json ? list_json() : list_table();
    if (argc - optind < 2)
        return usage("a file and at least one indicator are needed");

    request.n_specs = (size_t)(argc - optind - 1);
    int status = run_file(argv[optind], argv + optind + 1, &request);
    finish(&request);
    return status;
}

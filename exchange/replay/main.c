#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exchange/replay/bars.h"
#include "exchange/replay/ca.h"
#include "exchange/replay/fault.h"
#include "exchange/replay/options.h"
#include "exchange/replay/recording.h"
#include "exchange/replay/serve.h"
#include "exchange/replay/synthetic.h"

static int fail(const char *text)
{
    fprintf(stderr, "papertape-replay: %s\n", text);
    return EXIT_FAILURE;
}

/* What the options name, ready to play. NULL after saying why not. */
static struct source *open_source(const struct options *options, struct tape *tape)
{
    char error[SOURCE_ERROR_MAX] = "out of memory";
    struct source *source = NULL;
    int rc;
    if (options->n_recordings > 0) {
        rc = recording_create(tape, options->recordings, options->n_recordings, options->from_ns,
                              options->to_ns, &source, error);
    } else if (options->n_bars > 0) {
        rc = bars_create(tape, options->bars, options->n_bars, options->interval, options->from_ns,
                         options->to_ns, &source, error);
    } else {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        int64_t start_ns =
            options->from_ns != INT64_MIN ? options->from_ns : (int64_t)now.tv_sec * 1000000000;
        rc = synthetic_create(tape, options->seed, start_ns, options->to_ns, &source);
    }
    if (rc < 0) {
        fail(error);
        return NULL;
    }
    if (source->ops->due(source) == INT64_MAX) {
        fail("nothing to play: --from and --to: a range that holds some of the files");
        source_destroy(source);
        return NULL;
    }
    if (options->n_bars > 0) {
        size_t gaps;
        int64_t missing;
        bars_gaps(source, &gaps, &missing);
        if (gaps > 0)
            fprintf(stderr,
                    "papertape-replay: gaps in the bars: %zu, %" PRId64 " bars missing: kept as gaps\n", gaps,
                    missing);
    }
    return source;
}

static bool say_listening(const struct options *options, const struct server *server)
{
    char ws_url[96], rest_url[96];
    const char *open = strchr(options->host, ':') ? "[" : "", *shut = *open ? "]" : "";
    snprintf(ws_url, sizeof(ws_url), "wss://%s%s%s:%d", open, options->host, shut, server->port);
    snprintf(rest_url, sizeof(rest_url), "https://%s%s%s:%d", open, options->host, shut, server->port);
    json_t *line = json_pack("{s:s,s:s,s:s,s:s?}", "venue", "binance", "ws_url", ws_url, "rest_url", rest_url,
                             "ca_file", options->ca_out);
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    bool ok = text && puts(text) >= 0 && fflush(stdout) == 0;
    free(text);
    json_decref(line);
    return ok;
}

static void on_signal(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

static int serve(const struct options *options, struct source *source, const struct ca *ca)
{
    uv_loop_t loop;
    uv_signal_t signals[2];
    struct server server;
    struct server_options how = {options->host, options->port, options->speed, &options->faults};
    char text[256];
    int status = EXIT_SUCCESS;
    if (uv_loop_init(&loop) != 0)
        return fail("cannot start: event loop: enough file descriptors");
    int rc = server_init(&server, &loop, source, ca, &how);
    if (rc < 0) {
        snprintf(text, sizeof(text), "cannot listen: %.64s:%d: %s (%s)", options->host, options->port,
                 rc == -EIO ? "libwebsockets with its libuv plug-in (libwebsockets-evlib-uv)"
                            : "an address of this machine and a free port, or port 0",
                 strerror(-rc));
        status = fail(text);
    } else {
        for (int i = 0; i < 2; i++) {
            uv_signal_init(&loop, &signals[i]);
            uv_signal_start(&signals[i], on_signal, i == 0 ? SIGTERM : SIGINT);
        }
        if (!say_listening(options, &server))
            status = fail("cannot write: stdout: a file or a reader");
        else
            uv_run(&loop, UV_RUN_DEFAULT);
        if (server.play.failed)
            status = EXIT_FAILURE;
        for (int i = 0; i < 2; i++)
            uv_close((uv_handle_t *)&signals[i], NULL);
        server_finish(&server);
    }
    uv_loop_close(&loop);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct ca ca = {0};
    char text[512];
    int status = options_parse(&options, argc, argv);
    if (status >= 0)
        return status;
    status = EXIT_FAILURE;
    signal(SIGPIPE, SIG_IGN);

    struct tape *tape = calloc(1, sizeof(*tape));
    struct source *source = NULL;
    if (!tape) {
        fail("out of memory");
        goto out;
    }
    tape_init(tape);
    source = open_source(&options, tape);
    if (!source)
        goto out;
    int rc = ca_make(&ca);
    if (rc < 0) {
        fail("cannot make certificates: OpenSSL: a working libcrypto");
        goto out;
    }
    if (options.ca_out && (rc = ca_write(&ca, options.ca_out)) < 0) {
        snprintf(text, sizeof(text), "cannot write: %.256s: a file in a writable folder (%s)", options.ca_out,
                 strerror(-rc));
        fail(text);
        goto out;
    }
    status = serve(&options, source, &ca);
out:
    ca_finish(&ca);
    source_destroy(source);
    if (tape)
        tape_finish(tape);
    free(tape);
    options_finish(&options);
    return status;
}

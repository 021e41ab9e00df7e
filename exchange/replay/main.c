#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/exit_status.h"
#include "exchange/replay/ca.h"
#include "exchange/replay/fault.h"
#include "exchange/replay/options.h"
#include "exchange/replay/protocol.h"
#include "exchange/replay/serve.h"
#include "exchange/replay/transcript.h"

static int fail(const char *text)
{
    fprintf(stderr, "papertape-replay: %s\n", text);
    return EXIT_FAILURE;
}

/* Opens what the options name, ready to play. NULL after reporting why not. */
static struct protocol *open_protocol(const struct options *options)
{
    char error[PROTOCOL_ERROR_MAX] = "out of memory";
    struct protocol *protocol = NULL;
    if (options->venue->create(options, &protocol, error) < 0) {
        fail(error);
        return NULL;
    }
    if (protocol->source->ops->due(protocol->source) == INT64_MAX) {
        fail("nothing to play: --from and --to: a range that holds some of the files");
        protocol_destroy(protocol);
        return NULL;
    }
    return protocol;
}

static bool say_listening(const struct options *options, const struct server *server)
{
    char ws_url[96], rest_url[96];
    const char *open = strchr(options->host, ':') ? "[" : "", *shut = *open ? "]" : "";
    snprintf(ws_url, sizeof(ws_url), "wss://%s%s%s:%d", open, options->host, shut, server->port);
    snprintf(rest_url, sizeof(rest_url), "https://%s%s%s:%d", open, options->host, shut, server->port);
    json_t *line = json_pack("{s:s,s:s,s:s,s:s?}", "venue", options->venue->name, "ws_url", ws_url,
                             "rest_url", rest_url, "ca_file", options->ca_out);
    if (line && options->venue->trades) {
        json_object_set_new(line, "data_url", json_string(rest_url));
        json_object_set_new(line, "trading_url", json_string(rest_url));
    }
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

static int serve(struct options *options, struct protocol *protocol, const struct ca *ca,
                 struct transcript *transcript)
{
    uv_loop_t loop;
    uv_signal_t signals[2];
    struct server server;
    struct server_options how = {.host = options->host,
                                 .port = options->port,
                                 .speed = options->speed,
                                 .live = options->synthetic && options->from_ns == INT64_MIN,
                                 .schedule = &options->schedule,
                                 .transcript = transcript};
    char text[256];
    int status = EXIT_SUCCESS;
    if (uv_loop_init(&loop) != 0)
        return fail("cannot start: event loop: enough file descriptors");
    int rc = replay_server_init(&server, &loop, protocol, ca, &how);
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
        replay_server_finish(&server);
    }
    uv_loop_close(&loop);
    return status;
}

static int run(struct option_call *call)
{
    struct options *options = call->into;
    struct ca ca = {0};
    struct transcript transcript = {0};
    char text[512];
    int status = replay_options_check(call);
    if (status != EXIT_OK)
        return status;
    status = EXIT_FAILURE;
    signal(SIGPIPE, SIG_IGN);

    struct protocol *protocol = open_protocol(options);
    if (!protocol)
        goto out;
    int rc = replay_ca_make(&ca, options->schedule.now.tls_expired);
    if (rc < 0) {
        fail("cannot make certificates: OpenSSL: a working libcrypto");
        goto out;
    }
    if (options->ca_out && (rc = replay_ca_write(&ca, options->ca_out)) < 0) {
        snprintf(text, sizeof(text), "cannot write: %.256s: a file in a writable folder (%s)",
                 options->ca_out, strerror(-rc));
        fail(text);
        goto out;
    }
    if (options->transcript && (rc = replay_transcript_open(&transcript, options->transcript)) < 0) {
        snprintf(text, sizeof(text), "cannot write: %.256s: a file in a writable folder (%s)",
                 options->transcript, strerror(-rc));
        fail(text);
        goto out;
    }
    status = serve(options, protocol, &ca, &transcript);
out:
    if (!replay_transcript_close(&transcript))
        status = fail("cannot write: --transcript: a disk with room");
    replay_ca_finish(&ca);
    protocol_destroy(protocol);
    return status;
}

static const struct option_action actions[] = {{.needed = "recording|bars|synthetic", .run = run}};
static const struct option_verb replay_verb = {
    .about =
        "A venue on loopback: its websockets and REST over TLS, with orders and accounts, from recorded frames, "
        "bars or a synthetic market.\n"
        "Prints one JSON line when it listens. Play starts with the first websocket subscription.",
    .exits = "0 also: ended by a signal.",
    OPTION_ACTIONS(actions),
    .options = replay_options,
    .n_options = REPLAY_OPTIONS,
    .size = sizeof(struct options),
    .init = replay_options_init,
    .finish = replay_options_finish,
};
static const struct option_row globals[] = {OPTION_HELP, OPTION_VERSION};
static const struct option_program program = {
    .name = "papertape-replay",
    .version = PAPERTAPE_VERSION,
    .bare = &replay_verb,
    .global = globals,
    .n_global = sizeof globals / sizeof *globals,
};

int main(int argc, char **argv)
{
    return option_main(&program, argc, argv);
}

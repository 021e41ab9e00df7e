#include "cli/doctor/asking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/net/context.h"
#include "exchange/net/secret.h"

enum { ATTEMPTS = 1 };

const char *cli_doctor_ws_url(const struct doctor_venue *venue)
{
    return venue->config->ws_url[0] ? venue->config->ws_url : venue->venue->ws_url;
}

const char *cli_doctor_rest_url(const struct doctor_venue *venue)
{
    return venue->config->rest_url[0] ? venue->config->rest_url : venue->venue->rest_url;
}

const char *cli_doctor_proxy_hint(void)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    static char hint[96];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (!value || !value[0])
            continue;
        snprintf(hint, sizeof hint, " ($%s is set: papertape connects directly, without a proxy)", names[i]);
        return hint;
    }
    return "";
}

size_t cli_doctor_symbols_of(const struct doctor_venue *venue, const char *ret[static SYMBOLS_MAX])
{
    const struct daemon_config *config = venue->asking->doctor->config;
    size_t n = 0;
    for (int s = 0; s < config->n_symbols; s++)
        if (&config->venues[config->symbol_venues[s]] == venue->config)
            ret[n++] = config->symbols[s];
    return n;
}

/* Where the venue answers no request without keys, that is the end of it. */
static bool read_keys(struct doctor_venue *venue)
{
    if (!venue->config->keys[0])
        return true;
    venue->keys = net_secret_alloc(sizeof *venue->keys);
    int r = venue->keys ? feed_keys_read(venue->config->keys, venue->keys, venue->error, sizeof venue->error)
                        : -ENOMEM;
    if (r == 0)
        return true;
    net_secret_free(venue->keys);
    venue->keys = NULL;
    venue->keys_lacking = true;
    return !venue->venue->needs_keys;
}

static void make_rest(struct doctor_asking *asking, struct doctor_venue *venue)
{
    const struct venue_rest_config config = {
        .net = asking->net,
        .rest_url = venue->config->rest_url[0] ? venue->config->rest_url : NULL,
        .jitter_seed = 1,
        .attempts_max = ATTEMPTS,
        .timeout_ms = DOCTOR_VENUE_MS - 500,
        .keys =
            venue->keys ? (struct venue_keys){venue->keys->id, venue->keys->secret} : (struct venue_keys){0},
        .settings = venue->settings,
        .n_settings = venue->n_settings,
        .past = asking->doctor->config->clock == CLOCK_FEED,
    };
    int r = venue->venue->rest_create(&config, &venue->rest);
    if (r < 0) {
        venue->rest = NULL;
        snprintf(venue->error, sizeof venue->error, "%s: %s", cli_doctor_rest_url(venue), strerror(-r));
    }
}

static void on_limit(uv_timer_t *timer)
{
    struct doctor_asking *asking = timer->data;
    asking->late = true;
    uv_stop(timer->loop);
}

/* One check reports it for all. */
static void report_unready(struct doctor_results *results, const char *error)
{
    if (strcmp(results->name, cli_doctor_checks[DOCTOR_network].name) != 0) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "no connection can be made: see network");
        return;
    }
    cli_doctor_add(results, DOCTOR_ERROR, "no connection can be made: %s", error);
    cli_doctor_remedy(results,
                      "apt install libwebsockets-evlib-uv libcurl4 ca-certificates; [market] ca_file");
}

bool cli_doctor_asking_open(const struct doctor *doctor, struct doctor_results *results,
                            struct doctor_asking *ret)
{
    const struct daemon_config *config = doctor->config;
    char error[NET_ERROR_MAX];
    *ret = (struct doctor_asking){.doctor = doctor, .results = results};
    /* Each look-up of a name ends in time: resolv.conf(5). */
    setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
    uv_loop_init(&ret->loop);
    uv_timer_init(&ret->loop, &ret->limit);
    ret->limit.data = ret;
    const struct net_config net = {.loop = &ret->loop,
                                   .ca_file = config->ca_file[0] ? config->ca_file : NULL};
    if (net_context_create(&net, &ret->net, error) < 0) {
        report_unready(results, error);
        return false;
    }
    for (int v = 0; v < config->n_venues; v++) {
        struct doctor_venue *venue = &ret->venues[ret->n_venues++];
        *venue = (struct doctor_venue){.asking = ret,
                                       .config = &config->venues[v],
                                       .venue = config->venues[v].venue,
                                       .name = config->venues[v].venue->format->name};
        for (size_t i = 0; i < venue->venue->n_options && i < CONFIG_SETTINGS_MAX; i++)
            venue->settings[venue->n_settings++] =
                (struct venue_setting){venue->venue->options[i].name, venue->config->settings[i]};
        if (read_keys(venue))
            make_rest(ret, venue);
    }
    return true;
}

void cli_doctor_asking_run(struct doctor_asking *asking)
{
    uv_timer_start(&asking->limit, on_limit, DOCTOR_VENUE_MS, 0);
    while (asking->waiting > 0 && !asking->late)
        uv_run(&asking->loop, UV_RUN_ONCE);
}

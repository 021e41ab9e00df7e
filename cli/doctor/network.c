/* Names, REST and the websocket of each venue. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/doctor/asking.h"
#include "exchange/clock.h"
#include "exchange/net/requests.h"
#include "exchange/net/resolver.h"
#include "exchange/net/url.h"

/* A host of a URL. */
struct named {
    struct doctor_asking *asking;
    char host[URL_HOST_MAX];
    bool waits;
    int error; /* of the look-up */
};

struct reached {
    struct doctor_venue *venue;
    struct named rest_host, stream_host;
    bool rest_waits, stream_waits;
    int64_t rest_ms, stream_ms; /* how long it took; -1: it failed, for the reason in … */
    char rest_why[VENUE_DETAIL_MAX + 32], stream_why[VENUE_DETAIL_MAX + 32];
    struct venue_stream *stream;
    int64_t started_ms;
};

/* ---- names ---- */

static void have_name(void *user, const struct resolver_result *result)
{
    struct named *named = user;
    named->asking->waiting--;
    named->waits = false;
    named->error = result->error;
}

static void resolve(struct doctor_asking *asking, const char *text, struct named *named)
{
    struct resolver_query *query;
    struct url url;
    if (net_url_parse(text, &url) < 0)
        return;
    named->asking = asking;
    memcpy(named->host, url.host, sizeof named->host);
    if (net_resolver_start(&asking->loop, named->host, have_name, named, &query) == 0)
        asking->waiting++, named->waits = true;
}

/* Is its address known? What follows from one that is not is not reported. */
static bool report_name(const struct named *named, struct doctor_results *results)
{
    if (!named->waits && !named->error)
        return true;
    cli_doctor_add(results, DOCTOR_ERROR, "%s: its address is not found: %s", named->host,
                   named->waits ? "no answer in time" : uv_strerror(named->error));
    cli_doctor_remedy(results, "getent ahosts %s; cat /etc/resolv.conf", named->host);
    return false;
}

/* ---- REST ---- */

static void have_time(void *user, const struct venue_reply *reply)
{
    struct reached *reached = user;
    reached->venue->asking->waiting--;
    reached->rest_waits = false;
    reached->rest_ms = reply->error ? -1 : reply->elapsed_ms;
    if (reply->error)
        snprintf(reached->rest_why, sizeof reached->rest_why, "%s", reply->text);
}

/* ---- the websocket ---- */

static void end_stream(struct reached *reached, int64_t ms, const char *why)
{
    if (!reached->stream_waits)
        return;
    reached->stream_waits = false;
    reached->venue->asking->waiting--;
    reached->stream_ms = ms;
    snprintf(reached->stream_why, sizeof reached->stream_why, "%s", why);
}

static void stream_state(void *user, const struct venue_status *status)
{
    struct reached *reached = user;
    if (status->link == VENUE_UP)
        end_stream(reached, clock_now_ms() - reached->started_ms, "");
    else if (status->link == VENUE_WAITING || status->link == VENUE_FAILED || status->link == VENUE_FINAL)
        end_stream(reached, -1, status->detail);
}

static void stream_frame(void *user, const char *data, size_t len)
{
    (void)user, (void)data, (void)len;
}

/* The first stream of the first symbol. */
static bool stream_name(const struct doctor_venue *venue, char ret[static VENUE_STREAM_NAME_MAX])
{
    static const char *names[SYMBOLS_MAX];
    const struct daemon_config *config = venue->asking->doctor->config;
    const bool *streams = daemon_config_streams(config, venue->config);
    int kind = 0;
    if (cli_doctor_symbols_of(venue, names) == 0)
        return false;
    while (kind < MARKET_CHANNELS && !streams[kind])
        kind++;
    return kind < MARKET_CHANNELS && venue->venue->stream_name(names[0], kind, config->interval_ns, ret) == 0;
}

static void open_stream(struct reached *reached)
{
    static const struct venue_stream_handler handler = {stream_state, stream_frame};
    struct doctor_venue *venue = reached->venue;
    char name[VENUE_STREAM_NAME_MAX];
    const char *names[] = {name};
    const struct venue_stream_config config = {
        .net = venue->asking->net,
        .ws_url = venue->config->ws_url[0] ? venue->config->ws_url : NULL,
        .streams = names,
        .n_streams = 1,
        .jitter_seed = 1,
        .keys =
            venue->keys ? (struct venue_keys){venue->keys->id, venue->keys->secret} : (struct venue_keys){0},
        .settings = venue->settings,
        .n_settings = venue->n_settings,
    };
    if (!stream_name(venue, name))
        return;
    reached->started_ms = clock_now_ms();
    reached->stream_waits = true;
    venue->asking->waiting++;
    int r = venue->venue->stream_create(&config, &handler, reached, &reached->stream);
    if (r < 0)
        end_stream(reached, -1, strerror(-r));
}

/* A daemon's own connection is as good; a venue may allow no second one. */
static bool take_status(const struct doctor *doctor, struct doctor_venue *venue,
                        struct doctor_results *results)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(doctor->status, "venues"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "venue"));
        const char *state = json_string_value(json_object_get(row, "state"));
        const char *detail = json_string_value(json_object_get(row, "detail"));
        if (!name || !state || strcmp(name, venue->name) != 0)
            continue;
        bool ok = strcmp(state, "ok") == 0 || strcmp(state, "closed") == 0; /* as its only market is */
        cli_doctor_add(results, ok ? DOCTOR_OK : DOCTOR_WARNING, "%s: the daemon's stream is %s%s%s",
                       venue->name, state, detail && *detail ? ": " : "", detail ? detail : "");
        if (!ok)
            cli_doctor_remedy(results, "papertape venues; journalctl -u %s -n 50", doctor->service.unit);
        return true;
    }
    return false;
}

/* ---- all of it ---- */

static void report_rest(const struct reached *reached, struct doctor_results *results)
{
    const struct doctor_venue *venue = reached->venue;
    const char *url = cli_doctor_rest_url(venue);
    if (!venue->rest) {
        cli_doctor_add(results, venue->keys_lacking ? DOCTOR_SKIPPED : DOCTOR_ERROR, "%s: %s", venue->name,
                       venue->error);
        cli_doctor_remedy(results,
                          venue->keys_lacking
                              ? "run it as the daemon's user, whose keys these are; for a credential as root"
                              : "correct the URL");
    } else if (reached->rest_waits || reached->rest_ms < 0) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: %s: %s%s", venue->name, url,
                       reached->rest_waits ? "no answer in time" : reached->rest_why,
                       cli_doctor_proxy_hint());
        cli_doctor_remedy(results, "curl -v %s", url);
    } else {
        cli_doctor_add(results, DOCTOR_OK, "%s: %s answers in %lld ms", venue->name, url,
                       (long long)reached->rest_ms);
    }
}

static void report_stream(const struct reached *reached, struct doctor_results *results)
{
    const struct doctor_venue *venue = reached->venue;
    const char *url = cli_doctor_ws_url(venue);
    if (reached->stream_waits || reached->stream_ms < 0) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: %s: %s%s", venue->name, url,
                       reached->stream_waits ? "no connection in time" : reached->stream_why,
                       cli_doctor_proxy_hint());
        cli_doctor_remedy(results, "let TLS and websockets through to %s", reached->stream_host.host);
    } else {
        cli_doctor_add(results, DOCTOR_OK, "%s: %s connects in %lld ms", venue->name, url,
                       (long long)reached->stream_ms);
    }
}

static void report(const struct reached *reached, struct doctor_results *results)
{
    bool same = strcmp(reached->rest_host.host, reached->stream_host.host) == 0;
    bool known = report_name(&reached->rest_host, results);
    if (known)
        report_rest(reached, results);
    if (reached->started_ms && (same ? known : report_name(&reached->stream_host, results)))
        report_stream(reached, results);
}

void cli_doctor_network(const struct doctor *doctor, struct doctor_results *results)
{
    static struct doctor_asking asking;
    static struct reached reached[CONFIG_VENUES_MAX];
    if (!cli_doctor_asking_open(doctor, results, &asking))
        return;
    for (int v = 0; v < asking.n_venues; v++) {
        struct doctor_venue *venue = &asking.venues[v];
        reached[v] = (struct reached){.venue = venue, .rest_ms = -1, .stream_ms = -1};
        resolve(&asking, cli_doctor_rest_url(venue), &reached[v].rest_host);
        resolve(&asking, cli_doctor_ws_url(venue), &reached[v].stream_host);
        if (venue->rest && net_requests_time(venue->rest, have_time, &reached[v], NULL) == 0) {
            reached[v].rest_waits = true;
            asking.waiting++;
        }
        if (venue->rest && !take_status(doctor, venue, results))
            open_stream(&reached[v]);
    }
    cli_doctor_asking_run(&asking);
    for (int v = 0; v < asking.n_venues; v++)
        report(&reached[v], results);
}

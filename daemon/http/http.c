#include "daemon/http/http.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/http/listen.h"
#include "daemon/http/server.h"
#include "daemon/log.h"
#include "daemon/roles.h"
#include "daemon/status.h"
#include "exchange/fail.h"
#include "record/json.h"
#include "record/status.h"

enum { STATUS_LEAST_MS = 100, STATUS_TIMES = 20 };

#define ALERT "http"

struct daemon_http {
    struct daemon *daemon;
    struct daemon_http_server *server; /* NULL until it is to listen */
    uv_async_t news;                   /* from its thread */
    uv_timer_t pause;                  /* between two statuses */
    uint64_t answered;                 /* requests for a status */
    struct daemon_http_view said;      /* in the log and by alerts */
    int handles;
};

/* ---- on the server's thread ---- */

static void notify(void *ctx)
{
    struct daemon_http *http = ctx;
    uv_async_send(&http->news);
}

/* ---- on the loop ---- */

static void give_status(struct daemon_http *http);

static void on_pause(uv_timer_t *timer)
{
    give_status(timer->data);
}

static void give_status(struct daemon_http *http)
{
    uint64_t asked = daemon_http_server_asked(http->server), from_ns = uv_hrtime();
    if (asked == http->answered || uv_is_active((uv_handle_t *)&http->pause))
        return;
    daemon_http_server_give(http->server, daemon_status_object(http->daemon), asked);
    http->answered = asked;
    uint64_t pause_ms = (uv_hrtime() - from_ns) * STATUS_TIMES / 1000000;
    uv_update_time(http->daemon->loop);
    uv_timer_start(&http->pause, on_pause, pause_ms > STATUS_LEAST_MS ? pause_ms : STATUS_LEAST_MS, 0);
}

/* The keys of its two listeners, as the view's errors. */
static const char *const keys[] = {"[metrics] socket", "[metrics] listen"};
enum { KEYS_N = sizeof keys / sizeof *keys };

static void raise_alerts(const struct daemon_http *http)
{
    for (int i = 0; i < KEYS_N; i++) {
        char text[DB_ALERT_TEXT_MAX];
        snprintf(text, sizeof text, "%s: %s", keys[i], http->said.error[i]);
        if (http->said.error[i][0])
            daemon_session_alert_lasting(http->daemon->session, DB_WARNING, ALERT, keys[i], text);
    }
}

static void end_alerts(const struct daemon_http *http)
{
    for (int i = 0; i < KEYS_N; i++)
        if (!http->said.error[i][0])
            daemon_session_alert_over(http->daemon->session, ALERT, keys[i]);
}

/* What the view has, and what was said does not. */
static void log_changes(const struct daemon_http *http, const struct daemon_http_view *view)
{
    const char *places[] = {view->path, view->address}, *said[] = {http->said.path, http->said.address};
    for (int i = 0; i < KEYS_N; i++) {
        if (*places[i] && strcmp(places[i], said[i]) != 0)
            daemon_log_info("metrics, status, positions and equity by HTTP: %s", places[i]);
        if (view->error[i][0] && strcmp(view->error[i], http->said.error[i]) != 0)
            daemon_log_event_at(LOG_LEVEL_ERROR, LOG_ALERT, LOG_OF(.alert = ALERT), "%s: %s", keys[i],
                                view->error[i]);
    }
}

static bool same_errors(const struct daemon_http_view *a, const struct daemon_http_view *b)
{
    return strcmp(a->error[0], b->error[0]) == 0 && strcmp(a->error[1], b->error[1]) == 0;
}

static void on_news(uv_async_t *async)
{
    struct daemon_http *http = async->data;
    struct daemon_http_view view;
    if (!http->server || http->daemon->stopping)
        return;
    daemon_http_server_view(http->server, &view);
    bool same = same_errors(&view, &http->said);
    log_changes(http, &view);
    http->said = view;
    if (!same) {
        end_alerts(http);
        raise_alerts(http);
    }
    give_status(http);
}

void daemon_http_started(struct daemon_http *http)
{
    raise_alerts(http);
}

int daemon_http_check(const struct daemon_http *http, const struct daemon_config *config,
                      char error[static CONFIG_ERROR_MAX])
{
    char path[STATE_PATH_MAX + CONFIG_SOCKET_MAX], now[STATE_PATH_MAX + CONFIG_SOCKET_MAX];
    daemon_http_path(http->daemon->state.socket, config, path);
    daemon_http_path(http->daemon->state.socket, &http->daemon->config, now);
    char why[HTTP_WORDS_MAX];
    const char *places[] = {path, config->metrics_listen},
               *before[] = {now, http->daemon->config.metrics_listen};
    const bool given[] = {config->metrics_socket[0] != '\0', config->metrics_listen[0] != '\0'};
    int loaded = given[0] || given[1] ? daemon_http_server_load(why, sizeof why) : 0;
    if (loaded < 0)
        return fail_with(loaded, error, CONFIG_ERROR_MAX, "[metrics]: %s", why);
    for (int i = 0; i < KEYS_N; i++) {
        int r = given[i] && strcmp(places[i], before[i]) != 0 ? daemon_http_can_listen(places[i], i == 0) : 0;
        if (r < 0)
            return fail_with(r, error, CONFIG_ERROR_MAX, "%s: %.300s: %s", keys[i], places[i],
                             daemon_http_why_not(r));
    }
    return 0;
}

void daemon_http_take(struct daemon_http *http)
{
    char path[STATE_PATH_MAX + CONFIG_SOCKET_MAX];
    const struct daemon_config *config = &http->daemon->config;
    const struct daemon_http_options options = {
        .database = http->daemon->state.database, .ctx = http, .want = notify, .changed = notify};
    if (!http->server && !config->metrics_socket[0] && !config->metrics_listen[0])
        return;
    char why[HTTP_WORDS_MAX];
    int r = http->server ? 0 : daemon_http_server_load(why, sizeof why);
    if (r < 0) {
        daemon_log_error("[metrics]: %s", why);
        return;
    }
    r = http->server ? 0 : daemon_http_server_create(&options, &http->server);
    if (r < 0) {
        daemon_log_error("[metrics]: its thread cannot be started: %s", strerror(-r));
        return;
    }
    const struct control_groups readers = daemon_roles_reading(http->daemon);
    daemon_http_path(http->daemon->state.socket, config, path);
    daemon_http_server_listen(http->server, path, &readers, config->metrics_listen);
}

struct daemon_http *daemon_http_create(struct daemon *daemon)
{
    struct daemon_http *http = calloc(1, sizeof *http);
    if (!http)
        return NULL;
    http->daemon = daemon;
    http->handles = 2;
    uv_async_init(daemon->loop, &http->news, on_news);
    uv_timer_init(daemon->loop, &http->pause);
    http->news.data = http->pause.data = http;
    end_alerts(http); /* a former run's */
    daemon_http_take(http);
    return http;
}

RECORD_VIEW_OBJECT(http_object, http_view, RECORD_SHOWN_HTTP);

json_t *daemon_http_object(const struct daemon_http *http)
{
    struct daemon_http_view view;
    if (!http || !http->server)
        return json_null();
    daemon_http_server_view(http->server, &view);
    const struct http_view shown = {.socket = view.path,
                                    .listen = view.address,
                                    .clients = view.clients,
                                    .requests = view.requests,
                                    .refused = view.refused,
                                    .cut = view.cut};
    return http_object(&shown);
}

static void closed(uv_handle_t *handle)
{
    struct daemon_http *http = handle->data;
    if (--http->handles == 0)
        free(http);
}

void daemon_http_stop(struct daemon_http *http)
{
    if (!http)
        return;
    daemon_http_server_destroy(http->server);
    http->server = NULL;
    uv_close((uv_handle_t *)&http->news, closed);
    uv_close((uv_handle_t *)&http->pause, closed);
}

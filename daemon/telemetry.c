#include "daemon/telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/feed/feeds.h"
#include "daemon/process.h"
#include "exchange/clock.h"
#include "exchange/net/notify.h"
#include "record/json.h"
#include "record/status.h"

enum {
    TICK_MS = 1000,
    SLOW_TICKS = 10, /* ticks between two samples of what changes slowly */
};

struct telemetry {
    struct daemon *daemon;
    uv_timer_t tick;
    uint64_t ticks, frames_before;
    struct gpu_sampler *sampler;
};

static void put_prices(struct telemetry *telemetry)
{
    struct daemon *daemon = telemetry->daemon;
    const struct engine *engine = daemon_session_engine(daemon->session);
    int64_t wall = clock_wall_ns();
    for (int s = 0; s < engine_symbols(engine); s++) {
        struct engine_symbol_view view;
        int64_t age_ms = feeds_symbol_age_ms(daemon->feeds, s);
        if (age_ms < 0)
            continue;
        engine_symbol_view(engine, s, &view);
        struct db_price price = {
            .symbol = s,
            .last = view.last,
            .bid = view.bid,
            .ask = view.ask,
            .mark = view.mark,
            .ts_ns = view.last_ns,
            .recv_wall_ns = wall - age_ms * 1000000,
        };
        db_writer_put_price(daemon_session_writer(daemon->session), &price);
    }
}

static enum db_feed_state feed_state(const char *name)
{
    int state = record_words_parse(&db_words_feed_state, name);
    return state < 0 ? DB_FEED_CONNECTING : (enum db_feed_state)state;
}

static void put_feed(struct telemetry *telemetry, const struct feed_view *view)
{
    struct db_writer *writer = daemon_session_writer(telemetry->daemon->session);
    int64_t wall = clock_wall_ns();
    struct db_feed link = {
        .symbol = -1,
        .state = feed_state(view->state),
        .last_recv_ns = view->age_ms < 0 ? 0 : wall - view->age_ms * 1000000,
        .frames = (int64_t)view->frames,
        .bytes = (int64_t)view->bytes,
        .bad_frames = (int64_t)view->bad_frames,
        .connects = (int64_t)view->connects,
        .stream = "connection",
        .detail = view->detail,
    };
    db_writer_put_feed(writer, &link);
}

static void put_streams(struct telemetry *telemetry, const struct feed *feed)
{
    int64_t wall = clock_wall_ns();
    for (size_t i = 0; i < feed_streams(feed); i++) {
        struct feed_stream_view stream;
        if (!feed_stream_view(feed, i, &stream))
            continue;
        struct db_feed row = {
            .symbol = stream.index,
            .state = stream.stale ? DB_FEED_STALE : DB_FEED_OK,
            .last_recv_ns = stream.age_ms < 0 ? 0 : wall - stream.age_ms * 1000000,
            .limit_ns = stream.limit_ms * 1000000,
            .frames = (int64_t)stream.frames,
            .stream = stream.stream,
            .detail = "",
        };
        db_writer_put_feed(daemon_session_writer(telemetry->daemon->session), &row);
    }
}

static void put_venue(struct telemetry *telemetry, struct feed *feed)
{
    struct feed_view view;
    feed_view(feed, &view);
    struct db_venue row = {
        .state = feed_state(view.state),
        .last_recv_ns = view.age_ms < 0 ? 0 : clock_wall_ns() - view.age_ms * 1000000,
        .frames = (int64_t)view.frames,
        .bad_frames = (int64_t)view.bad_frames,
        .connects = (int64_t)view.connects,
        .renewals = (int64_t)view.renewals,
        .latency_p50_ms = view.latency_p50_ms,
        .latency_p99_ms = view.latency_p99_ms,
        .clock_offset_ms = view.clock_offset_ms,
        .venue = feed_venue(feed)->format->name,
        .detail = view.detail,
        .market = view.market,
    };
    db_writer_put_venue(daemon_session_writer(telemetry->daemon->session), &row);
}

static void put_value(struct telemetry *telemetry, int64_t ts_ns, const char *name, double value)
{
    struct db_telemetry row = {.ts_ns = ts_ns, .value = value, .name = name};
    db_writer_put_telemetry(daemon_session_writer(telemetry->daemon->session), &row);
}

static void put_process(struct telemetry *telemetry, const struct feed_view *view)
{
    struct process_usage usage;
    struct db_writer_stats stats;
    int64_t now = clock_wall_ns();
    daemon_process_usage(&usage);
    if (usage.resident_bytes >= 0)
        put_value(telemetry, now, "resident_bytes", (double)usage.resident_bytes);
    if (usage.cpu_ns >= 0)
        put_value(telemetry, now, "cpu_s", (double)usage.cpu_ns / 1e9);
    put_value(telemetry, now, "frames_per_s",
              (double)(view->frames - telemetry->frames_before) * 1000 / (SLOW_TICKS * TICK_MS));
    telemetry->frames_before = view->frames;
    db_writer_stats(daemon_session_writer(telemetry->daemon->session), &stats);
    put_value(telemetry, now, "commit_p99_ms", (double)stats.commit_p99_ns / 1e6);
}

/* STATUS= of systemd: failures come first. */
static void notify_manager(const struct daemon *daemon, const struct feed_view *view)
{
    char line[256];
    const char *detail;
    if (!daemon_session_storage_ok(daemon->session, &detail))
        snprintf(line, sizeof line, "storage %s: %.160s; no new positions; feed %s",
                 storing_name(daemon_session_storing(daemon->session)), detail, view->state);
    else
        snprintf(line, sizeof line, "feed %s, %s", view->state,
                 daemon_session_started(daemon->session) ? "trading on paper" : "waiting for the venue");
    net_notify_status(line);
}

static void on_tick(uv_timer_t *timer)
{
    struct telemetry *telemetry = timer->data;
    struct daemon *daemon = telemetry->daemon;
    struct feed_view view;
    net_notify_watchdog();
    if (daemon->stopping)
        return; /* the feed is being stopped */
    daemon_keep_files(daemon);
    feeds_view(daemon->feeds, &view);
    notify_manager(daemon, &view);
    if (daemon_session_started(daemon->session)) {
        put_prices(telemetry);
        put_feed(telemetry, &view);
        for (size_t i = 0; i < feeds_count(daemon->feeds); i++) {
            put_streams(telemetry, feeds_at(daemon->feeds, i));
            put_venue(telemetry, feeds_at(daemon->feeds, i));
        }
        if (telemetry->ticks++ % SLOW_TICKS == 0)
            put_process(telemetry, &view);
    }
}

struct telemetry *daemon_telemetry_create(struct daemon *daemon)
{
    struct telemetry *telemetry = calloc(1, sizeof *telemetry);
    if (!telemetry || daemon_gpu_sampler_create(daemon->loop, (uint64_t)daemon->config.gpu_sample_ms,
                                                &telemetry->sampler) < 0) {
        free(telemetry);
        return NULL;
    }
    telemetry->daemon = daemon;
    uv_timer_init(daemon->loop, &telemetry->tick);
    telemetry->tick.data = telemetry;
    uv_timer_start(&telemetry->tick, on_tick, TICK_MS, TICK_MS);
    return telemetry;
}

RECORD_VIEW_OBJECT(view_object, device_view, RECORD_SHOWN_DEVICE);

static json_t *device_object(const struct device_sample *device)
{
    const struct device_figures *figures = &device->figures;
    const struct device_view view = {
        .name = device->name[0] ? device->name : NULL,
        .util_pct = figures->util_percent,
        .mem_used_mib = figures->memory_used_bytes / (1 << 20),
        .mem_total_mib = figures->memory_total_bytes / (1 << 20),
        .power_w = figures->power_w,
        .power_limit_w = figures->power_limit_w,
        .clock_mhz = figures->clock_mhz,
        .temp_c = figures->temperature_c,
    };
    return view_object(&view);
}

RECORD_VIEW_OBJECT(gpu_object, gpu_view, RECORD_SHOWN_GPU);

json_t *daemon_telemetry_gpu_object(const struct telemetry *telemetry)
{
    const struct gpu_status *status = daemon_gpu_sampler_status(telemetry->sampler);
    json_t *devices = json_array();
    for (int i = 0; i < status->n_devices; i++)
        json_array_append_new(devices, device_object(&status->devices[i]));
    json_t *object = gpu_object(&(struct gpu_view){daemon_gpu_state_name(status->state), status->reason});
    json_object_set_new(object, "devices", devices);
    return object;
}

const struct gpu_status *daemon_telemetry_gpu(const struct telemetry *telemetry)
{
    return daemon_gpu_sampler_status(telemetry->sampler);
}

static void closed(uv_handle_t *handle)
{
    free(handle->data);
}

void daemon_telemetry_stop(struct telemetry *telemetry)
{
    if (!telemetry)
        return;
    daemon_gpu_sampler_destroy(telemetry->sampler);
    uv_close((uv_handle_t *)&telemetry->tick, closed);
}

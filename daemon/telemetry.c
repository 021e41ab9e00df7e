#include "daemon/telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/anchors.h"
#include "daemon/feed/feeds.h"
#include "daemon/gpu/sampler.h"
#include "daemon/process.h"
#include "daemon/samples.h"
#include "daemon/training/trainings.h"
#include "exchange/clock.h"
#include "exchange/net/notify.h"
#include "record/json.h"
#include "record/status.h"

enum {
    TICK_MS = 1000,
};

struct telemetry {
    struct daemon *daemon;
    uv_timer_t tick;
    struct gpu_sampler *sampler;
    struct process_sampler *processes;
    uint64_t stored, processes_stored; /* samples that were put */
    uint64_t processes_due_ms;         /* uv_now() of the next sample */
    char reason[GPU_REASON_MAX];       /* that was put with the devices */
    bool reason_stored;
};

void daemon_telemetry_prices(struct telemetry *telemetry)
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
            .mark_ns = view.mark_ns,
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

/* ---- devices ---- */

/* The daemon's own process, and those that train. Returns how many. */
static int list_roles(const struct daemon *daemon, struct process_role roles[static PROCESS_ROLES_MAX])
{
    roles[0] = (struct process_role){.role = "daemon", .pid = getpid()};
    return 1 + daemon_trainings_processes(daemon->trainings, roles + 1, PROCESS_ROLES_MAX - 1);
}

/* Once a sample. What stalls is no sample: its devices are stored with the reason. */
static void put_devices(struct telemetry *telemetry, const struct process_role roles[], int n_roles)
{
    const struct gpu_status *status = daemon_gpu_sampler_status(telemetry->sampler);
    struct db_writer *writer = daemon_session_writer(telemetry->daemon->session);
    bool said = telemetry->reason_stored && strcmp(telemetry->reason, status->reason) == 0;
    if (status->samples == telemetry->stored && said)
        return;
    telemetry->stored = status->samples;
    daemon_samples_put_devices(writer, status, roles, n_roles);
    if (said)
        return;
    snprintf(telemetry->reason, sizeof telemetry->reason, "%s", status->reason);
    db_writer_put_meta(writer, DB_GPU_REASON_KEY, telemetry->reason);
    telemetry->reason_stored = true;
}

/* Puts the sample that came back since the last call, and asks for the next one when it is due. */
static void put_processes(struct telemetry *telemetry, const struct process_role roles[], int n_roles)
{
    const struct process_samples *last = daemon_process_sampler_last(telemetry->processes);
    if (last->samples != telemetry->processes_stored)
        daemon_samples_put_processes(daemon_session_writer(telemetry->daemon->session), last);
    telemetry->processes_stored = last->samples;
    uint64_t now_ms = uv_now(telemetry->daemon->loop);
    if (now_ms >= telemetry->processes_due_ms &&
        daemon_process_sampler_ask(telemetry->processes, roles, n_roles) == 0)
        telemetry->processes_due_ms = now_ms + (uint64_t)telemetry->daemon->config.gpu_sample_ms;
}

static void put_samples(struct telemetry *telemetry)
{
    struct process_role roles[PROCESS_ROLES_MAX];
    int n = list_roles(telemetry->daemon, roles);
    put_devices(telemetry, roles, n);
    put_processes(telemetry, roles, n);
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
    put_samples(telemetry);
    if (daemon_session_started(daemon->session)) {
        daemon_keep_rows(daemon);
        daemon_anchors_look(daemon->anchors);
        daemon_telemetry_prices(telemetry);
        put_feed(telemetry, &view);
        for (size_t i = 0; i < feeds_count(daemon->feeds); i++) {
            put_streams(telemetry, feeds_at(daemon->feeds, i));
            put_venue(telemetry, feeds_at(daemon->feeds, i));
        }
    }
}

struct telemetry *daemon_telemetry_create(struct daemon *daemon)
{
    struct telemetry *telemetry = calloc(1, sizeof *telemetry);
    if (!telemetry)
        return NULL;
    telemetry->daemon = daemon;
    telemetry->processes = daemon_process_sampler_create(daemon->loop);
    if (!telemetry->processes ||
        daemon_gpu_sampler_create(daemon->loop, (uint64_t)daemon->config.gpu_sample_ms, &telemetry->sampler) <
            0) {
        daemon_process_sampler_destroy(telemetry->processes);
        free(telemetry);
        return NULL;
    }
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
        .device = device->device,
        .driver = device->driver[0] ? device->driver : NULL,
        .profile = device->profile[0] ? device->profile : NULL,
        .mem_util_pct = figures->memory_util_percent,
        .mem_clock_mhz = figures->memory_clock_mhz,
        .fan_pct = figures->fan_percent,
        .throttle_power = figures->throttle_power,
        .throttle_thermal = figures->throttle_thermal,
        .throttle_hardware = figures->throttle_hardware,
        .pcie_rx_bytes_s = figures->pcie_rx_bytes_s,
        .pcie_tx_bytes_s = figures->pcie_tx_bytes_s,
        .index = device->index,
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
    daemon_process_sampler_destroy(telemetry->processes);
    daemon_gpu_sampler_destroy(telemetry->sampler);
    uv_close((uv_handle_t *)&telemetry->tick, closed);
}

#include "daemon/alert_watch.h"

#include <stdlib.h>

#include "daemon/alert_subjects.h"
#include "daemon/alerts.h"
#include "daemon/log.h"
#include "daemon/telemetry.h"
#include "daemon/training/trainings.h"
#include "exchange/clock.h"

enum { TICK_MS = 1000 };
#define NS_PER_MS INT64_C(1000000)

struct alert_watch {
    struct daemon *daemon;
    uv_timer_t tick;
    struct alert_rules rules;
    bool adopted; /* the alerts that a former run left open */
    struct alert_devices devices;
    struct alert_sample sample; /* the last one */
    int64_t now_ns, wall_ns;    /* of this turn */
};

/* ---- a turn ---- */

static void change(void *ctx, const struct alert_decision *decision)
{
    const struct alert_watch *watch = ctx;
    struct session *session = watch->daemon->session;
    if (decision->change == ALERT_OVER) {
        daemon_log_event(LOG_ALERT_OVER, LOG_OF(.alert = decision->code), "over: %s", decision->text);
        daemon_session_alert_over(session, decision->code, decision->about);
        return;
    }
    daemon_log_event_at(decision->severity == DB_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, LOG_ALERT,
                        LOG_OF(.alert = decision->code), "%s", decision->text);
    daemon_session_alert_lasting(session, decision->severity, decision->code, decision->about,
                                 decision->text);
}

static void adopt(void *ctx, const struct alert *alert)
{
    struct alert_watch *watch = ctx;
    daemon_alert_rules_adopt(&watch->rules, alert->code, alert->severity, alert->text);
}

static void read_training(void *ctx, const struct training_seen *seen)
{
    struct alert_watch *watch = ctx;
    const struct alert_sink sink = {watch, change};
    daemon_alert_read_training(&watch->rules, seen, &watch->devices, &watch->sample, watch->now_ns,
                               watch->wall_ns, &sink);
}

static struct alert_sample sample_of(const struct gpu_status *status)
{
    return (struct alert_sample){.devices = status->devices,
                                 .n = status->n_devices,
                                 .stalled = status->state == GPU_STALLED,
                                 .reason = status->reason,
                                 .sampled_ns = (int64_t)status->sampled_ms * NS_PER_MS};
}

static void on_tick(uv_timer_t *timer)
{
    struct alert_watch *watch = timer->data;
    const struct alert_sink sink = {watch, change};
    struct session *session = watch->daemon->session;
    if (watch->daemon->stopping || !daemon_session_started(session))
        return;
    if (!watch->adopted)
        daemon_session_alerts_lasting(session, adopt, watch);
    watch->adopted = true;
    watch->now_ns = (int64_t)uv_now(watch->daemon->loop) * NS_PER_MS;
    watch->wall_ns = clock_wall_ns();
    watch->sample = sample_of(daemon_telemetry_gpu(watch->daemon->telemetry));
    daemon_alert_read_devices(&watch->rules, &watch->devices, &watch->sample, watch->now_ns, &sink);
    daemon_trainings_seen(watch->daemon->trainings, read_training, watch);
    daemon_alert_read_end(&watch->rules, &sink);
}

/* ---- begin, end ---- */

struct alert_watch *daemon_alert_watch_create(struct daemon *daemon)
{
    struct alert_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->daemon = daemon;
    watch->rules.limits = daemon->config.alerts;
    uv_timer_init(daemon->loop, &watch->tick);
    watch->tick.data = watch;
    uv_timer_start(&watch->tick, on_tick, TICK_MS, TICK_MS);
    return watch;
}

void daemon_alert_watch_limits(struct alert_watch *watch, const struct alert_limits *limits)
{
    watch->rules.limits = *limits;
}

static void closed(uv_handle_t *handle)
{
    struct alert_watch *watch = handle->data;
    daemon_alert_rules_finish(&watch->rules);
    free(watch);
}

void daemon_alert_watch_stop(struct alert_watch *watch)
{
    if (watch)
        uv_close((uv_handle_t *)&watch->tick, closed);
}

#include "daemon/alert_watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/alert_figures.h"
#include "daemon/alert_machine.h"
#include "daemon/alert_period.h"
#include "daemon/alert_table.h"
#include "daemon/alerts.h"
#include "daemon/log.h"
#include "daemon/notify/notify.h"
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
    struct alert_figures figures;
    struct alert_machine *machine;
    char period[ALERT_PERIOD_MAX]; /* of the last summary, or the start */
    int64_t now_ns, wall_ns;       /* of this turn */
};

/* ---- a turn ---- */

/* The fields of a rule's line: its code, and what its subject is. */
static struct log_fields fields_of(const struct alert_decision *decision)
{
    struct log_fields fields = {.alert = decision->code};
    const enum alert_of of = daemon_alert_table[decision->rule].of;
    if (of == ALERT_OF_ACCOUNT)
        fields.account = decision->where;
    else if (of == ALERT_OF_TRAINING)
        fields.training = decision->where;
    else if (of == ALERT_OF_VENUE)
        fields.venue = decision->where;
    return fields;
}

static void change(void *ctx, const struct alert_decision *decision)
{
    const struct alert_watch *watch = ctx;
    struct session *session = watch->daemon->session;
    const struct log_fields fields = fields_of(decision);
    if (decision->change == ALERT_MOVED) {
        daemon_session_alert_reword(session, decision->code, decision->about, decision->text);
        return;
    }
    if (decision->change == ALERT_OVER) {
        daemon_log_event(LOG_ALERT_OVER, &fields, "over: %s", decision->text);
        daemon_session_alert_over_by(session, decision->code, decision->about, decision->worst);
        return;
    }
    daemon_log_event_at(decision->severity == DB_ERROR ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, LOG_ALERT,
                        &fields, "%s", decision->text);
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

/* Once an hour or a day has ended while it runs. */
static void summarize(struct alert_watch *watch)
{
    char text[DB_ALERT_TEXT_MAX];
    if (!daemon_alert_period(&watch->daemon->config.notify, time(NULL), watch->period))
        return;
    daemon_alert_summary(watch->daemon, text, sizeof text);
    daemon_log_info("summary: %s", text);
    daemon_notify_say(watch->daemon->notify, "summary", watch->period, text);
}

static void on_tick(uv_timer_t *timer)
{
    struct alert_watch *watch = timer->data;
    const struct alert_sink sink = {watch, change};
    struct session *session = watch->daemon->session;
    if (watch->daemon->stopping || !daemon_session_can_report(session))
        return;
    watch->rules.early = !daemon_session_started(session);
    if (!watch->adopted)
        daemon_session_alerts_lasting(session, adopt, watch);
    watch->adopted = true;
    watch->now_ns = (int64_t)uv_now(watch->daemon->loop) * NS_PER_MS;
    watch->wall_ns = clock_wall_ns();
    watch->sample = sample_of(daemon_telemetry_gpu(watch->daemon->telemetry));
    daemon_alert_read_devices(&watch->rules, &watch->devices, &watch->sample, watch->now_ns, &sink);
    daemon_trainings_seen(watch->daemon->trainings, read_training, watch);
    daemon_alert_figures_read(&watch->figures, watch->daemon, &watch->rules, watch->now_ns, &sink);
    daemon_alert_machine_read(watch->machine, &watch->rules, watch->now_ns, watch->wall_ns, &sink);
    summarize(watch);
    daemon_alert_read_end(&watch->rules, &sink);
}

/* ---- begin, end ---- */

struct alert_watch *daemon_alert_watch_create(struct daemon *daemon)
{
    struct alert_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->machine = daemon_alert_machine_create(daemon->loop, &daemon->state);
    if (!watch->machine) {
        free(watch);
        return NULL;
    }
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

const struct machine_seen *daemon_alert_watch_machine(const struct alert_watch *watch)
{
    return watch ? daemon_alert_machine_seen(watch->machine) : NULL;
}

static void closed(uv_handle_t *handle)
{
    struct alert_watch *watch = handle->data;
    daemon_alert_rules_finish(&watch->rules);
    daemon_alert_figures_finish(&watch->figures);
    free(watch);
}

void daemon_alert_watch_stop(struct alert_watch *watch)
{
    if (!watch)
        return;
    daemon_alert_machine_destroy(watch->machine);
    uv_close((uv_handle_t *)&watch->tick, closed);
}

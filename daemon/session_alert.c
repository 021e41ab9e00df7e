/* Alerts of a session: daemon/alerts.h with the session's clock and its writer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/session_internal.h"
#include "db/reader.h"

enum { EARLY_ALERTS_MAX = 256 };

static void store(struct session *session, const struct alert *alert, int64_t closed_ns)
{
    struct db_alert row;
    if (!alert)
        return; /* without memory: the log has what it says */
    daemon_alert_row(alert, closed_ns, &row);
    daemon_alerts_put(&session->alerts, alert->id, db_writer_put_alert(session->writer, &row));
    if (session->hooks.alert && (closed_ns > 0 || daemon_alerts_notice(&session->alerts, alert->id)))
        session->hooks.alert(session->hooks.ctx, alert, closed_ns);
}

/* They come newest first. */
static void take_alert(void *ctx, const struct db_alert *row)
{
    struct session *session = ctx;
    daemon_alerts_take(&session->alerts, row);
}

int daemon_session_take_alerts(struct session *session, struct db_reader *reader)
{
    uint64_t last = 0;
    if (session->alerts_known)
        return 0;
    int r = db_reader_last_alert(reader, &last);
    if (r == 0)
        r = db_reader_alerts(reader, DB_ALERTS_HELD, ALERTS_HELD_MAX, take_alert, session);
    if (r < 0) {
        daemon_alerts_finish(&session->alerts);
        return r;
    }
    if (last > session->alerts.last_id)
        session->alerts.last_id = last;
    if (session->hooks.last_alert > session->alerts.last_id)
        session->alerts.last_id = session->hooks.last_alert;
    session->alerts_known = true;
    return 0;
}

bool daemon_session_can_report(const struct session *session)
{
    return session->alerts_known && (session->engine || session->config->clock == CLOCK_WALL);
}

static struct early_alert **find_early(struct session *session, enum early_kind kind, const char *code,
                                       const char *about)
{
    struct early_alert **at = &session->early_alerts;
    while (*at && ((*at)->kind != kind || strcmp((*at)->code, code) != 0 ||
                   !daemon_alert_is_about((*at)->text, about)))
        at = &(*at)->next;
    return at;
}

/* An event is about its whole text, a moment too. */
static void keep_early(struct session *session, enum db_severity severity, enum early_kind kind,
                       const char *code, const char *about, const char *text)
{
    struct early_alert **at = find_early(session, kind, code, about);
    if (!*at && session->n_early_alerts < EARLY_ALERTS_MAX && (*at = calloc(1, sizeof **at)))
        session->n_early_alerts++;
    if (!*at)
        return; /* without memory, or too many: the log has what it says */
    (*at)->kind = kind;
    (*at)->severity = severity;
    snprintf((*at)->code, sizeof(*at)->code, "%s", code);
    snprintf((*at)->about, sizeof(*at)->about, "%s", about);
    snprintf((*at)->text, sizeof(*at)->text, "%s", text);
}

static void forget_early(struct session *session, struct early_alert **at)
{
    struct early_alert *gone = *at;
    *at = gone->next;
    free(gone);
    session->n_early_alerts--;
}

void daemon_session_alerts_begin(struct session *session)
{
    while (session->early_alerts && daemon_session_can_report(session)) {
        const struct early_alert *early = session->early_alerts;
        if (early->kind == EARLY_CONDITION)
            daemon_session_alert_lasting(session, early->severity, early->code, early->about, early->text);
        else
            (early->kind == EARLY_MOMENT ? daemon_session_alert_moment : daemon_session_alert)(
                session, early->severity, early->code, early->text);
        forget_early(session, &session->early_alerts);
    }
}

void daemon_session_alerts_finish(struct session *session)
{
    while (session->early_alerts)
        forget_early(session, &session->early_alerts);
    daemon_alerts_finish(&session->alerts);
}

void daemon_session_alert(struct session *session, enum db_severity severity, const char *code,
                          const char *text)
{
    if (!daemon_session_can_report(session))
        keep_early(session, severity, EARLY_EVENT, code, text, text);
    else
        store(session,
              daemon_alerts_event(&session->alerts, daemon_session_now(session), severity, code, text), 0);
}

void daemon_session_alert_lasting(struct session *session, enum db_severity severity, const char *code,
                                  const char *about, const char *text)
{
    if (!daemon_session_can_report(session))
        keep_early(session, severity, EARLY_CONDITION, code, about, text);
    else
        store(session,
              daemon_alerts_condition(&session->alerts, daemon_session_now(session), severity, code, about,
                                      text),
              0);
}

void daemon_session_alert_reword(struct session *session, const char *code, const char *about,
                                 const char *text)
{
    if (daemon_session_can_report(session))
        store(session, daemon_alerts_reword(&session->alerts, daemon_session_now(session), code, about, text),
              0);
}

void daemon_session_alert_over(struct session *session, const char *code, const char *about)
{
    struct alert alert;
    struct early_alert **early;
    while (*(early = find_early(session, EARLY_CONDITION, code, about)))
        forget_early(session, early);
    while (daemon_alerts_over(&session->alerts, code, about, &alert))
        store(session, &alert, daemon_session_now(session));
}

void daemon_session_alert_over_by(struct session *session, const char *code, const char *about,
                                  const char *text)
{
    if (text[0])
        (void)daemon_alerts_reword(&session->alerts, 0, code, about, text);
    daemon_session_alert_over(session, code, about);
}

void daemon_session_alert_moment(struct session *session, enum db_severity severity, const char *code,
                                 const char *text)
{
    struct alert past;
    struct db_alert row;
    if (!daemon_session_can_report(session)) {
        keep_early(session, severity, EARLY_MOMENT, code, text, text);
        return;
    }
    int64_t now_ns = daemon_session_now(session);
    const struct alert *alert = daemon_alerts_event(&session->alerts, now_ns, severity, code, text);
    if (!alert)
        return;
    uint64_t id = alert->id;
    if (session->hooks.alert && daemon_alerts_notice(&session->alerts, id))
        session->hooks.alert(session->hooks.ctx, alert, 0);
    if (daemon_alerts_ack(&session->alerts, id, now_ns, &past) < 0) /* takes it out */
        return;
    past.acked_ns = 0;
    daemon_alert_row(&past, now_ns, &row);
    db_writer_put_alert(session->writer, &row);
}

void daemon_session_alert_over_former(struct session *session, const char *code)
{
    struct alert alert;
    while (daemon_alerts_over_former(&session->alerts, code, &alert))
        store(session, &alert, daemon_session_now(session));
}

void daemon_session_alerts_lasting(const struct session *session,
                                   void (*see)(void *ctx, const struct alert *alert), void *ctx)
{
    daemon_alerts_conditions(&session->alerts, see, ctx);
}

const struct alert *daemon_session_alerts(const struct session *session, size_t *ret_n)
{
    *ret_n = session->alerts.n;
    return session->alerts.list;
}

int daemon_session_alert_standing(const struct session *session, uint64_t alert_id)
{
    return (int)daemon_alerts_standing(&session->alerts, alert_id);
}

int daemon_session_ack(struct session *session, uint64_t alert_id)
{
    struct alert alert;
    int r = daemon_alerts_ack(&session->alerts, alert_id, daemon_session_now(session), &alert);
    if (r == 0)
        store(session, &alert, 0);
    return r;
}

const struct alert *daemon_session_alert_unstored(const struct session *session, const struct alert *than)
{
    return session->writer
               ? daemon_alerts_unstored(&session->alerts, than, db_writer_committed(session->writer))
               : NULL;
}

size_t daemon_session_alerts_open(const struct session *session)
{
    return daemon_alerts_count(&session->alerts);
}

/* Alerts: what is open, and how often it came. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/session_internal.h"

static void store_alert(struct session *session, const struct open_alert *alert, int64_t acked_ns)
{
    struct db_alert row = {
        .id = alert->id,
        .ts_ns = alert->ts_ns,
        .last_ns = session_now(session),
        .count = alert->count,
        .severity = alert->severity,
        .acked_ns = acked_ns,
        .code = alert->code,
        .text = alert->text,
    };
    db_writer_put_alert(session->writer, &row);
}

void session_alert(struct session *session, enum db_severity severity, const char *code, const char *text)
{
    if (!session->ids_known)
        return; /* their numbers are not known yet; the status and the log say what is wrong */
    for (size_t i = 0; i < session->n_alerts; i++) {
        struct open_alert *alert = &session->alerts[i];
        if (strcmp(alert->code, code) == 0 && strcmp(alert->text, text) == 0) {
            alert->count++;
            store_alert(session, alert, 0);
            return;
        }
    }
    if (session->n_alerts == ALERTS_OPEN_MAX) {
        /* The oldest stays open in the database; only its repetitions are no longer counted together. */
        memmove(session->alerts, session->alerts + 1, (ALERTS_OPEN_MAX - 1) * sizeof *session->alerts);
        session->n_alerts--;
    }
    struct open_alert *alert = &session->alerts[session->n_alerts++];
    *alert = (struct open_alert){
        .id = ++session->last_alert, .ts_ns = session_now(session), .count = 1, .severity = severity};
    snprintf(alert->code, sizeof alert->code, "%s", code);
    snprintf(alert->text, sizeof alert->text, "%s", text);
    store_alert(session, alert, 0);
}

bool session_alert_open(const struct session *session, uint64_t alert_id)
{
    for (size_t i = 0; i < session->n_alerts; i++)
        if (session->alerts[i].id == alert_id)
            return true;
    return false;
}

int session_ack(struct session *session, uint64_t alert_id)
{
    for (size_t i = 0; i < session->n_alerts; i++) {
        if (session->alerts[i].id != alert_id)
            continue;
        store_alert(session, &session->alerts[i], session_now(session));
        session->n_alerts--;
        memmove(&session->alerts[i], &session->alerts[i + 1],
                (session->n_alerts - i) * sizeof *session->alerts);
        return 0;
    }
    return -ENOENT;
}

void session_alert_over(struct session *session, const char *code, const char *about)
{
    for (size_t i = session->n_alerts; i-- > 0;)
        if (strcmp(session->alerts[i].code, code) == 0 &&
            strncmp(session->alerts[i].text, about, strlen(about)) == 0)
            session_ack(session, session->alerts[i].id);
}

size_t session_alerts_open(const struct session *session)
{
    return session->n_alerts;
}

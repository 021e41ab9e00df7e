#include "daemon/alerts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ELLIPSIS[] = "\xe2\x80\xa6";

void daemon_alerts_finish(struct alerts *alerts)
{
    free(alerts->list);
    *alerts = (struct alerts){0};
}

static void put_text(struct alert *alert, const char *text)
{
    size_t len = strlen(text), size = sizeof alert->text;
    if (len < size) {
        memcpy(alert->text, text, len + 1);
        return;
    }
    len = size - sizeof ELLIPSIS;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) /* within a character of UTF-8 */
        len--;
    memcpy(alert->text, text, len);
    memcpy(alert->text + len, ELLIPSIS, sizeof ELLIPSIS);
}

static void take_out(struct alerts *alerts, size_t i)
{
    alerts->n--;
    memmove(&alerts->list[i], &alerts->list[i + 1], (alerts->n - i) * sizeof *alerts->list);
}

static void make_room(struct alerts *alerts)
{
    size_t oldest = 0;
    for (size_t i = 0; i < alerts->n; i++)
        if (!alerts->list[i].lasts) {
            oldest = i;
            break;
        }
    take_out(alerts, oldest);
}

/* Room for one at the end, or NULL. */
static struct alert *add(struct alerts *alerts)
{
    if (alerts->n == ALERTS_HELD_MAX)
        make_room(alerts);
    if (alerts->n == alerts->cap) {
        size_t cap = alerts->cap ? 2 * alerts->cap : 64;
        struct alert *grown = realloc(alerts->list, cap * sizeof *grown);
        if (!grown)
            return NULL;
        alerts->list = grown;
        alerts->cap = cap;
    }
    return &alerts->list[alerts->n++];
}

void daemon_alerts_take(struct alerts *alerts, const struct db_alert *row)
{
    if (alerts->n == ALERTS_HELD_MAX || !add(alerts))
        return;
    struct alert *alert = alerts->list;
    memmove(alert + 1, alert, (alerts->n - 1) * sizeof *alert);
    *alert = (struct alert){.id = row->id,
                            .ts_ns = row->ts_ns,
                            .last_ns = row->last_ns,
                            .acked_ns = row->acked_ns,
                            .count = row->count,
                            .severity = row->severity,
                            .lasts = row->lasts,
                            .noticed = 1 + (int)row->severity};
    snprintf(alert->code, sizeof alert->code, "%s", row->code);
    put_text(alert, row->text);
}

static const struct alert *see_at(struct alert *alert, int64_t now_ns)
{
    if (now_ns > alert->last_ns)
        alert->last_ns = now_ns;
    return alert;
}

static const struct alert *count(struct alert *alert, int64_t now_ns)
{
    alert->count++;
    return see_at(alert, now_ns);
}

static const struct alert *raise(struct alerts *alerts, int64_t now_ns, enum db_severity severity, bool lasts,
                                 const char *code, const char *text)
{
    struct alert *alert = add(alerts);
    if (!alert)
        return NULL;
    *alert = (struct alert){.id = ++alerts->last_id,
                            .ts_ns = now_ns,
                            .last_ns = now_ns,
                            .count = 1,
                            .severity = severity,
                            .lasts = lasts};
    snprintf(alert->code, sizeof alert->code, "%s", code);
    put_text(alert, text);
    return alert;
}

const struct alert *daemon_alerts_event(struct alerts *alerts, int64_t now_ns, enum db_severity severity,
                                        const char *code, const char *text)
{
    struct alert whole;
    put_text(&whole, text);
    for (size_t i = 0; i < alerts->n; i++) {
        struct alert *alert = &alerts->list[i];
        if (!alert->lasts && strcmp(alert->code, code) == 0 && strcmp(alert->text, whole.text) == 0)
            return count(alert, now_ns);
    }
    return raise(alerts, now_ns, severity, false, code, text);
}

bool daemon_alert_is_about(const char *text, const char *about)
{
    size_t len = strlen(about);
    if (len >= DB_ALERT_TEXT_MAX) /* the text was cut, at a character */
        return strncmp(text, about, DB_ALERT_TEXT_MAX - sizeof ELLIPSIS - 4) == 0;
    return strncmp(text, about, len) == 0 &&
           (len == 0 || strchr(" :", about[len - 1]) || strchr(" :,;", text[len]));
}

/* The newest condition of that code and about that; alerts->n: none. */
static size_t find(const struct alerts *alerts, const char *code, const char *about)
{
    for (size_t i = alerts->n; i-- > 0;)
        if (alerts->list[i].lasts && strcmp(alerts->list[i].code, code) == 0 &&
            daemon_alert_is_about(alerts->list[i].text, about))
            return i;
    return alerts->n;
}

const struct alert *daemon_alerts_condition(struct alerts *alerts, int64_t now_ns, enum db_severity severity,
                                            const char *code, const char *about, const char *text)
{
    size_t at = find(alerts, code, about);
    if (at == alerts->n)
        return raise(alerts, now_ns, severity, true, code, text);
    struct alert *alert = &alerts->list[at];
    if (severity > alert->severity) /* what was acknowledged was less */
        alert->acked_ns = 0;
    alert->severity = severity;
    put_text(alert, text);
    return count(alert, now_ns);
}

const struct alert *daemon_alerts_reword(struct alerts *alerts, int64_t now_ns, const char *code,
                                         const char *about, const char *text)
{
    size_t at = find(alerts, code, about);
    if (at == alerts->n)
        return NULL;
    put_text(&alerts->list[at], text);
    return see_at(&alerts->list[at], now_ns);
}

void daemon_alerts_conditions(const struct alerts *alerts, void (*see)(void *ctx, const struct alert *alert),
                              void *ctx)
{
    for (size_t i = 0; i < alerts->n; i++)
        if (alerts->list[i].lasts)
            see(ctx, &alerts->list[i]);
}

enum alert_standing daemon_alerts_standing(const struct alerts *alerts, uint64_t id)
{
    for (size_t i = 0; i < alerts->n; i++)
        if (alerts->list[i].id == id)
            return alerts->list[i].acked_ns == 0 ? ALERT_STANDING_OPEN : ALERT_STANDING_ACKED;
    return id > 0 && id <= alerts->last_id ? ALERT_STANDING_PAST : ALERT_STANDING_NONE;
}

size_t daemon_alerts_count(const struct alerts *alerts)
{
    size_t n = 0;
    for (size_t i = 0; i < alerts->n; i++)
        n += alerts->list[i].acked_ns == 0;
    return n;
}

int daemon_alerts_ack(struct alerts *alerts, uint64_t id, int64_t now_ns, struct alert *ret)
{
    for (size_t i = 0; i < alerts->n; i++) {
        struct alert *alert = &alerts->list[i];
        if (alert->id != id || alert->acked_ns != 0)
            continue;
        alert->acked_ns = now_ns;
        *ret = *alert;
        if (!alert->lasts)
            take_out(alerts, i);
        return 0;
    }
    return -ENOENT;
}

bool daemon_alerts_notice(struct alerts *alerts, uint64_t id)
{
    for (size_t i = alerts->n; i-- > 0;) {
        struct alert *alert = &alerts->list[i];
        if (alert->id != id)
            continue;
        bool due = alert->noticed <= (int)alert->severity;
        if (due)
            alert->noticed = 1 + (int)alert->severity;
        return due;
    }
    return false;
}

void daemon_alerts_put(struct alerts *alerts, uint64_t id, uint64_t ticket)
{
    for (size_t i = alerts->n; i-- > 0;)
        if (alerts->list[i].id == id) {
            alerts->list[i].ticket = ticket;
            return;
        }
}

const struct alert *daemon_alerts_unstored(const struct alerts *alerts, const struct alert *than,
                                           uint64_t committed)
{
    for (size_t i = than ? (size_t)(than - alerts->list) : alerts->n; i-- > 0;)
        if (alerts->list[i].ticket > committed)
            return &alerts->list[i];
    return NULL;
}

bool daemon_alerts_over(struct alerts *alerts, const char *code, const char *about, struct alert *ret)
{
    size_t at = find(alerts, code, about);
    if (at == alerts->n)
        return false;
    *ret = alerts->list[at];
    take_out(alerts, at);
    return true;
}

bool daemon_alerts_over_former(struct alerts *alerts, const char *code, struct alert *ret)
{
    for (size_t i = alerts->n; i-- > 0;)
        if (alerts->list[i].lasts && alerts->list[i].ticket == 0 && strcmp(alerts->list[i].code, code) == 0) {
            *ret = alerts->list[i];
            take_out(alerts, i);
            return true;
        }
    return false;
}

void daemon_alert_row(const struct alert *alert, int64_t closed_ns, struct db_alert *ret)
{
    *ret = (struct db_alert){.id = alert->id,
                             .ts_ns = alert->ts_ns,
                             .last_ns = alert->last_ns,
                             .count = alert->count,
                             .severity = alert->severity,
                             .lasts = alert->lasts,
                             .acked_ns = alert->acked_ns,
                             .closed_ns = closed_ns,
                             .code = alert->code,
                             .text = alert->text};
}

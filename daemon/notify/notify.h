/* Delivers alerts to sinks, off the loop: a dispatcher's thread writes each notice to notify.db, then a
 * thread a sink delivers what that sink has not accepted, oldest first. What is accepted is never sent again;
 * after a kill -9 at most the one that each sink was just given repeats, with the same key. Without sinks
 * there is no thread and no file. */
#ifndef DAEMON_NOTIFY_NOTIFY_H
#define DAEMON_NOTIFY_NOTIFY_H

#include <jansson.h>
#include <uv.h>

#include "daemon/alerts.h"
#include "daemon/notify/sink.h"

struct notify;

/* Before the session: opens the file where there are sinks, or it is there. `path`: of notify.db. NULL
 * without memory. */
struct notify *daemon_notify_create(uv_loop_t *loop, const char *path, const struct notify_config *config);

/* The newest alert's number of which a notice was stored by a former run: alerts' numbers continue behind it,
 * since a database that lost its last rows, or was built again, would give them twice. */
uint64_t daemon_notify_last_alert(const struct notify *notify);

/* Other sinks and times, from now on. What a sink that is gone had not accepted is dropped; a new one gets
 * what comes from now on. */
void daemon_notify_configure(struct notify *notify, const struct notify_config *config);

/* An alert was raised, has become more severe, or is over (over_ns). Does not wait. NULL: nothing. */
void daemon_notify_alert(struct notify *notify, const struct alert *alert, int64_t over_ns);

/* The session's open alerts are known, `alerts` [n]: those that a former run had stored no notice of are
 * sent, and the end of conditions that ended while no daemon ran. */
void daemon_notify_open_alerts(struct notify *notify, const struct alert *alerts, size_t n);

/* A notice that is of no alert, as a summary: at most one of that rule and `when`. */
void daemon_notify_say(struct notify *notify, const char *rule, const char *when, const char *text);
/* The same to one sink (NULL: to each), by the moment, so that it is sent each time. */
void daemon_notify_send_text(struct notify *notify, const char *rule, const char *sink, const char *text);

struct notify_sink_view {
    char name[DB_NOTICE_SINK_MAX];
    enum notify_kind kind;
    bool failing, tried;
    int64_t failing_ns;             /* for how long */
    char detail[NOTIFY_DETAIL_MAX]; /* of the last attempt */
    int64_t last_ns;                /* when it accepted the last one, wall clock; 0: none in this run */
    int64_t next_ms;                /* until the next attempt; -1: nothing is due */
    int64_t pending, held;          /* not accepted; held by quiet hours among them */
    uint64_t accepted, failed;      /* attempts of this run */
};
/* Each sink, in the configuration's order. Returns how many. */
int daemon_notify_view(struct notify *notify, struct notify_sink_view ret[static NOTIFY_SINKS_MAX]);

enum { NOTIFY_ERROR_MAX = 800 };
struct notify_total {
    uint64_t dropped;             /* notices, since too many were pending */
    char error[NOTIFY_ERROR_MAX]; /* why notify.db stores nothing; "" */
};
void daemon_notify_look(struct notify *notify, struct notify_total *ret);

/* The status object's "alert_sinks": each sink, in words. A new reference. */
json_t *daemon_notify_object(struct notify *notify);

struct notify_tested {
    char name[DB_NOTICE_SINK_MAX];
    enum notify_kind kind;
    struct notify_outcome outcome;
    int64_t ms;
};

/* Sends a test notice to a sink (NULL: to each). `done` is called once from the loop, with `tested` [n]. 0;
 * -ENOENT: there is no such sink, or none; -ENOMEM; -ESHUTDOWN. */
typedef void notify_tested_done(void *ctx, const struct notify_tested *tested, int n);
int daemon_notify_test(struct notify *notify, const char *sink, notify_tested_done *done, void *ctx);

/* On the loop: no test is answered any more, except those under way, as failed. Alerts are still taken. */
void daemon_notify_stop(struct notify *notify);

/* After the loop: stores what is left, waits two seconds for the threads, and frees. False: one of them had
 * not ended, and the process must end without it. NULL is fine. */
bool daemon_notify_finish(struct notify *notify);

#endif

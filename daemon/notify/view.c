#include "daemon/notify/notify.h"

static json_t *sink_object(const struct notify_sink_view *view)
{
    const char *state = view->failing ? "failing" : view->tried ? "ok" : "new";
    json_t *last = view->last_ns > 0 ? json_integer((json_int_t)view->last_ns) : json_null();
    json_t *next = view->next_ms >= 0 ? json_integer((json_int_t)view->next_ms) : json_null();
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:f, s:o, s:I, s:I}", "sink", view->name, "kind",
                     daemon_notify_kinds[view->kind], "state", state, "detail", view->detail, "pending",
                     (json_int_t)view->pending, "held", (json_int_t)view->held, "accepted_ns", last,
                     "failing_s", (double)view->failing_ns / 1e9, "next_ms", next, "accepted",
                     (json_int_t)view->accepted, "failed", (json_int_t)view->failed);
}

json_t *daemon_notify_object(struct notify *notify)
{
    struct notify_sink_view views[NOTIFY_SINKS_MAX];
    struct notify_total total;
    json_t *sinks = json_array();
    int n = daemon_notify_view(notify, views);
    for (int i = 0; i < n; i++)
        json_array_append_new(sinks, sink_object(&views[i]));
    daemon_notify_look(notify, &total);
    return json_pack("{s:o, s:I, s:s}", "sinks", sinks, "dropped", (json_int_t)total.dropped, "error",
                     total.error);
}

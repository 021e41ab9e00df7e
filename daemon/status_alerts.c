/* The open alerts, counted, the prices that are waited for, and the last backup as the status reports them.
 */
#include <string.h>

#include "daemon/alert_machine.h"
#include "daemon/alert_watch.h"
#include "daemon/alerts.h"
#include "daemon/price_alerts.h"
#include "daemon/status_internal.h"
#include "exchange/decimal.h"
#include "record/json.h"
#include "record/status.h"

static void count(json_t *array, const char *severity, const char *code)
{
    json_t *row;
    size_t i;
    json_array_foreach(array, i, row)
    {
        json_t *open = json_object_get(row, "open");
        if (strcmp(json_string_value(json_object_get(row, "severity")), severity) == 0 &&
            strcmp(json_string_value(json_object_get(row, "code")), code) == 0) {
            json_integer_set(open, json_integer_value(open) + 1);
            return;
        }
    }
    json_array_append_new(array, json_pack("{s:s, s:s, s:i}", "severity", severity, "code", code, "open", 1));
}

json_t *daemon_status_alerts(const struct daemon *daemon)
{
    size_t n;
    const struct alert *alerts = daemon_session_alerts(daemon->session, &n);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (alerts[i].acked_ns == 0)
            count(array, db_severity_name(alerts[i].severity), alerts[i].code);
    return array;
}

RECORD_VIEW_OBJECT(price_object, price_view, RECORD_SHOWN_PRICE_ALERT);

json_t *daemon_status_price_alerts(const struct daemon *daemon)
{
    const struct price_alerts *alerts = daemon_session_price_alerts(daemon->session);
    json_t *array = json_array();
    for (int i = 0; i < alerts->n; i++) {
        const struct price_alert *alert = &alerts->list[i];
        const struct price_view view = {.id = (int64_t)alert->id,
                                        .symbol = alert->symbol,
                                        .side = daemon_price_alert_side(alert->above),
                                        .price = decimal_to_double(alert->price, alert->scale),
                                        .created_ns = alert->created_ns};
        json_array_append_new(array, price_object(&view));
    }
    return array;
}

json_t *daemon_status_backup(const struct daemon *daemon)
{
    const struct machine_seen *seen = daemon_alert_watch_machine(daemon->watch);
    bool known = seen && seen->backup;
    return json_pack("{s:s, s:o, s:s}", "state",
                     !known         ? "none"
                     : seen->failed ? "failed"
                                    : "ok",
                     "success_ns",
                     known && seen->backup_ns > 0 ? json_integer((json_int_t)seen->backup_ns) : json_null(),
                     "error", known && seen->failed ? seen->error : "");
}

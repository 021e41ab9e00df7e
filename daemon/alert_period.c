#include "daemon/alert_period.h"

#include <string.h>

bool daemon_alert_period(const struct notify_config *config, time_t now, char period[static ALERT_PERIOD_MAX])
{
    bool daily = config->summary == NOTIFY_SUMMARY_DAILY, same_kind, ended;
    time_t of = now - (daily ? 60 * config->summary_minute : 0);
    char is[ALERT_PERIOD_MAX] = "";
    struct tm local;
    if (config->summary != NOTIFY_SUMMARY_OFF &&
        (!localtime_r(&of, &local) ||
         strftime(is, sizeof is, daily ? "%Y-%m-%d" : "%Y-%m-%dT%H", &local) == 0))
        is[0] = '\0';
    same_kind = is[0] != '\0' && strlen(is) == strlen(period);
    ended = same_kind && strcmp(is, period) != 0;
    memcpy(period, is, sizeof is);
    return ended;
}

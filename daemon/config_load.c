#include "daemon/config_load.h"

#include <errno.h>
#include <string.h>

#include "daemon/feed/feeds.h"
#include "daemon/policies.h"
#include "exchange/fail.h"

/* Options come after the file and override it. */
static int override(struct daemon_config *config, const struct daemon_config_given *given,
                    char error[static CONFIG_ERROR_MAX])
{
    const struct {
        const char *section, *key, *value, *option;
    } overrides[] = {
        {"market", "ws_url", given->venue_url, "--venue-url"},
        {"market", "rest_url", given->rest_url, "--rest-url"},
        {"market", "ca_file", given->ca_file, "--ca-file"},
        {"engine", "clock", given->clock, "--clock"},
        {"log", "level", given->log_level, "--log-level"},
    };
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides; i++) {
        char why[CONFIG_ERROR_MAX];
        if (!overrides[i].value ||
            daemon_config_set(config, overrides[i].section, overrides[i].key, overrides[i].value, why) == 0)
            continue;
        return fail_with(-EINVAL, error, CONFIG_ERROR_MAX, "%s: %.400s", overrides[i].option, why);
    }
    if (given->record) {
        size_t len = strlen(given->record);
        if (len == 0 || len >= sizeof config->record_dir)
            return fail_with(-EINVAL, error, CONFIG_ERROR_MAX, "--record: \"%.60s\": a directory is needed",
                             given->record);
        memcpy(config->record_dir, given->record, len + 1);
    }
    return 0;
}

int daemon_config_load(const struct daemon_config_given *given, struct daemon_config *ret, bool *ret_read,
                       char error[static CONFIG_ERRORS_MAX])
{
    daemon_config_defaults(ret);
    int r = given->file ? daemon_config_read(given->file, ret, error) : 0;
    *ret_read = r == 0;
    if (r == 0)
        r = override(ret, given, error);
    return r == 0 ? daemon_config_check(ret, error) : r;
}

int daemon_config_check_files(const struct daemon_config_given *given, const struct daemon_config *config,
                              struct policy_set **ret_policies, char error[static CONFIG_ERROR_MAX])
{
    int r = feeds_check_ca(config, given->ca_file ? "--ca-file" : "[market] ca_file", error);
    if (r < 0)
        return -EINVAL; /* as for a bad option: another start would find the same */
    r = daemon_config_sinks_files(config, error);
    if (r == 0)
        r = daemon_config_ledger_files(config, error);
    if (r < 0)
        return r;
    return daemon_policy_set_load(config, ret_policies, error);
}

/* Accounts whose orders are sent to their venue: what single keys of theirs cannot see. */
#include <stdio.h>
#include <string.h>

#include "daemon/config_keys.h"
#include "exchange/venue_account.h"
#include "exchange/venues.h"

int daemon_config_execution_venue(const struct daemon_config *config, const struct account_config *account)
{
    if (!account->execution_venue[0])
        return config->n_venues == 1 ? 0 : -1;
    for (int v = 0; v < config->n_venues; v++)
        if (strcmp(config->venues[v].venue->format->name, account->execution_venue) == 0)
            return v;
    return -1;
}

bool daemon_config_execution_kept(const struct account_config *account, enum execution has, char *err,
                                  size_t err_size)
{
    if (account->execution != has)
        snprintf(
            err, err_size,
            "[account %s] execution: the account has execution = %s, which cannot change: another account "
            "can have another",
            account->name, account_execution_name(has));
    return account->execution == has;
}

/* The venue's table; NULL after the sentence. */
static const struct venue_accounts *accounts_of(const struct daemon_config *config,
                                                const struct account_config *account, const char *section,
                                                const struct daemon_config_check *check)
{
    static const char keys[] = "execution_venue execution";
    int v = daemon_config_execution_venue(config, account);
    if (v < 0 && !account->execution_venue[0])
        daemon_config_misfit(check, section, keys,
                             "there are several venues, the first is %s by [market] venue: name one here, or "
                             "set that to the only one that is wanted",
                             config->venues[0].venue->format->name);
    else if (v < 0 && venue_find(account->execution_venue))
        daemon_config_misfit(check, section, keys, "[venue %s] is needed too: its prices are",
                             account->execution_venue);
    else if (v < 0)
        daemon_config_misfit(check, section, keys, "there is no venue \"%s\"", account->execution_venue);
    else if (!config->venues[v].venue->accounts)
        daemon_config_misfit(check, section, keys,
                             "%s has no accounts of simulated money that are known: no order is sent there",
                             config->venues[v].venue->title);
    return v < 0 ? NULL : config->venues[v].venue->accounts;
}

static void check_host(const struct venue_accounts *accounts, const char *url, const char *section,
                       const char *keys, const struct daemon_config_check *check)
{
    char why[CONFIG_WHY_MAX];
    if (url[0] && venue_account_host(accounts, url, why, sizeof why) < 0)
        daemon_config_misfit(check, section, keys, "%s", why);
}

/* Another one's reading of the same fills would end in both. */
static void check_apart(const struct daemon_config *config, int a, const char *section,
                        const struct daemon_config_check *check)
{
    const struct account_config *account = &config->accounts[a];
    for (int j = 0; j < a; j++)
        if (config->accounts[j].execution == EXECUTION_VENUE_PAPER &&
            strcmp(config->accounts[j].execution_keys, account->execution_keys) == 0)
            daemon_config_misfit(check, section, "execution_keys execution",
                                 "[account %s] has these keys: an account at a venue is one account here",
                                 config->accounts[j].name);
}

/* Keys that only such an account has. */
static void check_unused(const struct account_config *account, const char *section,
                         const struct daemon_config_check *check)
{
    const struct {
        const char *value, *keys;
    } its[] = {
        {account->execution_venue, "execution_venue execution"},
        {account->execution_keys, "execution_keys execution"},
        {account->execution_rest_url, "execution_rest_url execution"},
        {account->execution_ws_url, "execution_ws_url execution"},
    };
    for (size_t i = 0; i < sizeof its / sizeof *its; i++)
        if (its[i].value[0])
            daemon_config_misfit(check, section, its[i].keys,
                                 "of an account whose orders are sent: execution = venue-paper is needed");
}

/* The engine takes none of them: account_rules_check(). */
static void check_rules(const struct account_config *account, const char *section,
                        const struct daemon_config_check *check)
{
    if (account->shorts)
        daemon_config_misfit(check, section, "shorts execution",
                             "orders that are sent sell only what is held: shorts = off is needed");
    if (account->margin != MARGIN_OFF)
        daemon_config_misfit(check, section, "margin execution",
                             "orders that are sent have the venue's: margin = off is needed");
    if (account->settlement != SETTLEMENT_OFF)
        daemon_config_misfit(check, section, "settlement execution",
                             "orders that are sent have the venue's: settlement = off is needed");
}

void daemon_config_execution_check(const struct daemon_config *config, int a, const char *section,
                                   const struct daemon_config_check *check)
{
    const struct account_config *account = &config->accounts[a];
    if (account->execution != EXECUTION_VENUE_PAPER) {
        check_unused(account, section, check);
        return;
    }
    const struct venue_accounts *accounts = accounts_of(config, account, section, check);
    if (accounts) {
        check_host(accounts, account->execution_rest_url, section, "execution_rest_url", check);
        check_host(accounts, account->execution_ws_url, section, "execution_ws_url", check);
    }
    check_rules(account, section, check);
    if (config->clock == CLOCK_FEED)
        daemon_config_misfit(check, section, "execution [engine]clock",
                             "requests are dated by the time of day: clock = wall is needed");
    if (!account->execution_keys[0])
        daemon_config_misfit(
            check, section, "execution_keys execution",
            "a systemd credential's name, or the path of a file of mode 0600 with two lines, id and "
            "secret, is needed");
    else
        check_apart(config, a, section, check);
}

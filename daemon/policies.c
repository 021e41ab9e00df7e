#include "daemon/policies.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/config_keys.h"
#include "exchange/decimal.h"
#include "strategy/policy/cache.h"
#include "strategy/policy/device.h"

enum { SCALE = 8 };

struct policy_set {
    struct policy *policies[ACCOUNTS_MAX];
    char *paths[ACCOUNTS_MAX]; /* their first files */
    char accounts[ACCOUNTS_MAX][ACCOUNT_NAME_MAX];
    int n;
    struct policy **added; /* in addition to the configuration's */
    size_t n_added;
    struct policy_cache *cache; /* of what former runs had */
    struct net_device *device;  /* NULL: the CPU computes them */
    char trouble[NET_DEVICE_ERROR_MAX];
    bool reported;
};

const char *daemon_policy_refusal(const struct policy *policy, const char *currency,
                                  const struct symbol *symbols, int n_symbols, int64_t interval_ns,
                                  bool extended_hours, char err[static POLICY_ERROR_MAX])
{
    if (policy_refusal(policy, currency, symbols, n_symbols, interval_ns, err))
        return err;
    if (!policy->calendar || policy->session != SESSION_EXTENDED || extended_hours)
        return NULL;
    snprintf(err, POLICY_ERROR_MAX,
             "%s, which it trades, is not traded before and after its session here, as the policy's session "
             "extended is: [venue NAME] extended_hours = on is right, or a policy of session regular",
             policy->assets[0].name);
    return err;
}

/* The venue's filters and calendar come later: names and the interval are known now. */
static int check(const struct daemon_config *config, const struct account_config *account,
                 const struct policy *policy, char *error)
{
    char why[POLICY_ERROR_MAX];
    struct symbol *symbols = calloc((size_t)config->n_symbols, sizeof *symbols);
    if (!symbols) {
        config_key_refuse(error, CONFIG_ERROR_MAX, "out of memory");
        return -ENOMEM;
    }
    int n = 0;
    for (int s = 0; s < config->n_symbols; s++) {
        const char *name = config->symbols[s];
        struct symbol *symbol = &symbols[n];
        if (symbol_default(name, symbol_quote(name) ? NULL : account->currency, SCALE, SCALE, symbol) < 0)
            continue;
        snprintf(symbol->calendar, sizeof symbol->calendar, "%s", policy->calendar ? policy->calendar : "");
        n++;
    }
    const char *refused = daemon_policy_refusal(policy, account->currency, symbols, n, config->interval_ns,
                                                daemon_config_extended(config), why);
    free(symbols);
    return refused ? config_key_refuse(error, CONFIG_ERROR_MAX, "[account %s] policy: %.200s: %.300s",
                                       account->name, account->policy, refused)
                   : 0;
}

int daemon_policy_set_load(const struct daemon_config *config, struct policy_set **ret,
                           char error[static CONFIG_ERROR_MAX])
{
    struct policy_set *set = calloc(1, sizeof *set);
    char err[POLICY_ERROR_MAX];
    int r = set ? 0 : -ENOMEM;
    if (r < 0)
        config_key_refuse(error, CONFIG_ERROR_MAX, "out of memory");
    for (int a = 0; a < config->n_accounts && r == 0; a++) {
        const struct account_config *account = &config->accounts[a];
        if (!account->policy[0])
            continue;
        r = policy_load(account->policy, account->actions, &set->policies[set->n], err);
        if (r < 0) {
            config_key_refuse(error, CONFIG_ERROR_MAX, "[account %s] policy: %.400s", account->name, err);
            break;
        }
        memcpy(set->accounts[set->n], account->name, ACCOUNT_NAME_MAX);
        set->paths[set->n] = strdup(account->policy);
        if (!set->paths[set->n]) {
            set->n++;
            r = config_key_refuse(error, CONFIG_ERROR_MAX, "out of memory");
            break;
        }
        r = check(config, account, set->policies[set->n++], error);
    }
    if (r < 0) {
        daemon_policy_set_destroy(set);
        return r;
    }
    *ret = set;
    return 0;
}

void daemon_policy_set_destroy(struct policy_set *set)
{
    if (!set)
        return;
    for (int i = 0; i < set->n; i++) {
        policy_destroy(set->policies[i]);
        free(set->paths[i]);
    }
    for (size_t i = 0; i < set->n_added; i++)
        policy_destroy(set->added[i]);
    free(set->added);
    policy_cache_close(set->cache);
    policy_net_device_close(set->device);
    free(set);
}

static int keep_all(const struct policy_set *set, const char *dir, char *error)
{
    char err[POLICY_ERROR_MAX];
    for (int i = 0; i < set->n; i++) {
        int r = policy_keep(set->policies[i], set->paths[i], dir, err);
        if (r < 0) {
            config_key_refuse(error, CONFIG_ERROR_MAX, "%.400s", err);
            return r;
        }
    }
    return 0;
}

int daemon_policy_set_keep(struct policy_set *set, const char *dir, const char *recording,
                           char error[static CONFIG_ERROR_MAX])
{
    char beside[PATH_MAX];
    int r = keep_all(set, dir, error);
    if (r == 0 && recording[0] && set->n > 0) {
        snprintf(beside, sizeof beside, "%s/policies", recording);
        if (mkdir(recording, 0750) < 0 && errno != EEXIST)
            r = -errno;
        if (r < 0)
            config_key_refuse(error, CONFIG_ERROR_MAX, "%.200s: %s", recording, strerror(-r));
        else
            r = keep_all(set, beside, error);
    }
    if (r < 0)
        return r;
    set->cache = policy_cache_open(dir);
    if (set->cache)
        return 0;
    config_key_refuse(error, CONFIG_ERROR_MAX, "out of memory");
    return -ENOMEM;
}

/* A policy that the device cannot compute stays on the CPU. */
static const struct policy *place(const struct policy_set *set, const struct policy *policy)
{
    char why[NET_DEVICE_ERROR_MAX];
    if (set->device && policy)
        policy_on_device(policy, set->device, why);
    return policy;
}

void daemon_policy_set_on_device(struct policy_set *set, const char *path, int wait_ms)
{
    if (policy_net_device_open(path, &set->device, set->trouble) < 0)
        return;
    policy_net_device_patience(set->device, wait_ms);
    for (int i = 0; i < set->n; i++)
        place(set, set->policies[i]);
    for (size_t i = 0; i < set->n_added; i++)
        place(set, set->added[i]);
}

const char *daemon_policy_set_device_trouble(struct policy_set *set)
{
    if (set->reported ||
        (!set->trouble[0] && !(set->device && policy_net_device_is_lost(set->device, set->trouble))))
        return NULL;
    set->reported = true;
    return set->trouble;
}

const struct policy *daemon_policy_set_of(const struct policy_set *set, const char *account)
{
    for (int i = 0; i < set->n; i++)
        if (strcmp(set->accounts[i], account) == 0)
            return set->policies[i];
    return NULL;
}

static const struct policy *find(void *ctx, const uint8_t id[static POLICY_ID_SIZE])
{
    const struct policy_set *set = ctx;
    for (int i = 0; i < set->n; i++)
        if (memcmp(set->policies[i]->id, id, POLICY_ID_SIZE) == 0)
            return set->policies[i];
    for (size_t i = 0; i < set->n_added; i++)
        if (memcmp(set->added[i]->id, id, POLICY_ID_SIZE) == 0)
            return set->added[i];
    if (!set->cache)
        return NULL;
    struct policies kept = policy_cache_find(set->cache);
    return place(set, kept.find(kept.ctx, id));
}

struct policies daemon_policy_set_find(struct policy_set *set)
{
    const char *where = set->cache ? policy_cache_find(set->cache).where : NULL;
    return (struct policies){.ctx = set, .find = find, .where = where};
}

const struct policy *daemon_policy_set_add(struct policy_set *set, struct policy *policy)
{
    const struct policy *before = NULL;
    for (int i = 0; i < set->n && !before; i++)
        if (memcmp(set->policies[i]->id, policy->id, POLICY_ID_SIZE) == 0)
            before = set->policies[i];
    for (size_t i = 0; i < set->n_added && !before; i++)
        if (memcmp(set->added[i]->id, policy->id, POLICY_ID_SIZE) == 0)
            before = set->added[i];
    struct policy **more =
        before ? NULL : reallocarray(set->added, set->n_added + 1, sizeof(struct policy *));
    if (!more) {
        policy_destroy(policy);
        return before;
    }
    set->added = more;
    set->added[set->n_added++] = policy;
    return place(set, policy);
}

void daemon_policy_set_drop(struct policy_set *set, bool (*used)(void *ctx, const struct policy *policy),
                            void *ctx)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->n_added; i++) {
        if (used(ctx, set->added[i]))
            set->added[kept++] = set->added[i];
        else
            policy_destroy(set->added[i]);
    }
    set->n_added = kept;
}

int daemon_policy_set_account(const struct policy *policy, const struct account_config *wanted,
                              struct account_spec *account)
{
    account->policy = policy;
    if (policy->calendar)
        account->session = policy->session;
    if (!wanted->own_rates && !wanted->fee_tier[0]) {
        account->rules.fees = (struct fee_rates){policy->rules.fee_e6, policy->rules.fee_e6};
        account->rules.class_fees = daemon_config_own_class_rates(wanted);
    }
    return wanted->own_cash
               ? 0
               : decimal_from_double(policy->rules.capital, account->currency_scale, &account->cash);
}

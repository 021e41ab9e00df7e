/* Entries of an account's strategy that the account's limits of exposure always refuse. */
#include <stdio.h>

#include "daemon/config.h"
#include "strategy/risk_keys.h"
#include "strategy/strategy.h"

/* Such an order is for this share of equity at least; NULL: by no parameter alone. */
static const struct strategy_param *share_of(const struct account_config *account, int symbols,
                                             double *ret_share)
{
    const struct strategy *strategy = account->strategy;
    for (size_t i = 0; strategy && i < strategy->n_params; i++) {
        const struct strategy_param *param = &strategy->params[i];
        if (param->opens == STRATEGY_OPENS_NONE)
            continue;
        *ret_share = account->params[i] / (param->opens == STRATEGY_OPENS_ALL ? symbols : 1);
        return param;
    }
    return NULL;
}

/* The most that the fee of an entry is, which is within the share that the entry is for. */
static double fee_of(const struct account_rules *rules)
{
    int32_t most = rules->fees.taker_e6;
    if (rules->class_fees && rules->crypto_fees.taker_e6 > most)
        most = rules->crypto_fees.taker_e6;
    if (rules->class_fees && rules->us_equity_fees.taker_e6 > most)
        most = rules->us_equity_fees.taker_e6;
    return most > 0 ? most / 1e6 : 0;
}

bool daemon_config_refuses_entries(const struct daemon_config *config, const struct account_config *account,
                                   char ret[static CONFIG_ERROR_MAX])
{
    double share;
    const struct account_rules rules = daemon_config_rules(config, account);
    const double limits[] = {rules.risk.exposure_symbol,
                             rules.risk.exposure_account}; /* the first risk_keys */
    int symbols = config->n_symbols > 0 ? config->n_symbols : 1;
    const struct strategy_param *param = account->policy[0] ? NULL : share_of(account, symbols, &share);
    for (int i = 0; param && i < 2; i++) {
        if (limits[i] <= 0 || share <= limits[i] * (1 + fee_of(&rules)))
            continue;
        bool all = param->opens == STRATEGY_OPENS_ALL, own = account->own_risk & 1U << i;
        char of[64] = "";
        if (all)
            snprintf(of, sizeof of, " (strategy.%s over %d symbol%s)", param->name, symbols,
                     symbols == 1 ? "" : "s");
        snprintf(
            ret, CONFIG_ERROR_MAX,
            "[account %s] strategy.%s = %.9g: %s opens a position by an order for %.9g of equity%s, and %s%s "
            "= %.9g refuses each such order: %s at most %.9g, or %s at least %.9g, is right",
            account->name, param->name, account->params[param - account->strategy->params],
            account->strategy->name, share, of, own ? CONFIG_OWN_RISK : "[risk] ", risk_keys[i].name,
            limits[i], param->name, limits[i] * (all ? symbols : 1), risk_keys[i].name, share);
        return true;
    }
    return false;
}

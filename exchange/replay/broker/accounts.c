#include "exchange/replay/broker/accounts.h"

#include <string.h>

const struct broker_balance *replay_broker_balance(const struct broker_account *account, const char *asset)
{
    for (size_t i = 0; i < account->n_balances; i++)
        if (strcmp(account->balances[i].asset, asset) == 0)
            return &account->balances[i];
    return NULL;
}

struct broker_balance *replay_account_balance(struct broker_account *account, const char *asset)
{
    const struct broker_balance *has = replay_broker_balance(account, asset);
    if (has)
        return &account->balances[has - account->balances];
    if (account->n_balances == BROKER_ASSETS_MAX)
        return NULL;
    struct broker_balance *made = &account->balances[account->n_balances++];
    *made = (struct broker_balance){0};
    memcpy(made->asset, asset, strnlen(asset, sizeof(made->asset) - 1));
    return made;
}

/* What it begins with. */
static void begin(const struct broker_accounts *accounts, const struct broker_calls *calls,
                  struct broker_account *account)
{
    const struct broker_funds *funds = &accounts->funds;
    const int64_t one = decimal_pow10(calls->scale);
    struct symbol symbol;
    account->created_ns = account->updated_ns = calls->now_ns(calls->user);
    account->n_balances = 0;
    for (int i = 0; i < funds->symbols; i++) {
        if (!calls->symbol(calls->user, i, &symbol))
            continue;
        struct broker_balance *at = replay_account_balance(account, symbol.base);
        if (at)
            at->free = (int128_t)funds->base * one;
    }
    for (int i = 0; i < funds->symbols; i++) { /* an asset that is both has the quote's */
        struct broker_balance *at =
            calls->symbol(calls->user, i, &symbol) ? replay_account_balance(account, symbol.quote) : NULL;
        if (at)
            at->free = (int128_t)funds->quote * one;
    }
}

int replay_accounts_take(struct broker_accounts *accounts, const struct broker_calls *calls, const char *key,
                         const struct broker_funds *funds)
{
    for (int i = 0; i < accounts->n; i++)
        if (strcmp(accounts->all[i].key, key) == 0)
            return i;
    if (accounts->n == BROKER_ACCOUNTS_MAX)
        return -1;
    struct broker_account *account = &accounts->all[accounts->n];
    *account = (struct broker_account){0};
    memcpy(account->key, key, strnlen(key, sizeof(account->key) - 1));
    accounts->funds = *funds;
    begin(accounts, calls, account);
    return accounts->n++;
}

void replay_accounts_wipe(struct broker_accounts *accounts, const struct broker_calls *calls)
{
    for (int i = 0; i < accounts->n; i++)
        begin(accounts, calls, &accounts->all[i]);
}

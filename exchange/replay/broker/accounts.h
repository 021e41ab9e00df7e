/* The accounts of a broker, by their API keys, and what they have. */
#ifndef EXCHANGE_REPLAY_BROKER_ACCOUNTS_H
#define EXCHANGE_REPLAY_BROKER_ACCOUNTS_H

#include "exchange/replay/broker/broker.h"

struct broker_accounts {
    struct broker_account *all; /* BROKER_ACCOUNTS_MAX of them */
    int n;
    struct broker_funds funds; /* of the latest */
};

/* As replay_broker_account(). */
int replay_accounts_take(struct broker_accounts *accounts, const struct broker_calls *calls, const char *key,
                         const struct broker_funds *funds);
/* All of them have what they began with. */
void replay_accounts_wipe(struct broker_accounts *accounts, const struct broker_calls *calls);

/* An account's balance of an asset, made when there is none; NULL when there are too many. */
struct broker_balance *replay_account_balance(struct broker_account *account, const char *asset);

#endif

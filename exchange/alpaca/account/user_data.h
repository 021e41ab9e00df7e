/* User data of an account: /stream, authenticated, and listening to trade_updates. The venue has one such
 * connection a key. An update that cannot be read ends the connection: what it said is missed, and the caller
 * is to look. Internal to this folder. */
#ifndef EXCHANGE_ALPACA_ACCOUNT_USER_DATA_H
#define EXCHANGE_ALPACA_ACCOUNT_USER_DATA_H

#include "exchange/net/account.h"

struct paper_account {
    struct net_account base;
    struct budget budget; /* of requests */
    bool authorized;      /* user data: the keys are good */
};

void alpaca_user_data_opened(struct net_account *account);
bool alpaca_user_data_message(struct net_account *account, const char *data, size_t len);

#endif

#include "exchange/alpaca/account/account.h"

#include "exchange/alpaca/account/call.h"
#include "exchange/alpaca/account/user_data.h"
#include "exchange/alpaca/rest.h"
#include "exchange/alpaca/settings.h"
#include "exchange/order_rules.h"

#define PAPER_HOST "paper-api.alpaca.markets"

enum {
    MINUTE_MS = 60000,
    CALLS_PERCENT = 80, /* of the limit: other programs may share the keys */
};

static const char *const paper_hosts[] = {PAPER_HOST, NULL};

static int account_create(const struct venue_account_config *config,
                          const struct venue_account_handler *handler, void *user, struct venue_account **ret)
{
    static const struct account_venue venue = {.size = sizeof(struct paper_account),
                                               .accounts = &alpaca_accounts,
                                               .path = "/stream",
                                               .calls = &alpaca_account_calls,
                                               .id_header = "APCA-API-KEY-ID",
                                               .secret_header = "APCA-API-SECRET-KEY",
                                               .opened = alpaca_user_data_opened,
                                               .message = alpaca_user_data_message};
    int r = net_account_create(&venue, config, handler, user, ret);
    if (r < 0)
        return r;
    struct paper_account *account = (struct paper_account *)*ret;
    net_budget_init(&account->budget, ALPACA_CALLS_PER_MINUTE * CALLS_PERCENT / 100, MINUTE_MS);
    account->base.calls.budget = &account->budget;
    return 0;
}

const struct venue_accounts alpaca_accounts = {
    .paper_hosts = paper_hosts,
    .rest_url = ALPACA_TRADING_URL,
    .ws_url = "wss://" PAPER_HOST,
    .types = ORDER_SET(ORDER_MARKET) | ORDER_SET(ORDER_LIMIT) | ORDER_SET(ORDER_STOP) |
             ORDER_SET(ORDER_STOP_LIMIT),
    .tifs = ORDER_SET(ORDER_GTC) | ORDER_SET(ORDER_IOC) | ORDER_SET(ORDER_FOK) | ORDER_SET(ORDER_DAY) |
            ORDER_SET(ORDER_OPG) | ORDER_SET(ORDER_CLS),
    .id_for_life = true,
    .create = account_create,
    NET_ACCOUNT_FUNCTIONS,
};

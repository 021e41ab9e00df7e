#include "exchange/alpaca/account/user_data.h"

#include "exchange/alpaca/account/order_parse.h"
#include "exchange/alpaca/channel.h"
#include "exchange/net/secret.h"

static const char listen_request[] = "{\"action\":\"listen\",\"data\":{\"streams\":[\"trade_updates\"]}}";

static bool *authorized(struct net_account *account)
{
    return &((struct paper_account *)account)->authorized;
}

static void expect(struct net_account *account, bool sent, const char *awaited)
{
    if (sent)
        net_connection_expect(&account->feed, awaited);
    else
        net_account_fail(account, LINK_LOST, "a request could not be sent");
}

void alpaca_user_data_opened(struct net_account *account)
{
    struct alpaca_request *request = net_secret_alloc(sizeof(*request));
    if (request)
        alpaca_request_auth(request, false, account->keys->id, account->keys->secret);
    bool sent =
        request && !request->overflow && net_connection_send(&account->feed, request->data, request->len);
    net_secret_free(request);
    *authorized(account) = false;
    expect(account, sent, "an answer to the keys");
}

static void on_said(struct net_account *account, const struct alpaca_trading *said)
{
    struct net_connection *feed = &account->feed;
    if (said->kind == TRADING_REFUSED) {
        net_account_fail(account, LINK_ENDED,
                         "the venue refuses the account's keys: are they of a paper account that was reset?");
    } else if (said->kind == TRADING_AUTHORIZED && !*authorized(account)) {
        *authorized(account) = true;
        expect(account, net_connection_send(feed, listen_request, sizeof(listen_request) - 1),
               "an answer to the request for updates");
    } else if (said->kind == TRADING_LISTENING && *authorized(account) && !feed->ready) {
        if (said->updates)
            net_connection_ready(feed);
        else
            net_account_fail(account, LINK_REFUSED,
                             "the venue does not send these keys the updates of their orders");
    }
}

bool alpaca_user_data_message(struct net_account *account, const char *data, size_t len)
{
    struct alpaca_trading said;
    struct venue_order order;
    struct venue_fill fill;
    bool filled;
    int r = alpaca_parse_trading(data, len, &said);
    if (r == 0 && said.kind != TRADING_UPDATE)
        on_said(account, &said);
    if (r == 1 || (r == 0 && (said.kind != TRADING_UPDATE || !account->feed.ready)))
        return false; /* nothing of it yet, or it listens, and has not said so yet */
    if (r == 0 && alpaca_account_update(&account->calls.symbols, &said, &order, &filled, &fill))
        return net_account_push(
            account,
            &(struct venue_lists){.orders = &order, .n_orders = 1, .fills = &fill, .n_fills = filled});
    net_account_fail(account, LINK_LOST,
                     "the venue sent what cannot be read: connecting again, to look at the orders");
    return false;
}

/* The example venue's accounts: exchange/net/account.h has requests, keys and the connection of user data. */
#include <errno.h>

#include "exchange/net/account.h"
#include "exchange/order_rules.h"
#include "tests/exchange/skeleton/skeleton.h"

#define SIDES (ORDER_SELL + 1)
#define TYPES (ORDER_LIMIT + 1)

static const char *const sides[SIDES] = {"buy", "sell"}, *const types[TYPES] = {"market", "limit"};
static const char *const states[VENUE_ORDER_STATES] = {"new",      "partial",  "filled",
                                                       "canceled", "rejected", "expired"};

/* What a reader takes is complete, and is counted then. */
static bool read_order(const struct venue_symbols *symbols, struct json *json, struct venue_lists *lists)
{
    struct json_text client, id, name, side, type, state;
    struct venue_order *order = venue_lists_order(lists);
    return order &&
           skeleton_read(json, "tttitttaaa", &client, &id, &name, &order->ts_ns, &side, &type, &state,
                         &order->qty, &order->price, &order->filled) &&
           (order->symbol = venue_symbols_find(symbols, name)) && order->filled <= order->qty &&
           (order->side = json_text_among(side, sides, SIDES)) < SIDES &&
           (order->type = json_text_among(type, types, TYPES)) < TYPES &&
           (order->state = json_text_among(state, states, VENUE_ORDER_STATES)) < VENUE_ORDER_STATES &&
           json_text_copy(name, order->name, SYMBOL_NAME_MAX) &&
           json_text_copy(client, order->client_id, VENUE_CLIENT_ID_MAX) &&
           json_text_copy(id, order->id, VENUE_ORDER_ID_MAX) && ++lists->n_orders;
}

static bool read_fill(const struct venue_symbols *symbols, struct json *json, struct venue_lists *lists)
{
    struct json_text client, id, name, side, trade;
    struct venue_fill *fill = venue_lists_fill(lists);
    if (!fill ||
        !skeleton_read(json, "tttittaaaab", &client, &id, &name, &fill->ts_ns, &side, &trade, &fill->price,
                       &fill->qty, &fill->cumulative, &fill->fee, &fill->maker) ||
        !(fill->symbol = venue_symbols_find(symbols, name)) ||
        (fill->side = json_text_among(side, sides, SIDES)) == SIDES)
        return false;
    fill->notional = -1;
    fill->fee_said = true;
    fill->fee_scale = SKELETON_SCALE;
    strcpy(fill->fee_asset, fill->side == ORDER_BUY ? fill->symbol->base : fill->symbol->quote);
    return fill->price > 0 && fill->qty > 0 && fill->cumulative >= fill->qty &&
           json_text_copy(client, fill->client_id, VENUE_CLIENT_ID_MAX) &&
           json_text_copy(id, fill->order_id, VENUE_ORDER_ID_MAX) &&
           json_text_copy(trade, fill->trade_id, VENUE_TRADE_ID_MAX) && ++lists->n_fills;
}

static bool read_balance(struct json *json, struct venue_lists *lists)
{
    struct json_text asset;
    struct venue_balance *balance = venue_lists_balance(lists);
    if (!balance || !skeleton_read(json, "taa", &asset, &balance->free, &balance->locked) ||
        !json_text_copy(asset, balance->asset, ASSET_NAME_MAX))
        return false;
    balance->scale = SKELETON_SCALE;
    return ++lists->n_balances;
}

/* An answer, or a message of user data. */
static bool read_lists(const struct venue_symbols *symbols, const char *text, size_t len,
                       struct venue_lists *lists)
{
    struct json json;
    struct json_text word;
    json_init(&json, text, len);
    json_enter_array(&json);
    while (json_element(&json))
        if (!json_enter_array(&json) || !skeleton_read(&json, "t", &word) ||
            !(json_is(word, "order")     ? read_order(symbols, &json, lists)
              : json_is(word, "fill")    ? read_fill(symbols, &json, lists)
              : json_is(word, "balance") ? read_balance(&json, lists)
                                         : false) ||
            json_element(&json))
            return false;
    return json_done(&json);
}

/* /order?symbol=SYMBOL&id=ID: the client's id, or (of fills) the venue's; and what is placed. */
static int send_call(struct account_call *call, const struct order *order)
{
    static const char *const asks[ACCOUNT_ASKS][2] = {
        [ACCOUNT_PLACE] = {"POST", "order"}, [ACCOUNT_CANCEL] = {"DELETE", "order"},
        [ACCOUNT_QUERY] = {"GET", "order"},  [ACCOUNT_OPEN] = {"GET", "open"},
        [ACCOUNT_FILLS] = {"GET", "fills"},  [ACCOUNT_BALANCES] = {"GET", "balances"}};
    struct text text = {0};
    if (order && (order->type >= TYPES || order->tif != ORDER_GTC || order->post_only)) {
        net_account_call_end_later(call, VENUE_REFUSED, 0, 0, "market and limit orders only");
        return 0;
    }
    text_format(&text, "/%s?symbol=", asks[call->ask][1]);
    text_url(&text, call->symbol ? call->symbol->name : "");
    text_lit(&text, "&id=");
    text_url(&text, call->ask == ACCOUNT_FILLS ? call->order_id : call->client_id);
    if (order)
        text_format(&text, "&side=%s&type=%s&qty=%lld&price=%lld", sides[order->side], types[order->type],
                    (long long)order->qty, order->type == ORDER_LIMIT ? (long long)order->price : 0);
    return net_account_call_send(call, asks[call->ask][0], &text, NULL);
}

/* What a refusal says, where the words are the venue's own; else it may have been done. */
static enum venue_outcome outcome_of(int status)
{
    return status == 404                    ? VENUE_ABSENT
           : status == 409                  ? VENUE_EXISTS
           : status == 401 || status == 403 ? VENUE_DENIED
           : status == 422                  ? VENUE_REFUSED
                                            : VENUE_UNKNOWN;
}

static void take(struct account_call *call, const struct http_reply *reply)
{
    struct venue_lists *lists = &call->lists;
    struct json_text words;
    bool read = reply->status == 200 && read_lists(&call->calls->symbols, reply->body, reply->len, lists);
    if (read && call->client_id[0]) /* it is about that one order */
        read = lists->n_orders == 1 && strcmp(lists->orders[0].client_id, call->client_id) == 0;
    int64_t wait_ms = net_link_wait_ms(net_link_failure_of(reply->status, false), reply->retry_after_ms);
    snprintf(call->text, sizeof call->text, "HTTP %d: ", reply->status);
    if (skeleton_error(reply->body, reply->len, &words))
        json_text_copy(words, call->text, sizeof call->text);
    if (read)
        net_account_call_end(call, VENUE_DONE, 0, "");
    else if (wait_ms >= 0)
        net_account_call_limited(call, reply->status, wait_ms, call->text);
    else
        net_account_call_end(call, call->text[0] == 'H' ? VENUE_UNKNOWN : outcome_of(reply->status),
                             reply->status, call->text);
}

static bool on_message(struct net_account *account, const char *data, size_t len)
{
    struct venue_lists lists = {0};
    bool read = read_lists(&account->calls.symbols, data, len, &lists);
    bool there = read && net_account_push(account, &lists);
    venue_lists_free(&lists);
    if (!read)
        net_account_fail(account, LINK_LOST, "the venue sent what cannot be read");
    return there;
}

static int create(const struct venue_account_config *config, const struct venue_account_handler *handler,
                  void *user, struct venue_account **ret)
{
    static const struct account_calls_venue calls = {
        .call_size = sizeof(struct account_call), .send = send_call, .take = take};
    static const struct account_venue venue = {.size = sizeof(struct net_account),
                                               .accounts = &skeleton_accounts,
                                               .path = "/user",
                                               .calls = &calls,
                                               .id_header = "Skeleton-Key",
                                               .secret_header = "Skeleton-Secret",
                                               .message = on_message};
    return net_account_create(&venue, config, handler, user, ret);
}

const struct venue_accounts skeleton_accounts = {
    .paper_hosts = (const char *const[]){"paper.example.com", NULL},
    .rest_url = "https://paper.example.com",
    .ws_url = "wss://paper.example.com",
    .types = ORDER_SET(ORDER_MARKET) | ORDER_SET(ORDER_LIMIT),
    .tifs = ORDER_SET(ORDER_GTC),
    .id_for_life = true,
    .create = create,
    NET_ACCOUNT_FUNCTIONS,
};

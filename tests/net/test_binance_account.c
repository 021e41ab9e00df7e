/* Binance's account against papertape-replay: orders, fills, balances and user data by HMAC and Ed25519, over
 * REST and the WebSocket API. Usage: test PAPERTAPE_REPLAY */
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "tests/net/binance_account.h"
#include "tests/scratch.h"

static const char *keys_file;
static char *private_pem;

/* ---- What an order goes through. ---- */

static void test_resting(struct client *c)
{
    const struct order order = resting();
    CHECK_INT(place(c, &order, "rest/1"), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 1);
    CHECK_INT(kept.a.n_fills, 0);
    const struct venue_order placed = kept.orders[0];
    CHECK_INT(placed.state, VENUE_ORDER_NEW);
    CHECK_STR(placed.client_id, "rest/1");
    CHECK_INT(placed.qty, order.qty);
    CHECK_INT(placed.price, order.price);
    CHECK(placed.symbol == &symbols[0]);
    CHECK(kept.a.ts_ns > 0);
    CHECK_INT(place(c, &order, "rest/1"), VENUE_EXISTS);
    CHECK_INT(kept.a.code, -2010);
    CHECK_INT(query(c, "rest/1"), VENUE_DONE);
    CHECK_STR(kept.orders[0].id, placed.id);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_NEW);
    CHECK_INT(open_orders(c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 1);
    CHECK_INT(cancel(c, "rest/1"), VENUE_DONE);
    CHECK_STR(kept.orders[0].client_id, "rest/1");
    CHECK_STR(kept.orders[0].id, placed.id);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(cancel(c, "rest/1"), VENUE_ABSENT);
    CHECK_INT(kept.a.code, -2011);
    CHECK_INT(query(c, "rest/1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(query(c, "never"), VENUE_ABSENT);
    CHECK_INT(kept.a.code, -2013);
    CHECK_INT(open_orders(c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 0);
    UNTIL(c, c->n_orders >= 2);
    CHECK_INT(c->n_orders, 2);
    CHECK_INT(c->orders[0].state, VENUE_ORDER_NEW);
    CHECK_INT(c->orders[1].state, VENUE_ORDER_CANCELED);
    for (int i = 0; i < 2; i++) {
        CHECK_STR(c->orders[i].client_id, "rest/1");
        CHECK_STR(c->orders[i].id, placed.id);
    }
    CHECK_INT(c->n_fills, 0);
}

/* One that takes several levels: its answer, user data and what is asked for afterwards say the same. */
static void test_market(struct client *c)
{
    const int64_t base = balance(c, "BTC"), quote = balance(c, "USDT");
    const struct order order = {.type = ORDER_MARKET, .qty = 2 * E8 + E8 / 2};
    int64_t qty = 0, fee = 0, notional = 0;
    c->n_orders = c->n_fills = 0;
    CHECK_INT(place(c, &order, "market-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_FILLED);
    CHECK_INT(kept.orders[0].filled, order.qty);
    const struct answer placed = kept;
    CHECK(placed.a.n_fills > 1);
    UNTIL(c, c->n_fills >= placed.a.n_fills && c->n_orders > 0 &&
                 c->orders[c->n_orders - 1].state == VENUE_ORDER_FILLED);
    CHECK_INT(c->n_fills, placed.a.n_fills);
    CHECK_INT(fills(c, placed.orders[0].id), VENUE_DONE);
    CHECK_INT(kept.a.n_fills, placed.a.n_fills);
    for (size_t i = 0; i < placed.a.n_fills && i < c->n_fills; i++) {
        const struct venue_fill *three[] = {&placed.fills[i], &c->fills[i], &kept.fills[i]};
        qty += three[0]->qty;
        fee += three[0]->fee;
        notional += kept.fills[i].notional;
        for (int k = 0; k < 3; k++) {
            CHECK_STR(three[k]->trade_id, three[0]->trade_id);
            CHECK_STR(three[k]->order_id, placed.orders[0].id);
            CHECK_INT(three[k]->price, three[0]->price);
            CHECK_INT(three[k]->qty, three[0]->qty);
            CHECK_INT(three[k]->cumulative, qty);
            CHECK_INT(three[k]->fee, three[0]->fee);
            CHECK_STR(three[k]->fee_asset, "BTC");
            CHECK_INT(three[k]->fee_scale, 8);
            CHECK_INT(three[k]->side, ORDER_BUY);
            CHECK(!three[k]->maker);
        }
        CHECK_INT(three[1]->notional, three[2]->notional);
        CHECK(three[2]->ts_ns > 0);
    }
    CHECK_INT(qty, order.qty);
    CHECK_INT(balance(c, "BTC") - base, qty - fee);
    /* A fill's amount has 8 digits, the balance 16. */
    int64_t paid = quote - balance(c, "USDT");
    CHECK(paid >= notional && paid <= notional + (int64_t)placed.a.n_fills + 1);
}

static void test_partial(struct client *c)
{
    const struct order order = {
        .type = ORDER_LIMIT, .side = ORDER_SELL, .qty = 10 * E8, .price = best_bid.price};
    c->n_orders = c->n_fills = 0;
    CHECK_INT(place(c, &order, "part-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_PARTIAL);
    const int64_t filled = kept.orders[0].filled;
    CHECK(filled > 0 && filled < order.qty);
    CHECK_INT(kept.fills[kept.a.n_fills - 1].cumulative, filled);
    CHECK_STR(kept.fills[0].fee_asset, "USDT");
    CHECK_INT(query(c, "part-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_PARTIAL);
    CHECK_INT(cancel(c, "part-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_CANCELED);
    CHECK_INT(kept.orders[0].filled, filled);
    UNTIL(c, c->n_orders > 0 && c->orders[c->n_orders - 1].state == VENUE_ORDER_CANCELED);
    CHECK_STR(c->orders[c->n_orders - 1].client_id, "part-1");
    CHECK_INT(c->orders[c->n_orders - 1].filled, filled);
    CHECK_INT(c->fills[c->n_fills - 1].cumulative, filled);
}

static void test_stop(struct client *c)
{
    const struct order order = {
        .type = ORDER_STOP, .side = ORDER_SELL, .qty = E8 / 10, .stop_price = best_bid.price - 5000 * E8};
    CHECK_INT(place(c, &order, "stop-1"), VENUE_DONE);
    CHECK_INT(kept.orders[0].state, VENUE_ORDER_NEW);
    CHECK_INT(kept.orders[0].type, ORDER_STOP);
    CHECK_INT(kept.orders[0].stop_price, order.stop_price);
    CHECK_INT(cancel(c, "stop-1"), VENUE_DONE);
}

static void test_refusals(struct client *c)
{
    struct order order = resting();
    order.qty = 1;
    CHECK_INT(place(c, &order, "r-1"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -1013);
    CHECK_STR(kept.text, "Filter failure: LOT_SIZE");
    order = resting();
    order.qty = 30 * E8;
    CHECK_INT(place(c, &order, "r-2"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -2010);
    CHECK_STR(kept.text, "Account has insufficient balance for requested action.");
    order = resting();
    order.post_only = true;
    order.price = best_ask.price + 100 * E8;
    CHECK_INT(place(c, &order, "r-3"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -2010);
    /* By this program: nothing of them is sent. */
    const uint64_t sent = venue->accounts->status(c->account)->sent;
    order = resting();
    order.tif = ORDER_OPG;
    CHECK_INT(place(c, &order, "r-4"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, 0);
    order = resting();
    CHECK_INT(place(c, &order, ""), VENUE_REFUSED);
    CHECK_INT(place(c, &order, "a-client-id-of-thirty-seven-letters-x"), VENUE_REFUSED);
    order.symbol = 2;
    CHECK_INT(place(c, &order, "r-5"), VENUE_REFUSED);
    CHECK_INT(fills(c, ""), VENUE_REFUSED);
    CHECK_INT(venue->accounts->status(c->account)->sent, sent);
    CHECK_INT(fills(c, "x"), VENUE_REFUSED);
    CHECK_INT(kept.a.code, -1100);
    CHECK_INT(open_orders(c), VENUE_DONE);
    CHECK_INT(kept.a.n_orders, 0);
}

/* A clock that is off, either way, and right again. */
static void test_clock(struct client *c)
{
    const struct order order = resting();
    static const int64_t offs_ms[] = {-5100, 1001, 5000};
    for (int i = 0; i < 3; i++) {
        c->off_ns = offs_ms[i] * NS_PER_MS;
        CHECK_INT(place(c, &order, "late"), VENUE_BAD_TIMESTAMP);
        CHECK_INT(kept.a.code, -1021);
        CHECK_INT(c->bad_timestamp, i + 1);
    }
    c->off_ns = 900 * NS_PER_MS;
    CHECK_INT(query(c, "late"), VENUE_ABSENT);
    c->off_ns = 0;
}

static void test_order_life(const struct how *how)
{
    static struct client c;
    memset(&c, 0, sizeof(c));
    open_client(&c, how);
    wait_up(&c);
    test_resting(&c);
    test_market(&c);
    test_partial(&c);
    test_stop(&c);
    test_refusals(&c);
    test_clock(&c);
    CHECK_INT(c.ups, 1);
    CHECK_INT(c.downs, 0);
    CHECK_INT(c.bans, 0);
    const struct venue_status *status = venue->accounts->status(c.account);
    CHECK_INT(status->connects, 1);
    CHECK_INT(status->up, 1);
    CHECK(status->frames > 0 && status->sent > 0);
    close_client(&c);
}

/* ---- Who may. ---- */

static void test_wrong_keys(void)
{
    static const struct {
        struct how how;
        enum venue_outcome place, query;
        int code;
        enum venue_link link;
    } cases[] = {
        {{"h", "wrong", false, 0, false}, VENUE_REFUSED, VENUE_REFUSED, -1022, VENUE_FINAL},
        {{"unknown", "s3cret", false, 0, false}, VENUE_DENIED, VENUE_DENIED, -2015, VENUE_FINAL},
        {{"reader", "other", false, 0, false}, VENUE_DENIED, VENUE_ABSENT, -2015, VENUE_UP},
        {{"reader", "other", true, 0, false}, VENUE_DENIED, VENUE_ABSENT, -2015, VENUE_UP},
    };
    const struct order order = resting();
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static struct client c;
        memset(&c, 0, sizeof(c));
        open_client(&c, &cases[i].how);
        UNTIL(&c, c.link == cases[i].link);
        CHECK_INT(place(&c, &order, "k-1"), cases[i].place);
        CHECK_INT(kept.a.code, cases[i].code);
        CHECK_INT(query(&c, "k-1"), cases[i].query);
        CHECK(!strstr(c.detail, cases[i].how.secret));
        close_client(&c);
    }
}

static void test_hosts(void)
{
    static struct client c;
    struct venue_account_config config = {
        .net = net, .keys = {"h", "s3cret"}, .symbols = symbols, .n_symbols = 2, .venue_ns = venue_ns};
    static const struct {
        const char *rest, *ws;
        int r;
    } cases[] = {
        {"https://api.binance.com", "wss://127.0.0.1", -EPERM},
        {"https://127.0.0.1", "wss://ws-api.binance.com:443", -EPERM},
        {"http://127.0.0.1", "wss://127.0.0.1", -EINVAL},
        {"https://127.0.0.1", "https://127.0.0.1", -EINVAL},
        {"https://127.0.0.1/api", "wss://127.0.0.1", -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        config.rest_url = cases[i].rest;
        config.ws_url = cases[i].ws;
        CHECK_INT(venue->accounts->create(&config, &handler, &c, &c.account), cases[i].r);
    }
    config.rest_url = replay.rest_url;
    config.ws_url = replay.ws_url;
    config.keys.secret = NULL;
    CHECK_INT(venue->accounts->create(&config, &handler, &c, &c.account), -EINVAL);
}

/* Destroyed with requests under way, and at once: no callback follows. */
static void test_destroy(void)
{
    static struct client c;
    static const struct how how = {"h", "s3cret", false, 0, false};
    const struct order order = resting();
    memset(&c, 0, sizeof(c));
    open_client(&c, &how);
    close_client(&c);
    open_client(&c, &how);
    kept = (struct answer){0};
    CHECK_INT(venue->accounts->balances(c.account, on_answer, &kept), 0);
    CHECK_INT(venue->accounts->place(c.account, &order, "", on_answer, &kept), 0);
    close_client(&c);
    uv_run(&loop, UV_RUN_NOWAIT);
    CHECK(!kept.done);
}

/* ---- Connections that end. ---- */

/* The server announces its end: another connection is made beside it, nothing is missed and nothing comes
 * twice. */
static void test_renewal(void)
{
    static struct client c;
    static const struct how how = {"ed", NULL, false, 0, false};
    struct how with_key = how;
    const struct order order = resting();
    with_key.secret = private_pem;
    memset(&c, 0, sizeof(c));
    open_client(&c, &with_key);
    wait_up(&c);
    post_fault("shutdown@0s+3600s");
    const struct venue_status *status = venue->accounts->status(c.account);
    UNTIL(&c, status->renewals > 0);
    CHECK_INT(place(&c, &order, "renewed"), VENUE_DONE);
    CHECK_INT(cancel(&c, "renewed"), VENUE_DONE);
    UNTIL(&c, c.n_orders >= 2);
    CHECK_INT(c.n_orders, 2);
    CHECK_INT(c.ups, 1);
    CHECK_INT(c.downs, 0);
    close_client(&c);
}

/* ---- Keys. ---- */

static void write_keys(void)
{
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    BIO *out = BIO_new(BIO_s_mem());
    char *text;
    const char *public_file;
    public_file = scratch_path("public.pem");
    keys_file = scratch_path("keys");
    FILE *public = fopen(public_file, "we"), *keys = fopen(keys_file, "we");
    CHECK(PEM_write_PUBKEY(public, pkey) == 1);
    fclose(public);
    fprintf(keys, "h hmac s3cret\nw hmac s4cret\nreader hmac other read-only\ned ed25519 %s\n", public_file);
    fprintf(keys, "ew ed25519 %s\n", public_file);
    fclose(keys);
    CHECK(PEM_write_bio_PrivateKey(out, pkey, NULL, NULL, 0, NULL, NULL) == 1);
    long len = BIO_get_mem_data(out, &text);
    private_pem = strndup(text, (size_t)len);
    BIO_free(out);
    EVP_PKEY_free(pkey);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    program = argv[1];
    signal(SIGPIPE, SIG_IGN);
    write_keys();
    const struct how ways[] = {
        {"h", "s3cret", false, 0, false},
        {"w", "s4cret", true, 0, false},
        {"ed", private_pem, false, 0, false},
        {"ew", private_pem, true, 0, false},
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        start("--keys", keys_file);
        test_order_life(&ways[i]);
        if (i == 0) {
            test_wrong_keys();
            test_hosts();
            test_destroy();
        }
        if (i == 2)
            test_renewal();
        stop();
    }
    free(private_pem);
    return check_done("net binance_account");
}

/* Stops that trail, icebergs and order lists of the replay's side of orders. */
#include "exchange/replay/broker/order_lists.h"
#include "exchange/replay/broker/stops.h"

#include "tests/check.h"
#include "tests/random.h"
#include "tests/replay/broker_market.h"

static const struct broker_order *find(const struct place *p, int64_t id)
{
    return replay_broker_find(p->broker, p->account, 0, id, NULL);
}

static void trade(struct place *p, double price)
{
    replay_broker_trade(p->broker, 0, (int64_t)(price * E8 + 0.5), E8 / 1000, false);
    check_sums(p);
}

static int128_t locked(const struct place *p, const char *asset)
{
    const struct broker_account *account = replay_broker_account_of(p->broker, p->account);
    for (size_t i = 0; i < account->n_balances; i++)
        if (strcmp(account->balances[i].asset, asset) == 0)
            return account->balances[i].locked / E8;
    return -1;
}

/* The venue's own examples of trailing stops, in hundreds: each price but the last leaves it waiting. */
static void test_examples(void)
{
    static const struct {
        enum order_side side;
        enum order_type type;
        double stop;
        int bips;
        double prices[8];
    } all[] = {
        {ORDER_BUY, ORDER_STOP_LIMIT, 440, 500, {400, 370, 440, 460, 420, 440.99, 441}},
        {ORDER_SELL, ORDER_STOP_LIMIT, 39, 1000, {41.5, 39, 37, 41, 36.91, 36.9}},
        {ORDER_BUY, ORDER_TAKE_PROFIT_LIMIT, 38, 850, {42, 38, 37, 39, 38, 40.14, 40.145}},
        {ORDER_SELL, ORDER_TAKE_PROFIT_LIMIT, 420, 750, {415, 390, 420, 450, 440, 465, 430.13, 430.125}},
        {ORDER_SELL, ORDER_STOP_LIMIT, 0, 700, {400, 420, 395, 455, 423.16, 423.15}},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        struct place p = place_open();
        for (int k = 0; k < 5; k++) { /* nothing to take: it rests once it is triggered */
            CHECK_INT(replay_ladder_set(&p.market.asks, (100 + k) * E8, 0), 0);
            CHECK_INT(replay_ladder_set(&p.market.bids, (99 - k) * E8, 0), 0);
        }
        place_start(&p);
        const double price = all[i].side == ORDER_BUY ? 1 : 1000;
        struct broker_terms w = terms_of(&p, all[i].side, all[i].type, 1, price);
        w.stop = (int64_t)(all[i].stop * E8);
        w.trail.share_e6 = all[i].bips * 100;
        const int64_t id = placed(&p, &w)->id;
        int n = 0;
        while (n < 8 && all[i].prices[n] > 0)
            n++;
        for (int k = 0; k < n; k++) {
            CHECK(find(&p, id)->waits);
            trade(&p, all[i].prices[k]);
        }
        CHECK(!find(&p, id)->waits && find(&p, id)->trail_ns > 0);
        place_close(&p);
    }
}

/* Against its definition on the whole walk, for shares and for amounts, from the first trade on or from a
 * price before it. */
static void test_trails(void)
{
    struct random random = random_seeded("replay/broker_lists", 7);
    for (int walk = 0; walk < 400; walk++) {
        const enum order_side side = random_next(&random) % 2 ? ORDER_BUY : ORDER_SELL;
        const bool by_share = random_next(&random) % 2;
        const int64_t begin = random_next(&random) % 2 ? 10000 : 0;
        struct broker_order o = {.terms = {.side = side, .type = ORDER_STOP}, .trail_best = begin};
        struct broker_trail *trail = &o.terms.trail;
        if (by_share)
            trail->share_e6 = 1 + (int32_t)(random_next(&random) % 200000);
        else
            trail->amount = 1 + (int64_t)(random_next(&random) % 3000);
        int64_t price = 10000, low = begin ? begin : INT64_MAX, high = begin;
        for (int i = 0; i < 50; i++) {
            price += (int64_t)(random_next(&random) % 601) - 300;
            low = price < low ? price : low;
            high = price > high ? price : high;
            const bool reached = replay_stop_reached(&o, price, 1);
            const int128_t away = side == ORDER_BUY ? price - low : high - price,
                           of = side == ORDER_BUY ? low : high;
            const bool expected = by_share ? away * 1000000 >= of * trail->share_e6 : away >= trail->amount;
            CHECK_INT(o.trail_best, side == ORDER_BUY ? low : high);
            CHECK_INT(reached, expected);
        }
    }
}

/* A part at a time, each at the end of what is there. */
static void test_iceberg(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms w = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 5, 99); /* behind 1 */
    w.iceberg = 2 * E8;
    const int64_t id = placed(&p, &w)->id;
    replay_broker_trade(p.broker, 0, 99 * E8, 10 * E8, true); /* the 1, and the part that shows */
    CHECK_INT(find(&p, id)->filled, 2 * E8);
    replay_broker_trade(p.broker, 0, 99 * E8, E8, true); /* the 1 that shows, once more before it */
    CHECK_INT(find(&p, id)->filled, 2 * E8);
    replay_broker_trade(p.broker, 0, 99 * E8, E8, true);
    CHECK_INT(find(&p, id)->filled, 3 * E8);
    CHECK(replay_broker_reduce(p.broker, p.account, id, 4 * E8, "less") != NULL);
    replay_broker_trade(p.broker, 0, 99 * E8, 10 * E8, true);
    CHECK_INT(find(&p, id)->state, BROKER_FILLED);
    check_sums(&p);
    place_close(&p);
}

static const struct broker_list *listed(struct place *p, enum broker_contingency kind,
                                        struct broker_terms *orders, int n)
{
    static int number;
    struct broker_list_terms terms = {.kind = kind, .orders = orders, .n = n};
    const struct broker_list *list = NULL;
    snprintf(terms.client_id, sizeof(terms.client_id), "list%d", ++number);
    CHECK_INT(replay_broker_place_list(p->broker, &terms, &list), BROKER_TAKEN);
    check_sums(p);
    return list;
}

static enum broker_state state_of(const struct place *p, const struct broker_list *list, int i)
{
    size_t n;
    (void)p;
    return replay_broker_orders(p->broker, &n)[list->orders[i]].state;
}

static struct broker_terms stop_of(const struct place *p, enum order_side side, double qty, double stop)
{
    struct broker_terms w = terms_of(p, side, ORDER_STOP, qty, 0);
    w.stop = (int64_t)(stop * E8);
    return w;
}

/* Half of it, and of the other one of its pair. */
static void halve(struct place *p, const struct broker_order *order)
{
    const struct broker_order *less =
        replay_broker_reduce(p->broker, p->account, order->id, order->terms.qty / 2, order->terms.client_id);
    if (less)
        replay_broker_list_reduced(p->broker, less);
    check_sums(p);
}

/* What is lowered locks what it costs then, whatever it is and whichever of its pair. */
static void test_reduced(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms trails = terms_of(&p, ORDER_BUY, ORDER_STOP, 4, 0); /* as if at the market now */
    trails.trail.share_e6 = 10000;
    const int64_t id = placed(&p, &trails)->id;
    CHECK_INT(locked(&p, "USDT"), (100 + 2 * 101 + 102) * E8);
    halve(&p, find(&p, id));
    CHECK_INT(locked(&p, "USDT"), (100 + 101) * E8);
    replay_broker_cancel(p.broker, p.account, id, "gone");

    struct broker_terms follows = terms_of(&p, ORDER_BUY, ORDER_STOP, 4, 0); /* as if at its stop */
    follows.trail = (struct broker_trail){.amount = 5 * E8, .best = 101 * E8};
    const int64_t started = placed(&p, &follows)->id;
    CHECK_INT(locked(&p, "USDT"), 4 * 106 * E8);
    trade(&p, 99);
    trade(&p, 103);
    CHECK(find(&p, started)->waits && find(&p, started)->trail_best == 99 * E8);
    trade(&p, 104);
    CHECK_INT(find(&p, started)->state, BROKER_FILLED);

    for (int which = 0; which < 2; which++) {
        struct broker_terms pair[2] = {stop_of(&p, ORDER_BUY, 4, 90), stop_of(&p, ORDER_BUY, 4, 105)};
        pair[0].type = ORDER_TAKE_PROFIT; /* the second one is the dearer */
        const struct broker_list *list = listed(&p, BROKER_OCO, pair, 2);
        CHECK_INT(locked(&p, "USDT"), 420 * E8);
        size_t n;
        halve(&p, &replay_broker_orders(p.broker, &n)[list->orders[which]]);
        CHECK_INT(locked(&p, "USDT"), 210 * E8);
        replay_broker_list_cancel(p.broker, p.account, list->id, "gone");
        CHECK_INT(locked(&p, "USDT"), 0);
    }

    struct broker_terms iceberg = terms_of(&p, ORDER_BUY, ORDER_LIMIT, 4, 90);
    iceberg.iceberg = 3 * E8;
    const int64_t shows = placed(&p, &iceberg)->id;
    halve(&p, find(&p, shows));
    CHECK_INT(find(&p, shows)->terms.iceberg, 2 * E8); /* not more than there is of it */
    place_close(&p);
}

/* The pair locks once, and the first that is triggered or filled in part ends the other. */
static void test_pair(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms sale[2] = {stop_of(&p, ORDER_SELL, 30, 95),
                                   terms_of(&p, ORDER_SELL, ORDER_LIMIT, 30, 110)};
    sale[1].post_only = true;
    const struct broker_list *list = listed(&p, BROKER_OCO, sale, 2);
    CHECK_INT(locked(&p, "BTC"), 30 * E8); /* of the 50 that there are */
    const int64_t limit = replay_broker_find(p.broker, p.account, 0, 0, sale[1].client_id)->id;
    replay_broker_trade(p.broker, 0, 110 * E8, E8, false);
    CHECK(state_of(&p, list, 0) == BROKER_EXPIRED && state_of(&p, list, 1) == BROKER_PARTIAL && !list->done);
    CHECK_INT(locked(&p, "BTC"), 29 * E8);
    trade(&p, 111);
    CHECK(find(&p, limit)->state == BROKER_FILLED && list->done);
    CHECK_INT(locked(&p, "BTC"), 0);

    /* The second leg, a limit maker, is filled in part while the book meets it: what is left stays locked. */
    struct broker_terms met[2] = {stop_of(&p, ORDER_SELL, 10, 95),
                                  terms_of(&p, ORDER_SELL, ORDER_LIMIT, 10, 110)};
    met[1].post_only = true;
    list = listed(&p, BROKER_OCO, met, 2);
    CHECK_INT(replay_ladder_set(&p.market.bids, 110 * E8, E8), 0);
    replay_broker_trade(p.broker, 0, 110 * E8, 4 * E8, false);
    check_sums(&p);
    CHECK(state_of(&p, list, 0) == BROKER_EXPIRED && state_of(&p, list, 1) == BROKER_PARTIAL);
    CHECK_INT(locked(&p, "BTC"), 6 * E8);
    CHECK_INT(replay_ladder_set(&p.market.bids, 110 * E8, 0), 0);
    replay_broker_list_cancel(p.broker, p.account, list->id, "gone");

    struct broker_terms buy[2] = {stop_of(&p, ORDER_BUY, 3, 105),
                                  terms_of(&p, ORDER_BUY, ORDER_LIMIT, 3, 90)};
    list = listed(&p, BROKER_OCO, buy, 2);
    CHECK_INT(locked(&p, "USDT"), 315 * E8); /* what the dearer one costs */
    trade(&p, 105);
    CHECK(state_of(&p, list, 0) == BROKER_FILLED && state_of(&p, list, 1) == BROKER_EXPIRED && list->done);
    CHECK_INT(locked(&p, "USDT"), 0);

    struct broker_terms more[2] = {stop_of(&p, ORDER_BUY, 3, 105),
                                   terms_of(&p, ORDER_BUY, ORDER_LIMIT, 3, 90)};
    list = listed(&p, BROKER_OCO, more, 2);
    const struct broker_order *o = replay_broker_find(p.broker, p.account, 0, 0, more[1].client_id);
    CHECK(replay_broker_reduce(p.broker, p.account, o->id, E8, "less") != NULL);
    replay_broker_list_reduced(p.broker, o);
    CHECK_INT(replay_broker_find(p.broker, p.account, 0, 0, more[0].client_id)->terms.qty, E8);
    CHECK_INT(locked(&p, "USDT"), 105 * E8);
    check_sums(&p);
    replay_broker_cancel(p.broker, p.account, o->id, "gone");
    CHECK(state_of(&p, list, 0) == BROKER_CANCELED && state_of(&p, list, 1) == BROKER_CANCELED && list->done);
    CHECK(replay_broker_list_cancel(p.broker, p.account, list->id, "gone") == NULL);
    CHECK_INT(locked(&p, "USDT"), 0);
    place_close(&p);
}

/* What follows is held and locks nothing until the working order is filled wholly. */
static void test_held(void)
{
    struct place p = place_open();
    place_start(&p);
    struct broker_terms all[3] = {terms_of(&p, ORDER_BUY, ORDER_LIMIT, 2, 98.5),
                                  stop_of(&p, ORDER_SELL, 60, 95),
                                  terms_of(&p, ORDER_SELL, ORDER_LIMIT, 60, 110)};
    const struct broker_list *list = listed(&p, BROKER_OTO, all, 3);
    CHECK_INT(locked(&p, "BTC"), 0);
    trade(&p, 111); /* both are held */
    replay_broker_trade(p.broker, 0, 98 * E8, E8, true);
    CHECK(state_of(&p, list, 0) == BROKER_FILLED); /* and what follows asks for 60 of 51.998 */
    CHECK(state_of(&p, list, 1) == BROKER_EXPIRED && state_of(&p, list, 2) == BROKER_EXPIRED && list->done);

    struct broker_terms good[3] = {terms_of(&p, ORDER_BUY, ORDER_LIMIT, 2, 100.5),
                                   stop_of(&p, ORDER_SELL, 51, 95),
                                   terms_of(&p, ORDER_SELL, ORDER_LIMIT, 51, 110)};
    list = listed(&p, BROKER_OTO, good, 3); /* 1 of 2 at once */
    CHECK(state_of(&p, list, 0) == BROKER_PARTIAL && !list->released);
    replay_broker_settle(p.broker);
    trade(&p, 100);
    CHECK(list->released && !list->done);
    CHECK_INT(locked(&p, "BTC"), 51 * E8);
    trade(&p, 111);
    CHECK(state_of(&p, list, 1) == BROKER_EXPIRED && state_of(&p, list, 2) == BROKER_FILLED && list->done);

    struct broker_terms market[2] = {terms_of(&p, ORDER_BUY, ORDER_LIMIT, 1, 101),
                                     terms_of(&p, ORDER_SELL, ORDER_MARKET, 1, 0)};
    list = listed(&p, BROKER_OTO, market, 2);
    size_t n;
    CHECK(state_of(&p, list, 0) == BROKER_FILLED &&
          replay_broker_orders(p.broker, &n)[list->orders[1]].terms.held);
    replay_broker_settle(p.broker);
    CHECK(state_of(&p, list, 1) == BROKER_FILLED && list->done);

    struct broker_terms gone[2] = {terms_of(&p, ORDER_BUY, ORDER_LIMIT, 1, 90),
                                   terms_of(&p, ORDER_SELL, ORDER_MARKET, 1, 0)};
    list = listed(&p, BROKER_OTO, gone, 2);
    replay_broker_cancel(p.broker, p.account, replay_broker_orders(p.broker, &n)[list->orders[1]].id, "gone");
    CHECK(state_of(&p, list, 0) == BROKER_CANCELED && list->done);
    place_close(&p);
}

/* What a purchase costs at most in quote, or a sale in base: by its limit, or its stop until that is reached.
 */
static int128_t cost_of(const struct broker_order *o)
{
    const int64_t left = o->terms.qty - o->filled;
    return o->terms.side == ORDER_SELL ? (int128_t)left * E8
                                       : (int128_t)(o->terms.price ? o->terms.price : o->terms.stop) * left;
}

/* A pair locks what its dearer order costs, what is held nothing. */
static void check_locked(const struct place *p)
{
    int128_t expected[2] = {0};
    size_t n, n_orders;
    const struct broker_list *all = replay_broker_lists(p->broker, &n);
    const struct broker_order *orders = replay_broker_orders(p->broker, &n_orders);
    for (size_t i = 0; i < n; i++) {
        int128_t most = 0;
        for (int k = 0; k < all[i].n; k++) {
            const struct broker_order *o = &orders[all[i].orders[k]];
            const int128_t cost = broker_is_open(o) && !o->terms.held ? cost_of(o) : 0;
            most = cost > most ? cost : most;
        }
        expected[orders[all[i].orders[0]].terms.side == ORDER_SELL] += most;
    }
    CHECK(locked(p, "USDT") == expected[0] / E8 && locked(p, "BTC") == expected[1] / E8);
}

/* Any lists on any walk: of a pair one order at most is filled, a list that is done has no open order, and no
 * more and no less is locked than open orders cost, also of limit makers that the book meets by now and of
 * what is lowered. */
static void test_seeded(void)
{
    struct random random = random_seeded("replay/broker_lists", 11);
    for (int run = 0; run < 60; run++) {
        struct place p = place_open();
        place_start(&p);
        p.market.planted.latency_ns = run % 3 == 2 ? 5 : 0;
        for (int i = 0; i < 60; i++) {
            const enum order_side side = random_next(&random) % 2 ? ORDER_BUY : ORDER_SELL;
            const double off = 2 + (double)(random_next(&random) % 5),
                         qty = 1 + (double)(random_next(&random) % 4);
            const double above = 101 + off, below = 98 - off;
            struct broker_terms w[3] = {
                terms_of(&p, side, ORDER_LIMIT, qty, 97 + (double)(random_next(&random) % 6)),
                stop_of(&p, side, qty, side == ORDER_BUY ? above : below),
                terms_of(&p, side, ORDER_LIMIT, qty, side == ORDER_BUY ? below : above)};
            w[2].post_only = true; /* as the venue has it in a pair */
            const bool pair = random_next(&random) % 2;
            struct broker_list_terms terms = {
                .kind = pair ? BROKER_OCO : BROKER_OTO, .orders = w + pair, .n = 3 - pair};
            const struct broker_list *list;
            snprintf(terms.client_id, sizeof(terms.client_id), "%d", i);
            if (i % 3 == 0 && replay_broker_place_list(p.broker, &terms, &list) == BROKER_TAKEN)
                replay_broker_settle(p.broker);
            if (i % 7 == 0)
                replay_broker_list_cancel(p.broker, p.account, 1 + (int64_t)(random_next(&random) % 20),
                                          "gone");
            size_t n_placed;
            const struct broker_order *placed = replay_broker_orders(p.broker, &n_placed);
            if (i % 5 == 0 && n_placed > 0)
                halve(&p, &placed[random_next(&random) % n_placed]);
            CHECK_INT(replay_ladder_set(&p.market.bids, 107 * E8, i % 4 == 0 ? E8 : 0), 0);
            CHECK_INT(replay_ladder_set(&p.market.asks, 93 * E8, i % 4 == 2 ? E8 : 0), 0);
            replay_broker_arrive(p.broker, INT64_MAX - 1);
            check_locked(&p);
            trade(&p, 92 + (double)(random_next(&random) % 17));
        }
        size_t n, n_orders;
        const struct broker_list *all = replay_broker_lists(p.broker, &n);
        const struct broker_order *orders = replay_broker_orders(p.broker, &n_orders);
        CHECK(n > 3);
        for (size_t i = 0; i < n; i++) {
            int filled = 0, open = 0;
            for (int k = 0; k < all[i].n; k++) {
                filled += orders[all[i].orders[k]].filled > 0 && k >= all[i].n - 2;
                open += broker_is_open(&orders[all[i].orders[k]]);
            }
            CHECK(filled <= 1 && all[i].done == (open == 0));
        }
        place_close(&p);
    }
}

int main(void)
{
    test_examples();
    test_trails();
    test_iceberg();
    test_reduced();
    test_pair();
    test_held();
    test_seeded();
    return check_done("replay/broker_lists");
}

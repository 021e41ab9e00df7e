/* The risk gate, rule by rule, at the boundary of each. */
#include "strategy/risk.h"

#include <math.h>
#include <string.h>

#include "exchange/order_reason.h"
#include "strategy/risk_words.h"
#include "tests/check.h"
#include "tests/random.h"

#define SECOND_NS 1000000000LL
#define E8        100000000LL

static const struct risk_limits off;

static struct risk_facts entry(void)
{
    return (struct risk_facts){
        .now_ns = 1000 * SECOND_NS, .order_notional = 100, .equity = 1000, .day_equity = 1000};
}

static enum order_reason verdict(const struct risk_limits *limits, const struct risk_facts *facts)
{
    struct risk_rate rate = {0};
    return risk_check(limits, &rate, facts);
}

static void test_flags(void)
{
    struct risk_facts facts = entry();
    CHECK_INT(verdict(&off, &facts), ORDER_OK);
    facts.paused = true;
    CHECK_INT(verdict(&off, &facts), ORDER_RISK_PAUSED);
    facts.reduces = true;
    CHECK_INT(verdict(&off, &facts), ORDER_OK);
    facts = entry();
    facts.storage_failing = true;
    CHECK_INT(verdict(&off, &facts), ORDER_RISK_STORAGE);
    facts.reduces = true;
    CHECK_INT(verdict(&off, &facts), ORDER_OK);
    facts = entry();
    facts.stale = true;
    CHECK_INT(verdict(&off, &facts), ORDER_RISK_STALE_DATA);
    facts.reduces = true;
    CHECK_INT(verdict(&off, &facts), ORDER_RISK_STALE_DATA);
}

static void test_exposure(void)
{
    struct risk_limits limits = {.exposure_symbol = 0.5};
    struct risk_facts facts = entry();
    facts.symbol_notional = 400;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK); /* exactly half */
    facts.symbol_notional = 401;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_EXPOSURE);
    facts.reduces = true;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts = entry();
    facts.account_notional = 900;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK); /* of other symbols */
    limits = (struct risk_limits){.exposure_account = 0.75};
    facts.account_notional = 650;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts.account_notional = 651;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_EXPOSURE);
    facts = entry();
    facts.equity = 0;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_EXPOSURE);
    facts.equity = -1;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_EXPOSURE);
    facts = entry();
    facts.account_notional = facts.symbol_notional = facts.order_notional = INT64_MAX;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_EXPOSURE); /* and no overflow */
}

static void test_daily_loss(void)
{
    struct risk_limits limits = {.daily_loss = 0.03};
    struct risk_facts facts = entry();
    facts.equity = 971;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts.equity = 970;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_DAILY_LOSS);
    facts.reduces = true;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts = entry();
    facts.equity = 1;
    facts.day_equity = 0; /* unknown: no decision */
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
}

static void test_order_rate(void)
{
    struct risk_limits limits = {.orders_per_second = 3};
    struct risk_rate rate = {0};
    struct risk_facts facts = entry();
    int64_t start = facts.now_ns;
    static const struct {
        int64_t at_ns;
        enum order_reason expected;
    } steps[] = {
        {0, ORDER_OK},
        {0, ORDER_OK},
        {500000000, ORDER_OK},
        {999999999, ORDER_RISK_ORDER_RATE},
        {SECOND_NS, ORDER_OK}, /* the first is a second old; those refused did not count */
        {SECOND_NS, ORDER_OK},
        {SECOND_NS, ORDER_RISK_ORDER_RATE},
        {SECOND_NS + 499999999, ORDER_RISK_ORDER_RATE},
        {SECOND_NS + 500000000, ORDER_OK},
        {SECOND_NS + 500000000, ORDER_RISK_ORDER_RATE},
        {10 * SECOND_NS, ORDER_OK},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        facts.now_ns = start + steps[i].at_ns;
        CHECK_INT(risk_check(&limits, &rate, &facts), steps[i].expected);
    }
    /* Exits pass, and count. */
    rate = (struct risk_rate){0};
    facts.reduces = true;
    for (int i = 0; i < 10; i++)
        CHECK_INT(risk_check(&limits, &rate, &facts), ORDER_OK);
    facts.reduces = false;
    CHECK_INT(risk_check(&limits, &rate, &facts), ORDER_RISK_ORDER_RATE);
}

/* Any limit against counting by hand, the largest and a larger one included. */
static void test_rate_is_a_sliding_second(void)
{
    enum { ORDERS = 3000 };
    static int64_t passed[ORDERS];
    for (int32_t limit = 1; limit <= RISK_RATE_MAX + 1; limit += 8) {
        struct risk_limits limits = {.orders_per_second = limit};
        struct risk_rate rate = {0};
        struct risk_facts facts = entry();
        size_t n = 0;
        int32_t most = limit > RISK_RATE_MAX ? RISK_RATE_MAX : limit;
        for (int i = 0; i < ORDERS; i++) {
            facts.now_ns += (i * 7919 % 97) * (SECOND_NS / 97 / most);
            int32_t within = 0;
            for (size_t k = n; k > 0 && facts.now_ns - passed[k - 1] < SECOND_NS; k--)
                within++;
            enum order_reason expected = within < most ? ORDER_OK : ORDER_RISK_ORDER_RATE;
            CHECK_INT(risk_check(&limits, &rate, &facts), expected);
            if (expected == ORDER_OK)
                passed[n++] = facts.now_ns;
        }
        CHECK(n > 0 && n < ORDERS);
    }
}

static void test_drawdown(void)
{
    struct risk_limits limits = {.drawdown = 0.29};
    CHECK(!risk_drawdown(&limits, 72, 100));
    CHECK(risk_drawdown(&limits, 71, 100)); /* exactly: 0.29 of 100 is 29 */
    CHECK(risk_drawdown(&limits, 70, 100));
    CHECK(risk_drawdown(&limits, -5, 100));
    CHECK(!risk_drawdown(&limits, 100, 100) && !risk_drawdown(&limits, 101, 100));
    CHECK(!risk_drawdown(&limits, 0, 0) && !risk_drawdown(&limits, -1, 0)); /* no peak: no decision */
    CHECK(!risk_drawdown(&off, -1, 100));
    CHECK(risk_drawdown(&limits, INT64_MIN, INT64_MAX)); /* and no overflow */
    limits.drawdown = 1;
    CHECK(!risk_drawdown(&limits, 1, 100) && risk_drawdown(&limits, 0, 100));
    struct risk_facts facts = entry();
    facts.killed = true;
    CHECK_INT(verdict(&off, &facts), ORDER_RISK_DRAWDOWN); /* whatever the limit is now */
    facts.reduces = true;
    CHECK_INT(verdict(&off, &facts), ORDER_OK);
    facts = entry();
    facts.equity = 1;
    facts.peak = 1000000;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK); /* the account is not killed yet */
}

static void test_price_band(void)
{
    struct risk_limits limits = {.price_band = 0.29};
    static const struct {
        int64_t last, limit, stop;
        enum order_reason expected;
    } cases[] = {
        {100, 129, 0, ORDER_OK},
        {100, 130, 0, ORDER_RISK_PRICE_BAND},
        {100, 71, 0, ORDER_OK},
        {100, 70, 0, ORDER_RISK_PRICE_BAND},
        {100, 0, 129, ORDER_OK},
        {100, 0, 130, ORDER_RISK_PRICE_BAND},
        {100, 0, 70, ORDER_RISK_PRICE_BAND},
        {100, 100, 130, ORDER_RISK_PRICE_BAND},
        {100, 130, 100, ORDER_RISK_PRICE_BAND},
        {100, 129, 71, ORDER_OK},
        {100, 0, 0, ORDER_OK}, /* at market */
        {0, 500, 0, ORDER_OK}, /* no price yet */
        {INT64_MAX, 1, 0, ORDER_RISK_PRICE_BAND},
        {1, INT64_MAX, 0, ORDER_RISK_PRICE_BAND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct risk_facts facts = entry();
        facts.last = cases[i].last;
        facts.limit_price = cases[i].limit;
        facts.stop_price = cases[i].stop;
        CHECK_INT(verdict(&limits, &facts), cases[i].expected);
        CHECK_INT(verdict(&off, &facts), ORDER_OK);
        facts.reduces = true;
        CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    }
}

static void test_cooldown(void)
{
    struct risk_limits limits = {.cooldown_ns = 60 * SECOND_NS};
    struct risk_facts facts = entry();
    facts.begins = true;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK); /* never held before */
    facts.closed_ns = facts.now_ns;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_COOLDOWN);
    CHECK_INT(verdict(&off, &facts), ORDER_OK);
    facts.closed_ns = facts.now_ns - 60 * SECOND_NS + 1;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_COOLDOWN);
    facts.begins = false; /* adds to what is held */
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts.begins = true;
    facts.closed_ns--;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts.closed_ns = facts.now_ns;
    facts.reduces = true;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
}

static void test_positions(void)
{
    struct risk_limits limits = {.positions = 2};
    struct risk_facts facts = entry();
    facts.positions = 1;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts.positions = 2;
    CHECK_INT(verdict(&limits, &facts), ORDER_RISK_POSITIONS);
    CHECK_INT(verdict(&off, &facts), ORDER_OK);
    facts.entered = true;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts.positions = 5; /* the limit was set below what is held */
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
    facts.entered = false;
    facts.reduces = true;
    CHECK_INT(verdict(&limits, &facts), ORDER_OK);
}

static const struct risk_limits tight = {.exposure_symbol = 0.5,
                                         .exposure_account = 0.5,
                                         .daily_loss = 0.1,
                                         .orders_per_second = 1,
                                         .drawdown = 0.2,
                                         .price_band = 0.1,
                                         .cooldown_ns = SECOND_NS,
                                         .positions = 1};

/* Everything is wrong; one wrong after the other is put right, in the order of checks. */
static void test_order_of_checks(void)
{
    struct risk_rate rate = {0};
    struct risk_facts facts = entry();
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_OK);
    facts.stale = facts.paused = facts.storage_failing = facts.killed = facts.begins = true;
    facts.equity = 800;
    facts.last = 100;
    facts.limit_price = 200;
    facts.closed_ns = facts.now_ns;
    facts.positions = 1;
    facts.order_notional = 500;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_STALE_DATA);
    facts.stale = false;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_PAUSED);
    facts.paused = false;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_STORAGE);
    facts.storage_failing = false;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_DRAWDOWN);
    facts.killed = false;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_DAILY_LOSS);
    facts.day_equity = 800;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_PRICE_BAND);
    facts.limit_price = 110;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_COOLDOWN);
    facts.begins = false;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_POSITIONS);
    facts.entered = true;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_EXPOSURE);
    facts.order_notional = 400;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_RISK_ORDER_RATE);
    facts.now_ns += SECOND_NS;
    CHECK_INT(risk_check(&tight, &rate, &facts), ORDER_OK);
}

/* A second gate, slow and in long double, over random facts near every boundary. */
static enum order_reason slow_verdict(const struct risk_limits *l, const struct risk_facts *f,
                                      int64_t before_ns)
{
    long double far = 0, prices[2] = {(long double)f->limit_price, (long double)f->stop_price};
    for (int i = 0; i < 2; i++)
        if (prices[i] > 0 && f->last > 0 && fabsl(prices[i] - f->last) > far)
            far = fabsl(prices[i] - f->last);
    const long double slack = 1e-9L; /* shares of thousandths are exact except for their binary form */
    const struct {
        bool wrong;
        enum order_reason reason;
    } rules[] = {
        {f->paused, ORDER_RISK_PAUSED},
        {f->storage_failing, ORDER_RISK_STORAGE},
        {f->killed, ORDER_RISK_DRAWDOWN},
        {f->out, ORDER_RISK_UNIVERSE},
        {l->daily_loss > 0 && f->day_equity > 0 &&
             f->equity <= f->day_equity * (1 - (long double)l->daily_loss) + slack,
         ORDER_RISK_DAILY_LOSS},
        {l->price_band > 0 && far > f->last * (long double)l->price_band + slack, ORDER_RISK_PRICE_BAND},
        {l->cooldown_ns > 0 && f->begins && f->closed_ns > 0 && f->closed_ns + l->cooldown_ns > f->now_ns,
         ORDER_RISK_COOLDOWN},
        {l->positions > 0 && !f->entered && f->positions + 1 > l->positions, ORDER_RISK_POSITIONS},
        {l->exposure_symbol > 0 && (long double)f->symbol_notional + f->order_notional >
                                       f->equity * (long double)l->exposure_symbol + slack,
         ORDER_RISK_EXPOSURE},
        {l->exposure_account > 0 && (long double)f->account_notional + f->order_notional >
                                        f->equity * (long double)l->exposure_account + slack,
         ORDER_RISK_EXPOSURE},
        {l->orders_per_second == 1 && before_ns > 0 && f->now_ns < before_ns + SECOND_NS,
         ORDER_RISK_ORDER_RATE},
    };
    if (f->stale)
        return ORDER_RISK_STALE_DATA;
    for (size_t i = 0; i < sizeof rules / sizeof *rules && !f->reduces; i++)
        if (rules[i].wrong)
            return rules[i].reason;
    return ORDER_OK;
}

static void test_against_a_second_gate(struct random *random)
{
    enum { ROUNDS = 200000 };
    unsigned long seen[ORDER_REASONS] = {0};
    struct risk_rate rate = {0};
    int64_t before_ns = 0, now_ns = 1000 * SECOND_NS;
    for (int i = 0; i < ROUNDS; i++) {
#define SHARE(most) (random_chance(random, 40) ? 0 : (double)random_between(random, 1, most) / 1000)
        struct risk_limits limits = {.exposure_symbol = SHARE(2000),
                                     .exposure_account = SHARE(3000),
                                     .daily_loss = SHARE(100),
                                     .orders_per_second = (int32_t)random_between(random, 0, 1),
                                     .price_band = SHARE(200),
                                     .cooldown_ns = random_between(random, 0, 3),
                                     .positions = (int32_t)random_between(random, 0, 3)};
#undef SHARE
        now_ns += random_between(random, 0, 2) * SECOND_NS / 2;
        struct risk_facts facts = {
            .now_ns = now_ns,
            .reduces = random_chance(random, 10),
            .paused = random_chance(random, 3),
            .stale = random_chance(random, 3),
            .storage_failing = random_chance(random, 3),
            .killed = random_chance(random, 3),
            .begins = random_chance(random, 50),
            .entered = random_chance(random, 50),
            .positions = (int32_t)random_between(random, 0, 3),
            .closed_ns = random_chance(random, 30) ? 0 : now_ns - random_between(random, 0, 4),
            .last = random_chance(random, 5) ? 0 : 1000,
            .limit_price = random_chance(random, 50) ? random_between(random, 800, 1200) : 0,
            .stop_price = random_chance(random, 30) ? random_between(random, 800, 1200) : 0,
            .order_notional = random_between(random, 0, 1000),
            .symbol_notional = random_between(random, -200, 800),
            .account_notional = random_between(random, -200, 1500),
            .equity = random_between(random, 900, 1000),
            .day_equity = random_chance(random, 5) ? 0 : 1000,
            .out = random_chance(random, 5)};
        enum order_reason expected = slow_verdict(&limits, &facts, before_ns);
        enum order_reason given = risk_check(&limits, &rate, &facts);
        CHECK_STR(order_reason_name(given), order_reason_name(expected));
        seen[given]++;
        if (given == ORDER_OK)
            before_ns = now_ns;
    }
    for (int reason = ORDER_RISK_PAUSED; reason <= ORDER_RISK_POSITIONS; reason++)
        CHECK(seen[reason] > 100);
    CHECK(seen[ORDER_RISK_UNIVERSE] > 100);
    CHECK(seen[ORDER_OK] > 1000);
}

/* Every code of the gate's: a limit's refusal has its key and its figures, a state's own words are all. */
static void test_words(void)
{
    static const struct symbol symbol = {.name = "BTCUSDT", .price_scale = 2};
    static const struct risk_units units = {&symbol, "USDT", 2};
    static const char *const ends[ORDER_REASONS] = {
        [ORDER_RISK_EXPOSURE] =
            "4000 USDT ordered, with 2000 of BTCUSDT held and on order, are above 5000, 0.5 of "
            "equity 10000 (exposure_symbol)",
        [ORDER_RISK_PRICE_BAND] =
            "59000 is not within 59400 to 60600, 0.01 of the last price 60000 (price_band)",
        [ORDER_RISK_DAILY_LOSS] =
            "equity is 10000 USDT and was 12000 at the day's start; 0.1 below it is 10800 (daily_loss)",
        [ORDER_RISK_DRAWDOWN] =
            "equity is 10000 USDT and was 20000 at its highest; 0.25 below it is 15000 (drawdown)",
        [ORDER_RISK_COOLDOWN] = "5 s ago, less than 60 s (cooldown_s)",
        [ORDER_RISK_POSITIONS] = "3 others, and at most 3 in all (positions)",
        [ORDER_RISK_ORDER_RATE] = "at most 2 (orders_per_second)",
    };
    const struct risk_limits limits = {.exposure_symbol = 0.5,
                                       .exposure_account = 0.75,
                                       .daily_loss = 0.1,
                                       .drawdown = 0.25,
                                       .price_band = 0.01,
                                       .cooldown_ns = 60 * SECOND_NS,
                                       .positions = 3,
                                       .orders_per_second = 2};
    struct risk_facts facts = {.now_ns = 1000 * SECOND_NS,
                               .closed_ns = 995 * SECOND_NS,
                               .positions = 3,
                               .last = 6000000,
                               .limit_price = 5900000,
                               .order_notional = 400000,
                               .symbol_notional = 200000,
                               .account_notional = 500000,
                               .equity = 1000000,
                               .day_equity = 1200000,
                               .peak = 2000000};
    char words[ORDER_WORDS_MAX];
    for (int reason = 0; reason < ORDER_REASONS; reason++) {
        const char *said = risk_words((enum order_reason)reason, &limits, &facts, &units, words),
                   *meaning = order_reason_words((enum order_reason)reason);
        CHECK_INT(said != NULL, ends[reason] != NULL);
        if (!said || !ends[reason])
            continue;
        CHECK_INT(strncmp(said, meaning, strlen(meaning)), 0);
        CHECK_STR(said + strlen(meaning) + 2, ends[reason]);
    }
    facts.symbol_notional = 0; /* then the account's limit alone is passed */
    CHECK(strstr(risk_words(ORDER_RISK_EXPOSURE, &limits, &facts, &units, words),
                 "with 5000 of all symbols held and on order, are above 7500, 0.75 of equity 10000 "
                 "(exposure_account)"));
    facts.killed = true; /* and its equity rose again: it is not at the limit, and not resumed */
    facts.peak = facts.equity + 1;
    CHECK(!risk_words(ORDER_RISK_DRAWDOWN, &limits, &facts, &units, words));
}

/* Shares that no double has: the bounds are whole, and what is on one of them is not blamed. */
static void test_words_on_a_bound(void)
{
    static const struct symbol symbol = {.name = "BTCUSDT", .price_scale = 8};
    static const struct risk_units units = {&symbol, "USDT", 8};
    struct risk_limits limits = {.exposure_symbol = 0.3, .exposure_account = 100, .price_band = 0.29};
    struct risk_facts facts = {.last = 100 * E8,
                               .limit_price = 71 * E8,
                               .stop_price = 71 * E8 - 1,
                               .order_notional = 3000 * E8 + 1,
                               .account_notional = 1000000000 * E8,
                               .equity = 10000 * E8};
    struct risk_rate rate = {0};
    char words[ORDER_WORDS_MAX];
    CHECK_STR(order_reason_name(risk_check(&limits, &rate, &facts)), "RISK_PRICE_BAND");
    CHECK(strstr(risk_words(ORDER_RISK_PRICE_BAND, &limits, &facts, &units, words),
                 ": 70.99999999 is not within 71 to 129, 0.29 of the last price 100 "));
    facts.stop_price = 0;
    CHECK_STR(order_reason_name(risk_check(&limits, &rate, &facts)), "RISK_EXPOSURE");
    CHECK(strstr(risk_words(ORDER_RISK_EXPOSURE, &limits, &facts, &units, words),
                 "are above 3000, 0.3 of equity 10000 (exposure_symbol)"));
    facts.order_notional--;
    CHECK(strstr(risk_words(ORDER_RISK_EXPOSURE, &limits, &facts, &units, words), "(exposure_account)"));
    limits.exposure_symbol = 100; /* of such an equity that is more than an int64_t has */
    limits.exposure_account = 0.5;
    facts.equity = facts.account_notional;
    CHECK_STR(order_reason_name(risk_check(&limits, &rate, &facts)), "RISK_EXPOSURE");
    CHECK(strstr(risk_words(ORDER_RISK_EXPOSURE, &limits, &facts, &units, words),
                 "are above 500000000, 0.5 of equity 1000000000 (exposure_account)"));
}

int main(void)
{
    struct random random = random_seeded("strategy/risk", 7);
    test_flags();
    test_exposure();
    test_daily_loss();
    test_order_rate();
    test_rate_is_a_sliding_second();
    test_drawdown();
    test_price_band();
    test_cooldown();
    test_positions();
    test_order_of_checks();
    test_against_a_second_gate(&random);
    test_words();
    test_words_on_a_bound();
    return check_done("strategy/risk");
}

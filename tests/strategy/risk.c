/* The risk gate, rule by rule, at the boundary of each. */
#include "strategy/risk.h"

#include "tests/check.h"

#define SECOND_NS 1000000000LL

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
    facts.day_equity = 0; /* not known: no verdict */
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

int main(void)
{
    test_flags();
    test_exposure();
    test_daily_loss();
    test_order_rate();
    test_rate_is_a_sliding_second();
    return check_done("strategy/risk");
}

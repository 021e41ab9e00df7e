/* When a stream is stale by itself, when REST is asked for it, and when a connection goes. */
#include "daemon/feed/silence.h"

#include "tests/check.h"

enum { S = 1000, MINUTE = 60 * S };

static const struct silence_limits limits = {
    .stale_ms = 30 * S, .stale_trade_ms = 300 * S, .silence_ms = 60 * S, .interval_ms = MINUTE};

/* What docs/venues.md states of the limits as they are shipped. */
static void test_rules(void)
{
    static const struct {
        enum market_kind kind;
        bool sparse;
        int64_t limit_s, least_s;
        bool rare;
    } rows[] = {
        {MARKET_QUOTE, false, 30, 0, false},   {MARKET_QUOTE, true, 30, 0, false},
        {MARKET_TRADE, false, 300, 30, true},  {MARKET_AGG_TRADE, false, 300, 30, true},
        {MARKET_TRADE, true, 300, 30, true},   {MARKET_DEPTH, false, 300, 30, true},
        {MARKET_KLINE, false, 90, 0, false},   {MARKET_KLINE, true, 360, 0, true},
        {MARKET_TICKER, false, 300, 30, true}, {MARKET_TICKER, true, 360, 0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct silence_rule rule = silence_rule(rows[i].kind, rows[i].sparse, &limits);
        CHECK_INT(rule.limit_ms, rows[i].limit_s * S);
        CHECK_INT(rule.least_ms, rows[i].least_s * S);
        CHECK_INT(rule.rare, rows[i].rare);
        CHECK(rule.grace_ms > 0 && rule.grace_ms < rule.limit_ms);
    }
    struct silence_limits turned = limits; /* trades held to less than prices */
    turned.stale_trade_ms = 10 * S;
    CHECK_INT(silence_rule(MARKET_TRADE, false, &turned).least_ms, 10 * S);
}

static void test_rate(void)
{
    struct silence_rule rule = silence_rule(MARKET_TRADE, false, &limits);
    struct silence busy = {0}, slow = {0}, middle = {0};
    silence_begin(&busy, 0);
    CHECK_INT(silence_limit(&rule, &busy), 300 * S); /* nothing is known of it yet */
    for (int64_t now = 0; now <= 100 * S; now += 100)
        silence_heard(&busy, now);
    CHECK_INT(silence_limit(&rule, &busy), 30 * S);
    for (int64_t now = 0; now <= 1000 * S; now += 20 * S)
        silence_heard(&slow, now);
    CHECK_INT(silence_limit(&rule, &slow), 300 * S);
    for (int64_t now = 0; now <= 1000 * S; now += 2 * S)
        silence_heard(&middle, now);
    CHECK_INT(silence_limit(&rule, &middle), 2 * S * SILENCE_BUSY_GAPS);
    silence_begin(&middle, 2000 * S); /* another connection: the rate is the symbol's */
    CHECK_INT(silence_limit(&rule, &middle), 2 * S * SILENCE_BUSY_GAPS);
    silence_heard(&middle, 2500 * S); /* the time away was no gap of its */
    CHECK_INT(silence_limit(&rule, &middle), 2 * S * SILENCE_BUSY_GAPS);
}

/* The stream is broken: the venue has newer data. */
static void test_broken(void)
{
    struct silence_rule rule = silence_rule(MARKET_QUOTE, false, &limits);
    struct silence silence = {0};
    silence_begin(&silence, 0);
    silence_heard(&silence, 0);
    CHECK(!silence_ask_due(&rule, &silence, 20 * S - 1) && silence_ask_due(&rule, &silence, 20 * S));
    silence_asked(&silence, 20 * S);
    CHECK(!silence_ask_due(&rule, &silence, 100 * S)); /* an answer is due */
    silence_answered(&silence, SILENCE_NEWER, 21 * S);
    CHECK_INT(silence_state(&rule, &silence, 21 * S + rule.grace_ms - 1), SILENCE_FRESH); /* on its way? */
    CHECK_INT(silence_state(&rule, &silence, 21 * S + rule.grace_ms), SILENCE_STALE);
    CHECK(silence_ask_due(&rule, &silence, 40 * S)); /* what it should tell is asked for again and again */
    silence_asked(&silence, 40 * S);
    silence_answered(&silence, SILENCE_NOTHING,
                     41 * S); /* nothing since the last answer: it is behind all the same */
    CHECK_INT(silence_state(&rule, &silence, 41 * S), SILENCE_STALE);
    silence_heard(&silence, 42 * S);
    CHECK_INT(silence_state(&rule, &silence, 42 * S), SILENCE_FRESH);
    CHECK(silence.behind_ms == 0 && silence.asked_ms == 0);
}

/* The market is quiet: the stream may be silent for ever. */
static void test_quiet(void)
{
    struct silence_rule rule = silence_rule(MARKET_TRADE, false, &limits);
    struct silence silence = {0};
    int64_t now = 0, asked = 0;
    silence_begin(&silence, now);
    for (int n = 0; n < 10; n++) {
        while (!silence_ask_due(&rule, &silence, now)) {
            CHECK(silence_state(&rule, &silence, now) != SILENCE_STALE);
            now += S;
        }
        CHECK_INT(now - asked,
                  silence_early_ms(300 * S << (n < SILENCE_QUIET_DOUBLINGS ? n : SILENCE_QUIET_DOUBLINGS)));
        asked = now;
        silence_asked(&silence, now);
        silence_answered(&silence, SILENCE_NOTHING, now);
        CHECK_INT(silence_state(&rule, &silence, now), SILENCE_QUIET);
        CHECK_INT(silence_known_ms(&silence), now);
    }
    silence_heard(&silence, now + S);
    CHECK_INT(silence_limit(&rule, &silence), 300 * S);
}

/* Nothing answers: stale at the limit, not before, and asked again at two thirds of it. */
static void test_unanswered(void)
{
    struct silence_rule rule = silence_rule(MARKET_QUOTE, false, &limits);
    struct silence silence = {0};
    silence_begin(&silence, 0);
    silence_asked(&silence, 20 * S);
    silence_answered(&silence, SILENCE_UNKNOWN, 25 * S);
    CHECK_INT(silence_state(&rule, &silence, 30 * S), SILENCE_FRESH);
    CHECK_INT(silence_state(&rule, &silence, 30 * S + 1), SILENCE_STALE);
    CHECK(!silence_ask_due(&rule, &silence, 40 * S - 1) && silence_ask_due(&rule, &silence, 40 * S));
    silence_asked(&silence, 40 * S);
    silence_heard(&silence, 41 * S);
    silence_answered(&silence, SILENCE_NEWER, 42 * S); /* of before it spoke */
    CHECK_INT(silence_state(&rule, &silence, 42 * S), SILENCE_FRESH);
}

static struct silence_link link_of(const struct silence *streams, int n)
{
    struct silence_link link = {0};
    for (int i = 0; i < n; i++) {
        struct silence_rule rule = silence_rule(i == 0 ? MARKET_QUOTE : MARKET_TRADE, false, &limits);
        silence_link_add(&link, &rule, &streams[i]);
    }
    return link;
}

static void test_link(void)
{
    struct silence streams[3] = {0};
    struct silence_link link = link_of(streams, 0);
    CHECK_INT(silence_link_wait(&link, &limits, 0), INT64_MAX); /* nothing on it should speak */

    silence_heard(&streams[1], 500 * S); /* one of three speaks */
    link = link_of(streams, 3);
    CHECK_INT(link.heard_ms, 500 * S);
    CHECK_INT(silence_link_wait(&link, &limits, 0), 60 * S);
    CHECK_INT(silence_link_wait(&link, &limits, 1), 120 * S);
    CHECK_INT(silence_link_wait(&link, &limits, 5), 60 * S << SILENCE_REPLACE_DOUBLINGS);
    CHECK_INT(silence_link_wait(&link, &limits, 50), 60 * S << SILENCE_REPLACE_DOUBLINGS);

    silence_asked(&streams[0], 520 * S);
    silence_answered(&streams[0], SILENCE_NOTHING, 521 * S); /* the market is quiet */
    link = link_of(streams, 3);
    CHECK_INT(silence_link_wait(&link, &limits, 0), INT64_MAX);

    silence_asked(&streams[2], 530 * S);
    silence_answered(&streams[2], SILENCE_NEWER, 531 * S); /* it is not: one stream missed something */
    link = link_of(streams, 3);
    CHECK_INT(silence_link_wait(&link, &limits, 0), 30 * S);

    link = link_of(streams + 1, 0);
    struct silence_rule trade = silence_rule(MARKET_TRADE, false, &limits);
    struct silence alone = {0};
    silence_link_add(&link, &trade, &alone); /* one that may be silent for longer */
    CHECK_INT(silence_link_wait(&link, &limits, 0), 300 * S);
}

int main(void)
{
    test_rules();
    test_rate();
    test_broken();
    test_quiet();
    test_unanswered();
    test_link();
    return check_done("daemon/silence");
}

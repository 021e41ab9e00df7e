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
        struct silence_rule rule = feed_silence_rule(rows[i].kind, rows[i].sparse, &limits);
        CHECK_INT(rule.limit_ms, rows[i].limit_s * S);
        CHECK_INT(rule.least_ms, rows[i].least_s * S);
        CHECK_INT(rule.rare, rows[i].rare);
        CHECK(rule.grace_ms > 0 && rule.grace_ms < rule.limit_ms);
    }
    struct silence_limits turned = limits; /* trades held to less than prices */
    turned.stale_trade_ms = 10 * S;
    CHECK_INT(feed_silence_rule(MARKET_TRADE, false, &turned).least_ms, 10 * S);
}

static void test_rate(void)
{
    struct silence_rule rule = feed_silence_rule(MARKET_TRADE, false, &limits);
    struct silence busy = {0}, slow = {0}, middle = {0};
    feed_silence_begin(&busy, 0);
    CHECK_INT(feed_silence_limit(&rule, &busy), 300 * S); /* nothing is known of it yet */
    for (int64_t now = 0; now <= 100 * S; now += 100)
        feed_silence_received(&busy, now);
    CHECK_INT(feed_silence_limit(&rule, &busy), 30 * S);
    for (int64_t now = 0; now <= 1000 * S; now += 20 * S)
        feed_silence_received(&slow, now);
    CHECK_INT(feed_silence_limit(&rule, &slow), 300 * S);
    for (int64_t now = 0; now <= 1000 * S; now += 2 * S)
        feed_silence_received(&middle, now);
    CHECK_INT(feed_silence_limit(&rule, &middle), 2 * S * SILENCE_BUSY_GAPS);
    feed_silence_begin(&middle, 2000 * S); /* another connection: the rate is the symbol's */
    CHECK_INT(feed_silence_limit(&rule, &middle), 2 * S * SILENCE_BUSY_GAPS);
    feed_silence_received(&middle, 2500 * S); /* the time away was no gap of its */
    CHECK_INT(feed_silence_limit(&rule, &middle), 2 * S * SILENCE_BUSY_GAPS);
}

/* The stream is broken: the venue has newer data. */
static void test_broken(void)
{
    struct silence_rule rule = feed_silence_rule(MARKET_QUOTE, false, &limits);
    struct silence silence = {0};
    feed_silence_begin(&silence, 0);
    feed_silence_received(&silence, 0);
    CHECK(!feed_silence_ask_due(&rule, &silence, 20 * S - 1) &&
          feed_silence_ask_due(&rule, &silence, 20 * S));
    feed_silence_asked(&silence, 20 * S);
    CHECK(!feed_silence_ask_due(&rule, &silence, 100 * S)); /* an answer is due */
    feed_silence_answered(&silence, SILENCE_NEWER, 21 * S);
    CHECK_INT(feed_silence_state(&rule, &silence, 21 * S + rule.grace_ms - 1),
              SILENCE_FRESH); /* on its way? */
    CHECK_INT(feed_silence_state(&rule, &silence, 21 * S + rule.grace_ms), SILENCE_STALE);
    CHECK(
        feed_silence_ask_due(&rule, &silence, 40 * S)); /* what it should send is requested again and again */
    feed_silence_asked(&silence, 40 * S);
    feed_silence_answered(&silence, SILENCE_NOTHING,
                          41 * S); /* nothing since the last answer: it is behind nevertheless */
    CHECK_INT(feed_silence_state(&rule, &silence, 41 * S), SILENCE_STALE);
    feed_silence_received(&silence, 42 * S);
    CHECK_INT(feed_silence_state(&rule, &silence, 42 * S), SILENCE_FRESH);
    CHECK(silence.behind_ms == 0 && silence.asked_ms == 0);
}

/* The market is quiet: the stream may be silent for ever. */
static void test_quiet(void)
{
    struct silence_rule rule = feed_silence_rule(MARKET_TRADE, false, &limits);
    struct silence silence = {0};
    int64_t now = 0, asked = 0;
    feed_silence_begin(&silence, now);
    for (int n = 0; n < 10; n++) {
        while (!feed_silence_ask_due(&rule, &silence, now)) {
            CHECK(feed_silence_state(&rule, &silence, now) != SILENCE_STALE);
            now += S;
        }
        CHECK_INT(now - asked, feed_silence_early_ms(
                                   300 * S << (n < SILENCE_QUIET_DOUBLINGS ? n : SILENCE_QUIET_DOUBLINGS)));
        asked = now;
        feed_silence_asked(&silence, now);
        feed_silence_answered(&silence, SILENCE_NOTHING, now);
        CHECK_INT(feed_silence_state(&rule, &silence, now), SILENCE_QUIET);
        CHECK_INT(feed_silence_known_ms(&silence), now);
    }
    feed_silence_received(&silence, now + S);
    CHECK_INT(feed_silence_limit(&rule, &silence), 300 * S);
}

/* Nothing answers: stale at the limit, not before, and asked again at two thirds of it. */
static void test_unanswered(void)
{
    struct silence_rule rule = feed_silence_rule(MARKET_QUOTE, false, &limits);
    struct silence silence = {0};
    feed_silence_begin(&silence, 0);
    feed_silence_asked(&silence, 20 * S);
    feed_silence_answered(&silence, SILENCE_UNKNOWN, 25 * S);
    CHECK_INT(feed_silence_state(&rule, &silence, 30 * S), SILENCE_FRESH);
    CHECK_INT(feed_silence_state(&rule, &silence, 30 * S + 1), SILENCE_STALE);
    CHECK(!feed_silence_ask_due(&rule, &silence, 40 * S - 1) &&
          feed_silence_ask_due(&rule, &silence, 40 * S));
    feed_silence_asked(&silence, 40 * S);
    feed_silence_received(&silence, 41 * S);
    feed_silence_answered(&silence, SILENCE_NEWER, 42 * S); /* of before it spoke */
    CHECK_INT(feed_silence_state(&rule, &silence, 42 * S), SILENCE_FRESH);
}

/* Once it is behind only REST has its data: a quiet stream is asked for like a busy one. */
static void test_behind(void)
{
    struct silence_rule rule = feed_silence_rule(MARKET_DEPTH, false, &limits);
    struct silence silence = {0}, other = {0};
    feed_silence_begin(&silence, 0);
    feed_silence_begin(&other, 0);
    CHECK(!feed_silence_ask_due(&rule, &silence, 199 * S) && feed_silence_ask_due(&rule, &silence, 200 * S));
    feed_silence_asked(&silence, 200 * S);
    feed_silence_answered(&silence, SILENCE_NEWER, 201 * S);
    CHECK(!feed_silence_ask_due(&rule, &silence, 219 * S) && feed_silence_ask_due(&rule, &silence, 220 * S));
    feed_silence_received(&other, 200 * S - 1);
    CHECK(feed_silence_newer_than(&silence, &other));
    feed_silence_received(&other, 200 * S);
    CHECK(!feed_silence_newer_than(&silence, &other));
}

static struct silence_link link_of(const struct silence *streams, int n)
{
    struct silence_link link = {0};
    for (int i = 0; i < n; i++) {
        struct silence_rule rule = feed_silence_rule(i == 0 ? MARKET_QUOTE : MARKET_TRADE, false, &limits);
        feed_silence_link_add(&link, &rule, &streams[i]);
    }
    return link;
}

static bool due(const struct silence *streams, int n, int times, int64_t at_ms, int64_t now)
{
    struct silence_link link = link_of(streams, n);
    struct silence_replaced replaced = {at_ms, times};
    return feed_silence_link_due(&link, &replaced, &limits, now);
}

static void answer(struct silence *silence, enum silence_answer answer, int64_t now)
{
    feed_silence_asked(silence, now);
    feed_silence_answered(silence, answer, now);
}

static void test_link(void)
{
    struct silence streams[3] = {0};
    CHECK(!due(streams, 0, 0, 0, 10000 * S)); /* nothing on it should speak */

    feed_silence_received(&streams[1], 500 * S); /* one of three speaks */
    CHECK_INT(link_of(streams, 3).received_ms, 500 * S);
    CHECK(!due(streams, 3, 0, 0, 560 * S) && due(streams, 3, 0, 0, 560 * S + 1));
    CHECK(!due(streams, 3, 1, 600 * S, 720 * S) && due(streams, 3, 1, 600 * S, 720 * S + 1));
    for (int times = 5; times <= 50; times += 45)
        CHECK(!due(streams, 3, times, 600 * S, 2520 * S) && due(streams, 3, times, 600 * S, 2520 * S + 1));

    answer(&streams[0], SILENCE_NOTHING, 520 * S); /* the market is quiet */
    CHECK(!due(streams, 3, 0, 0, 10000 * S));

    struct silence trade = {0};
    struct silence_link link = {0};
    struct silence_rule rule = feed_silence_rule(MARKET_TRADE, false, &limits);
    feed_silence_link_add(&link, &rule, &trade); /* one that may be silent for longer */
    CHECK(!feed_silence_link_due(&link, &(struct silence_replaced){0}, &limits, 300 * S));
    CHECK(feed_silence_link_due(&link, &(struct silence_replaced){0}, &limits, 300 * S + 1));
}

/* One stream missed something, others have nothing to bring: it is stale, and its connection stays until it
 * has been behind for a silence, and none of the others brought anything. */
static void test_one_behind(void)
{
    struct silence streams[3] = {0};
    for (int i = 0; i < 3; i++)
        feed_silence_received(&streams[i], 500 * S);
    answer(&streams[1], SILENCE_NOTHING, 515 * S);
    answer(&streams[0], SILENCE_NEWER, 520 * S);
    struct silence_rule quote = feed_silence_rule(MARKET_QUOTE, false, &limits);
    CHECK_INT(feed_silence_state(&quote, &streams[0], 530 * S), SILENCE_STALE);
    CHECK(!due(streams, 3, 0, 0, 580 * S - 1) && due(streams, 3, 0, 0, 580 * S));
    feed_silence_received(&streams[2], 570 * S); /* the connection carries */
    CHECK(!due(streams, 3, 0, 0, 630 * S) && due(streams, 3, 0, 0, 630 * S + 1));

    /* All are behind: nothing speaks for it. */
    for (int i = 0; i < 3; i++) {
        feed_silence_received(&streams[i], 1000 * S);
        answer(&streams[i], SILENCE_NEWER, 1020 * S);
    }
    CHECK(!due(streams, 3, 0, 0, 1030 * S) && due(streams, 3, 0, 0, 1030 * S + 1));
}

/* A venue that allows one connection: it goes down and up, is listened to from its beginning, and stays
 * silent. In an hour it is replaced as often as six doublings allow. */
static void test_replaced_again(void)
{
    static const int64_t moments[] = {60, 180, 420, 900, 1860, 3780};
    struct silence streams[2] = {0};
    struct silence_replaced replaced = {0};
    size_t n = 0;
    for (int64_t now = 0; now <= 3900 * S; now += S) {
        struct silence_link link = link_of(streams, 2);
        CHECK(!feed_silence_link_well(&link, &replaced));
        if (!feed_silence_link_due(&link, &replaced, &limits, now))
            continue;
        CHECK(n < 6 && now > moments[n] * S && now <= (moments[n] + 2 * (int64_t)n + 1) * S);
        n++;
        feed_silence_link_replaced(&replaced, now);
        for (int i = 0; i < 2; i++)
            feed_silence_begin(&streams[i], now + S); /* it is up again */
    }
    CHECK_INT(n, 6);
    feed_silence_received(&streams[1], 4000 * S);
    struct silence_link link = link_of(streams, 2);
    CHECK(feed_silence_link_well(&link, &replaced) && !feed_silence_link_well(&link, &replaced));
    CHECK(feed_silence_link_due(&link, &replaced, &limits, 4060 * S + 1)); /* as the first time */
}

/* Two streams of a connection, once a second: when is the first one silent alone? 0: never. */
static int64_t alone_s(const struct silence_rule *rule, int64_t quiet_s, int64_t other_quiet_s,
                       int64_t other_again_s, int64_t again_s)
{
    struct silence streams[2] = {0};
    struct silence_flow flow = {0};
    int64_t stale_ms = 0;
    for (int64_t now = 1; now < 300; now++) {
        if (now <= quiet_s || now >= again_s)
            feed_silence_received(&streams[0], now * S);
        if (now <= other_quiet_s || now >= other_again_s)
            feed_silence_received(&streams[1], now * S);
        if (now == quiet_s + 20 && now < again_s)
            answer(&streams[0], SILENCE_NEWER, now * S);
        struct silence_link link = link_of(streams, 2);
        feed_silence_flowed(&flow, &link, &limits);
        bool stale = feed_silence_state(rule, &streams[0], now * S) == SILENCE_STALE;
        stale_ms = !stale ? 0 : stale_ms ? stale_ms : now * S;
        if (stale && feed_silence_alone(rule, &streams[0], stale_ms, &link, &flow))
            return now;
    }
    return 0;
}

static void test_alone(void)
{
    struct silence_rule rule = feed_silence_rule(MARKET_QUOTE, false, &limits);
    CHECK_INT(alone_s(&rule, 100, 1000, 0, 1000), 124); /* beside one that is not silent */
    CHECK_INT(alone_s(&rule, 100, 100, 1000, 1000), 0); /* with all */
    CHECK_INT(alone_s(&rule, 100, 110, 1000, 1000), 0); /* which were silent later, before that was known */
    CHECK_INT(alone_s(&rule, 100, 100, 160, 165), 0); /* it comes back a little later than the others, … */
    CHECK_INT(alone_s(&rule, 100, 100, 160, 1000), 191); /* … or does not, for as long as its limit */
    CHECK_INT(alone_s(&rule, 100, 123, 130, 1000), 130); /* a gap of the others' that is no silence */
}

int main(void)
{
    test_rules();
    test_rate();
    test_broken();
    test_quiet();
    test_unanswered();
    test_behind();
    test_link();
    test_one_behind();
    test_replaced_again();
    test_alone();
    return check_done("daemon/silence");
}

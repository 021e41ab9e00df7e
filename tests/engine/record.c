/* Events as the journal keeps them: every field of every kind comes back; damaged bytes never do harm. */
#include <errno.h>

#include "engine/record.h"
#include "tests/engine/events.h"

static void test_round_trip(struct random *random)
{
    struct random_event made;
    struct event_memory memory = {0};
    struct codec codec = {0};
    unsigned long seen[EVENT_KINDS] = {0};
    for (int i = 0; i < 40000; i++) {
        enum event_kind kind = (enum event_kind)random_between(random, 0, EVENT_KINDS - 1);
        random_event(random, kind, &made);
        CHECK_INT(event_encode(&made.event, &codec), 0);
        struct event event = {.seq = 7, .recv_ns = 9};
        uint8_t *exact = malloc(codec.len); /* of its own size, so that a step past it is seen */
        memcpy(exact, codec.bytes, codec.len);
        CHECK_INT(event_decode(exact, codec.len, &memory, &event), 0);
        free(exact);
        CHECK(same_event(&made.event, &event));
        CHECK(event.seq == 7 && event.recv_ns == 9);
        struct codec again = {0};
        CHECK_INT(event_encode(&event, &again), 0);
        CHECK(again.len == codec.len && memcmp(again.bytes, codec.bytes, codec.len) == 0);
        codec_finish(&again);
        seen[kind]++;
    }
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        CHECK(seen[kind] > 0);
    event_memory_finish(&memory);
    codec_finish(&codec);
}

static int decode(const uint8_t *bytes, size_t len, struct event_memory *memory)
{
    struct event event = {0};
    uint8_t *exact = malloc(len ? len : 1);
    memcpy(exact, bytes, len);
    int r = event_decode(exact, len, memory, &event);
    free(exact);
    return r;
}

/* Cut at every length it is no event; with any byte changed it is another event, or none. */
static void test_damage(struct random *random)
{
    struct random_event made;
    struct event_memory memory = {0};
    struct codec codec = {0};
    for (int i = 0; i < 300; i++) {
        random_event(random, (enum event_kind)(i % EVENT_KINDS), &made);
        CHECK_INT(event_encode(&made.event, &codec), 0);
        for (size_t len = 0; len < codec.len; len++)
            CHECK_INT(decode(codec.bytes, len, &memory), -EBADMSG);
        for (size_t at = 0; at < codec.len; at++) {
            uint8_t before = codec.bytes[at];
            codec.bytes[at] ^= (uint8_t)random_between(random, 1, 255);
            int r = decode(codec.bytes, codec.len, &memory);
            CHECK(r == 0 || r == -EBADMSG || r == -ENOTSUP || r == -ENOPKG);
            codec.bytes[at] = before;
        }
        uint8_t longer[1 << 14];
        CHECK(codec.len < sizeof longer);
        memcpy(longer, codec.bytes, codec.len);
        longer[codec.len] = 0;
        CHECK_INT(decode(longer, codec.len + 1, &memory), -EBADMSG);
    }
    event_memory_finish(&memory);
    codec_finish(&codec);
}

/* What this program cannot know: a later layout, a strategy that it does not have. */
static void test_unknown(void)
{
    struct event_memory memory = {0};
    struct codec codec = {0};
    struct event event = {.kind = EVENT_TIMER};
    CHECK_INT(event_encode(&event, &codec), 0);
    codec.bytes[0] = EVENT_RECORD_VERSION + 1;
    CHECK_INT(decode(codec.bytes, codec.len, &memory), -ENOTSUP);
    codec.bytes[0] = 0;
    CHECK_INT(decode(codec.bytes, codec.len, &memory), -EBADMSG);

    static const struct strategy other = {.name = "from_another_program"};
    struct event create = {.kind = EVENT_COMMAND,
                           .command = {.kind = COMMAND_ACCOUNT_CREATE,
                                       .account = {.name = "a", .currency = "USDT", .strategy = &other}}};
    CHECK_INT(event_encode(&create, &codec), 0);
    CHECK_INT(decode(codec.bytes, codec.len, &memory), -ENOPKG);
    CHECK(!memory.no_policy);

    struct event far = {.kind = EVENT_STALE, .stale = {.symbol = SYMBOLS_MAX}};
    CHECK_INT(event_encode(&far, &codec), 0);
    CHECK_INT(decode(codec.bytes, codec.len, &memory), -EBADMSG);
    event_memory_finish(&memory);
    codec_finish(&codec);
}

/* A parameter that came later is there only where it is not as by default, as before there was one. */
static void test_later_params(void)
{
    struct codec codec = {0};
    size_t len[2];
    for (int exponential = 0; exponential < 2; exponential++) {
        struct event_memory memory = {0};
        struct event got, event = {.kind = EVENT_COMMAND, .command = {.kind = COMMAND_ACCOUNT_CREATE}};
        struct account_spec *spec = &event.command.account;
        *spec = (struct account_spec){
            .name = "a", .currency = "USDT", .strategy = strategy_find("sma-cross-rsi")};
        strategy_defaults(spec->strategy, spec->params);
        CHECK_INT(strategy_set(spec->strategy, spec->params, "average", exponential ? "ema" : "sma", NULL),
                  0);
        CHECK_INT(event_encode(&event, &codec), 0);
        len[exponential] = codec.len;
        CHECK_INT(event_decode(codec.bytes, codec.len, &memory, &got), 0);
        CHECK(got.command.account.strategy == spec->strategy);
        CHECK(memcmp(got.command.account.params, spec->params, sizeof spec->params) == 0);
        event_memory_finish(&memory);
    }
    CHECK_INT(len[1] - len[0], sizeof(double));
    codec_finish(&codec);
}

int main(void)
{
    struct random random = random_seeded("record", 41);
    test_round_trip(&random);
    test_damage(&random);
    test_unknown();
    test_later_params();
    return check_done("record");
}

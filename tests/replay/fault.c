/* What --fault accepts, and what it says to the rest. */
#include "exchange/replay/fault.h"

#include <errno.h>

#include "tests/check.h"

int main(void)
{
    static const int64_t s = 1000000000;
    struct faults f = {0};
    char error[FAULT_ERROR_MAX];
    CHECK(!replay_fault_silent(&f, 0));
    CHECK_INT(replay_fault_parse(&f, "silence@30s", error), 0);
    CHECK(!replay_fault_silent(&f, 30 * s - 1) && replay_fault_silent(&f, 30 * s) &&
          replay_fault_silent(&f, 300000 * s));
    CHECK_INT(replay_fault_parse(&f, "silence@1.5s+250ms", error), 0);
    CHECK(!replay_fault_silent(&f, s) && replay_fault_silent(&f, 3 * s / 2) &&
          !replay_fault_silent(&f, 7 * s / 4));
    CHECK_INT(replay_fault_parse(&f, "silence@2m+1m", error), 0);
    CHECK(!replay_fault_silent(&f, 119 * s) && replay_fault_silent(&f, 179 * s) &&
          !replay_fault_silent(&f, 180 * s));
    CHECK(!replay_fault_stream_silent(&f, 40 * s, "btcusdt@trade", 13));
    CHECK_INT(replay_fault_parse(&f, "silence:btcusdt@depth@100ms@30s+10s", error), 0);
    CHECK_INT(replay_fault_parse(&f, "silence:trades:BTC/USD@5s", error), 0);
    struct faults again = f;
    CHECK_INT(replay_fault_parse(&again, "silence:btcusdt@depth@100ms@0s+0s", error), 0);
    CHECK(again.n_silences == f.n_silences &&
          !replay_fault_stream_silent(&again, 35 * s, "btcusdt@depth@100ms", 19));
    CHECK(replay_fault_stream_silent(&again, 35 * s, "trades:BTC/USD", 14));
    CHECK(!replay_fault_stream_silent(&f, 30 * s - 1, "btcusdt@depth@100ms", 19));
    CHECK(replay_fault_stream_silent(&f, 30 * s, "btcusdt@depth@100ms", 19));
    CHECK(!replay_fault_stream_silent(&f, 40 * s, "btcusdt@depth@100ms", 19));
    CHECK(!replay_fault_stream_silent(&f, 30 * s, "btcusdt@depth", 13));
    CHECK(replay_fault_stream_silent(&f, 30 * s, "trades:BTC/USD", 14));
    CHECK(!replay_fault_frozen(&f, s));
    CHECK_INT(replay_fault_parse(&f, "freeze@1s+1s", error), 0);
    CHECK(replay_fault_frozen(&f, s) && !replay_fault_frozen(&f, 2 * s));
    f.base_ns = 100 * s; /* as POST /_control sets it */
    CHECK_INT(replay_fault_parse(&f, "freeze@1s", error), 0);
    CHECK(!replay_fault_frozen(&f, 100 * s) && replay_fault_frozen(&f, 101 * s));
    f.base_ns = 0;
    CHECK_INT(replay_fault_parse(&f, "close@1000", error), 0);
    CHECK_INT(f.close_after, 1000);
    CHECK_INT(replay_fault_parse(&f, "gap@book", error), 0);
    CHECK_INT(replay_fault_parse(&f, "garbage", error), 0);
    CHECK(f.gap_book && f.garbage);

    again = f;
    CHECK_INT(replay_fault_parse(&again, "status@1s:BTCUSDT=HALT", error), 0);
    CHECK_INT(replay_fault_parse(&again, "429:5s", error), 0);
    CHECK_INT(replay_fault_parse(&again, "none", error), 0);
    CHECK(!again.gap_book && !again.garbage && again.close_after == 0 && again.too_many.ns == 0 &&
          again.n_silences == 0 && again.n_changes == 1 && !replay_fault_silent(&again, 130 * s) &&
          !replay_fault_frozen(&again, 101 * s));

    static const struct {
        const char *word;
        size_t at;
    } words[] = {{"dup", offsetof(struct faults, dup)},
                 {"reorder", offsetof(struct faults, reorder)},
                 {"half-frame", offsetof(struct faults, half_frame)},
                 {"deflate", offsetof(struct faults, deflate)},
                 {"fragment", offsetof(struct faults, fragment)},
                 {"5xx", offsetof(struct faults, broken)},
                 {"tls-expired", offsetof(struct faults, tls_expired)}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const bool *set = (const bool *)((const char *)&f + words[i].at);
        CHECK(!*set);
        CHECK_INT(replay_fault_parse(&f, words[i].word, error), 0);
        CHECK(*set);
    }
    CHECK(!replay_fault_broken(&f, 0, "/api/v3/klines") && !replay_fault_broken(&f, 0, "/"));
    CHECK_INT(replay_fault_parse(&f, "5xx:klines", error), 0);
    CHECK(replay_fault_broken(&f, 0, "/api/v3/klines") && replay_fault_broken(&f, 99 * s, "/api/v3/klines"));
    CHECK(!replay_fault_broken(&f, 0, "/api/v3/depth") && !replay_fault_broken(&f, 0, "/klines/depth"));
    CHECK_INT(replay_fault_parse(&f, "5xx:bars@5s+2s", error), 0);
    CHECK(replay_fault_broken(&f, 6 * s, "/v2/stocks/bars") &&
          !replay_fault_broken(&f, 7 * s, "/v2/stocks/bars"));
    CHECK(!replay_fault_broken(&f, 4 * s, "/v2/stocks/bars") && !replay_fault_broken(&f, 6 * s, "/klines"));
    CHECK_INT(replay_fault_parse(&f, "5xx:bars@0s+0s", error), 0);
    CHECK(!replay_fault_broken(&f, 0, "/v2/stocks/bars"));
    CHECK_INT(replay_fault_parse(&f, "ban@100+60s", error), 0);
    CHECK(f.ban_after == 100 && f.ban_ns == 60 * s);
    CHECK_INT(replay_fault_parse(&f, "429:5s", error), 0);
    CHECK_INT(replay_fault_parse(&f, "418:1m", error), 0);
    CHECK(f.too_many.ns == 5 * s && f.teapot.ns == 60 * s);
    CHECK_INT(replay_fault_parse(&f, "age@24h", error), 0);
    CHECK_INT(f.age_ns, 24 * 3600 * s);
    CHECK_INT(replay_fault_parse(&f, "hold@720h", error), 0);
    CHECK_INT(f.hold_ns, 720 * 3600 * s);
    CHECK_INT(replay_fault_parse(&f, "shutdown", error), 0);
    CHECK(f.shutdown && f.shutdown_ns == 10 * s && f.shutdown_close_ns == 10 * s);
    CHECK_INT(replay_fault_parse(&f, "shutdown@30s", error), 0);
    CHECK(f.shutdown_ns == 30 * s && f.shutdown_close_ns == 10 * s);
    CHECK_INT(replay_fault_parse(&f, "shutdown@500ms+2s", error), 0);
    CHECK(f.shutdown_ns == s / 2 && f.shutdown_close_ns == 2 * s);
    CHECK_INT(replay_fault_parse(&f, "slow:64B/s", error), 0);
    CHECK_INT(f.slow_bytes_s, 64);
    CHECK_INT(replay_fault_parse(&f, "slow-answer:20kB/s", error), 0);
    CHECK_INT(f.slow_answer_bytes_s, 20000);
    CHECK_INT(replay_fault_parse(&f, "half-answer", error), 0);
    CHECK(f.half_answer);
    CHECK_INT(replay_fault_parse(&f, "slow:2kB/s", error), 0);
    CHECK_INT(f.slow_bytes_s, 2000);
    CHECK_INT(replay_fault_parse(&f, "huge:10MB", error), 0);
    CHECK_INT(f.huge_bytes, 10000000);
    CHECK_INT(replay_fault_parse(&f, "clock:+3s", error), 0);
    CHECK_INT(f.clock_skew_ns, 3 * s);
    CHECK_INT(replay_fault_parse(&f, "clock:-250ms", error), 0);
    CHECK_INT(f.clock_skew_ns, -s / 4);
    CHECK_INT(replay_fault_parse(&f, "fill-latency:120ms", error), 0);
    CHECK_INT(replay_fault_parse(&f, "fill-slippage:2.95", error), 0);
    CHECK(f.fill_latency_ns == 120 * s / 1000 && f.fill_slippage_e6 == 295);
    again = f;
    CHECK_INT(replay_fault_parse(&again, "none", error), 0);
    CHECK(again.fill_latency_ns == 120 * s / 1000 && again.fill_slippage_e6 == 295); /* no fault's */
    again.fill_latency_ns = 1;
    CHECK_INT(replay_fault_parse(&again, "fill-latency:0", error), 0);
    CHECK_INT(again.fill_latency_ns, 0);
    CHECK_INT(replay_fault_parse(&again, "fill-latency:0ms", error), 0);
    CHECK_INT(replay_fault_parse(&again, "fill-slippage:0", error), 0);
    CHECK(again.fill_latency_ns == 0 && again.fill_slippage_e6 == 0);
    CHECK_INT(replay_fault_parse(&f, "delist@60s:ETHUSDT", error), 0);
    CHECK_INT(replay_fault_parse(&f, "status@30s:BTCUSDT=HALT", error), 0);
    CHECK_INT(replay_fault_parse(&f, "filters@45s:BTCUSDT", error), 0);
    CHECK_INT(replay_fault_parse(&f, "status@60s:BTCUSDT=TRADING", error), 0);
    CHECK_INT(f.n_changes, 4);
    CHECK(f.changes[0].kind == FAULT_STATUS && f.changes[0].at_ns == 30 * s);
    CHECK_STR(f.changes[0].symbol, "BTCUSDT");
    CHECK_STR(f.changes[0].word, "HALT");
    CHECK(f.changes[1].kind == FAULT_FILTERS && f.changes[2].kind == FAULT_DELIST);
    CHECK_STR(f.changes[2].symbol, "ETHUSDT");
    CHECK_STR(f.changes[3].word, "TRADING"); /* of one time: in the order given */

    /* What is listed is accepted. */
    char list[1024];
    snprintf(list, sizeof(list), "%s", replay_fault_help());
    for (char *save, *word = strtok_r(list, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
        char *open = strchr(word, '[');
        struct faults one = {0};
        if (open)
            *open = '\0';
        CHECK_INT(replay_fault_parse(&one, word, error), 0);
    }
    static const char *const wrong[] = {"",
                                        "silence",
                                        "silence@",
                                        "silence@30",
                                        "silence@s",
                                        "silence@-1s",
                                        "silence@1s+",
                                        "silence@1s+2",
                                        "silence@1s2s",
                                        "close@",
                                        "close@0",
                                        "close@-1",
                                        "close@1x",
                                        "gap",
                                        "gap@",
                                        "garbage@1",
                                        "close@99999999999999999999",
                                        "ban@100",
                                        "ban@0+60s",
                                        "ban@10+0s",
                                        "5xx:",
                                        "5xx:@1s",
                                        "5xx:klines@",
                                        "5xx:v3/klines",
                                        "429",
                                        "418:",
                                        "418:60",
                                        "age@",
                                        "hold@",
                                        "age@99999999999h",
                                        "shutdown@",
                                        "shutdown30s",
                                        "slow:64B",
                                        "slow:0B/s",
                                        "huge:10GB",
                                        "huge:999MB",
                                        "clock:3s",
                                        "clock:+0s",
                                        "status@30s:BTCUSDT",
                                        "status@30s:BTCUSDT=",
                                        "status@30s:BTCUSDT=halt",
                                        "status@30s:=HALT",
                                        "status@30s:BTCUSDT=AAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                        "delist@30s:BTCUSDT=HALT",
                                        "delist@30s:",
                                        "filters@x:BTCUSDT",
                                        "delist@30s:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                        "fill-latency:",
                                        "fill-latency:120",
                                        "fill-latency:-1ms",
                                        "fill-latency:61s",
                                        "fill-slippage:",
                                        "fill-slippage:-1",
                                        "fill-slippage:0.005",
                                        "fill-slippage:1000.01",
                                        "fill-slippage:3bp",
                                        "dups"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct faults none = {0};
        static const struct faults untouched;
        CHECK_INT(replay_fault_parse(&none, wrong[i], error), -EINVAL);
        CHECK(memcmp(&none, &untouched, sizeof(none)) == 0);
        bool known = strncmp(error, "bad value of a fault: ", 22) == 0;
        const char *as = strstr(error, ": as ");
        CHECK(known ? as != NULL && as[5] == wrong[i][0] && strlen(as) < 40 /* its own way alone */
                    : strstr(error, "unknown fault") && strstr(error, replay_fault_help())); /* all of it */
    }
    CHECK_INT(replay_fault_parse(&f, "fill-latency:120", error), -EINVAL);
    CHECK_STR(error, "bad value of a fault: fill-latency:120: as fill-latency:120ms");
    CHECK_INT(replay_fault_parse(&f, "silence:x", error), -EINVAL);
    CHECK_STR(error, "bad value of a fault: silence:x: as silence:STREAM@30s[+10s]");
    CHECK_INT(replay_fault_parse(&f, "dups", error), -EINVAL);
    CHECK(strncmp(error, "unknown fault: dups: one of silence@30s", 39) == 0);
    for (int i = 0; i < FAULT_CHANGES_MAX - 4; i++)
        CHECK_INT(replay_fault_parse(&f, "delist@60s:ETHUSDT", error), 0);
    CHECK_INT(replay_fault_parse(&f, "delist@60s:ETHUSDT", error), -EINVAL);
    return check_done("fault");
}

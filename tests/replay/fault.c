/* What --fault accepts, and what it says to the rest. */
#include "exchange/replay/fault_schedule.h"

#include <errno.h>

#include "tests/check.h"

#define S  INT64_C(1000000000)
#define HR (5000 * S) /* uv_hrtime() at the start of play */

static int add(struct fault_schedule *schedule, int64_t elapsed_ns, const char *spec, char *error)
{
    const struct fault_moment at = {elapsed_ns, elapsed_ns > 0 ? HR + elapsed_ns : 0};
    const int rc = replay_fault_schedule_add(schedule, spec, &at, error);
    if (rc == 0)
        replay_fault_schedule_run(schedule, &at);
    return rc;
}

static int64_t run(struct fault_schedule *schedule, int64_t elapsed_ns)
{
    const struct fault_moment at = {elapsed_ns, HR + elapsed_ns};
    return replay_fault_schedule_run(schedule, &at);
}

/* Every fault of the list is on from its time on, and only then; what has no time says so. */
static void check_each_scheduled(void)
{
    char list[1024], spec[128], error[FAULT_ERROR_MAX];
    int n_own = 0;
    snprintf(list, sizeof(list), "%s", replay_fault_help());
    *strchr(list, ';') = '\0';
    for (char *save, *word = strtok_r(list, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
        struct fault_schedule f = {0};
        struct faults plain = {0};
        static const struct faults none;
        char *open = strchr(word, '[');
        if (open)
            *open = '\0';
        plain.base_ns = 20 * S;
        plain.posted_ns = HR + 20 * S;
        CHECK_INT(replay_fault_parse(&plain, word, error), 0);
        snprintf(spec, sizeof(spec), "%s@20s+5s", word);
        struct faults own = {0};
        if (replay_fault_parse(&own, spec, error) ==
            0) { /* its own time: silence:STREAM, 5xx:PATH, shutdown */
            n_own++;
            continue;
        }
        const bool once = strcmp(word, "none") == 0 || strcmp(word, "wipe") == 0;
        const bool untimed = plain.tls_expired || plain.n_changes > 0;
        CHECK_INT(add(&f, 0, spec, error), once || untimed ? -EINVAL : 0);
        if (once || untimed) {
            CHECK(strncmp(error, "no time of a fault: ", 20) == 0 && f.n == 0);
            continue;
        }
        CHECK_INT(run(&f, 0), 20 * S);
        CHECK_INT(run(&f, 20 * S - 1), 20 * S);
        CHECK(memcmp(&f.now, &none, sizeof(none)) == 0);
        CHECK_INT(run(&f, 20 * S), 25 * S);
        CHECK(memcmp(&f.now, &plain, sizeof(plain)) == 0); /* as if it were posted then */
        CHECK_INT(run(&f, 25 * S - 1), 25 * S);
        CHECK(memcmp(&f.now, &plain, sizeof(plain)) == 0);
        CHECK_INT(run(&f, 25 * S), INT64_MAX);
        CHECK(memcmp(&f.now, &none, sizeof(none)) == 0);
        *strrchr(spec, '+') = '\0';
        CHECK_INT(add(&f, 0, spec, error), 0);
        CHECK_INT(run(&f, 21 * S), INT64_MAX); /* late, as timers are: of its own time all the same */
        CHECK(memcmp(&f.now, &plain, sizeof(plain)) == 0 && f.n == 0);
    }
    CHECK_INT(n_own, 3);
}

/* Of one fault the last one that is on counts, and what was before comes back. */
static void check_overlaps(void)
{
    struct fault_schedule f = {0};
    char error[FAULT_ERROR_MAX];
    CHECK_INT(add(&f, 0, "slow:8kB/s", error), 0);
    CHECK_INT(add(&f, 0, "slow:1kB/s@15s+10s", error), 0);
    CHECK_INT(add(&f, 0, "slow:64B/s@10s+10s", error), 0);
    CHECK_INT(add(&f, 0, "dup@12s+2s", error), 0);
    CHECK_INT(add(&f, 0, "close@1000@30s", error), 0);
    CHECK_INT(add(&f, 0, "gap@book@31s", error), 0);
    CHECK_INT(add(&f, 0, "5xx@31s+1s", error), 0);
    static const struct {
        int64_t at_s, slow;
        bool dup, gap, broken;
        uint64_t close;
        int64_t next_s;
    } moments[] = {
        {9, 8000, false, false, false, 0, 10},   {10, 64, false, false, false, 0, 12},
        {12, 64, true, false, false, 0, 14},     {14, 64, false, false, false, 0, 15},
        {15, 1000, false, false, false, 0, 20},  {20, 1000, false, false, false, 0, 25},
        {25, 8000, false, false, false, 0, 30},  {30, 8000, false, false, false, 1000, 31},
        {31, 8000, false, true, true, 1000, 32}, {32, 8000, false, true, false, 1000, 0},
    };
    for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
        CHECK_INT(run(&f, moments[i].at_s * S), moments[i].next_s ? moments[i].next_s * S : INT64_MAX);
        CHECK_INT(f.now.slow_bytes_s, moments[i].slow);
        CHECK_INT(f.now.close_after, moments[i].close);
        CHECK(f.now.dup == moments[i].dup && f.now.gap_book == moments[i].gap &&
              f.now.broken == moments[i].broken);
    }
    CHECK_INT(f.n, 0);
}

static void check_posted(void)
{
    struct fault_schedule f = {0};
    char error[FAULT_ERROR_MAX];
    CHECK_INT(add(&f, 40 * S, "429:5s@2s", error), 0);
    CHECK_INT(run(&f, 42 * S), INT64_MAX);
    CHECK_INT(replay_fault_limit_ns(&f.now.too_many, 1),
              HR + 47 * S); /* from its time on, not from the first request */
    CHECK_INT(add(&f, 43 * S, "silence@1s@1s+10s", error), 0);
    CHECK_INT(run(&f, 44 * S), 54 * S);
    CHECK(!replay_fault_silent(&f.now, 45 * S - 1) && replay_fault_silent(&f.now, 45 * S));
    /* One that is posted while another is on counts as the last, and outlasts it. */
    CHECK_INT(add(&f, 50 * S, "silence@0s+0s", error), 0);
    CHECK(!replay_fault_silent(&f.now, 50 * S));
    CHECK_INT(run(&f, 54 * S), INT64_MAX);
    CHECK(!replay_fault_silent(&f.now, 55 * S) && f.n == 0);

    CHECK_INT(add(&f, 60 * S, "dup@1s+1s", error), 0);
    CHECK_INT(add(&f, 60 * S, "wipe@1s", error), 0);
    CHECK_INT(run(&f, 61 * S), 62 * S);
    CHECK(f.now.wipe && f.now.dup);
    f.now.wipe = false; /* it was carried out */
    CHECK_INT(run(&f, 62 * S), INT64_MAX);
    CHECK(!f.now.wipe && !f.now.dup);

    /* All are over, those to come, too. */
    CHECK_INT(add(&f, 70 * S, "dup@0s+9s", error), 0);
    CHECK_INT(add(&f, 70 * S, "garbage@5s", error), 0);
    CHECK_INT(add(&f, 70 * S, "none@2s", error), 0);
    CHECK_INT(run(&f, 71 * S), 72 * S);
    CHECK(f.now.dup);
    CHECK_INT(run(&f, 72 * S), INT64_MAX);
    CHECK(!f.now.dup && f.n == 0);
    CHECK_INT(add(&f, 80 * S, "dup@1s", error), 0);
    CHECK_INT(add(&f, 80 * S, "none", error), 0);
    CHECK_INT(run(&f, 90 * S), INT64_MAX);
    CHECK(!f.now.dup);
}

static void check_bad_times(void)
{
    static const struct {
        const char *spec, *error;
    } wrong[] = {
        {"dup@x", "bad time of a fault: dup@x: as dup@30s or dup@30s+10s"},
        {"dup@30", "bad time of a fault: dup@30: as dup@30s or dup@30s+10s"},
        {"dup@30s+", "bad time of a fault: dup@30s+: as dup@30s or dup@30s+10s"},
        {"gap@book@30s+1", "bad time of a fault: gap@book@30s+1: as gap@book@30s or gap@book@30s+10s"},
        {"dup@30s+0s", "no time of a fault: dup@30s+0s: it would never be on: a length above 0"},
        {"wipe@30s+1s", "no time of a fault: wipe@30s+1s: it happens at once, and has no end: as wipe@30s"},
        {"tls-expired@1s",
         "no time of a fault: tls-expired@1s: the certificate is of the whole run: without a time"},
        {"status@30s:BTCUSDT=HALT@10s",
         "no time of a fault: status@30s:BTCUSDT=HALT@10s: of a symbol, which has its own time: as "
         "status@30s:BTCUSDT=HALT"},
        {"slow:64@30s", "bad value of a fault: slow:64@30s: as slow:64B/s"},
        {"close@x", "bad value of a fault: close@x: as close@1000"},
    };
    char error[FAULT_ERROR_MAX];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct fault_schedule f = {0};
        static const struct fault_schedule untouched;
        CHECK_INT(add(&f, 0, wrong[i].spec, error), -EINVAL);
        CHECK_STR(error, wrong[i].error);
        CHECK(memcmp(&f, &untouched, sizeof(f)) == 0);
    }
    struct fault_schedule f = {0};
    CHECK_INT(add(&f, 0, "dups@30s", error), -EINVAL);
    CHECK(strncmp(error, "unknown fault: dups@30s: one of ", 32) == 0);
    for (int i = 0; i < FAULT_TIMED_MAX; i++)
        CHECK_INT(add(&f, 0, "dup@30s+1s", error), 0);
    CHECK_INT(add(&f, 0, "dup@30s+1s", error), -EINVAL);
    CHECK_STR(error, "too many faults at a time: dup@30s+1s: 64 of them");
    CHECK_INT(add(&f, 0, "none", error), 0);
    CHECK_INT(add(&f, 0, "dup@30s+1s", error), 0);
}

int main(void)
{
    static const int64_t s = 1000000000;
    check_each_scheduled();
    check_overlaps();
    check_posted();
    check_bad_times();
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
    CHECK(strchr(list, ';') != NULL);
    *strchr(list, ';') = '\0';
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

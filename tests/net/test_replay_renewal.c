/* What a user of a connection that is renewed again and again hears of papertape-replay, against what one
 * hears whose connection stays: the same, message by message, in each stream. Usage: test PAPERTAPE_REPLAY */
#include "exchange/binance/format.h"
#include "exchange/net/budget.h"
#include "tests/net/loop.h"
#include "tests/net/replay.h"

enum { STREAMS = 8, RENEWALS = 2 };

static const struct venue *const venue = &binance_venue;
static uv_loop_t loop;

static const char *const names[STREAMS] = {
    "btcusdt@trade",    "btcusdt@aggTrade",   "btcusdt@depth@100ms", "btcusdt@bookTicker",
    "ethusdt@kline_1m", "ethusdt@miniTicker", "ethusdt@trade",       "ethusdt@bookTicker",
};

/* Hashes of the frames of each stream, in order. */
struct received {
    uint64_t *frames[STREAMS];
    size_t n[STREAMS], cap[STREAMS];
    bool done;
    struct venue_stream *stream;
};

static void on_state(void *user, const struct venue_status *status)
{
    (void)user;
    (void)status;
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct received *received = user;
    int stream = -1;
    for (int s = 0; s < STREAMS; s++) {
        size_t n = strlen(names[s]);
        if (len > 12 + n && memcmp(data + 11, names[s], n) == 0 && data[11 + n] == '"')
            stream = s;
    }
    CHECK(stream >= 0);
    if (stream < 0)
        return;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
    if (received->n[stream] == received->cap[stream]) {
        received->cap[stream] = received->cap[stream] ? received->cap[stream] * 2 : 1024;
        received->frames[stream] =
            realloc(received->frames[stream], received->cap[stream] * sizeof(uint64_t));
    }
    received->frames[stream][received->n[stream]++] = hash;
    received->done = venue->stream_status(received->stream)->renewals >= RENEWALS;
}

static const struct venue_stream_handler handler = {on_state, on_frame};

/* One of the two may have started later. */
static void compare(const struct received *a, const struct received *b)
{
    for (int s = 0; s < STREAMS; s++) {
        size_t i = 0, j = 0, same = 0;
        CHECK(a->n[s] > 0 && b->n[s] > 0);
        while (i < a->n[s] && a->frames[s][i] != b->frames[s][0])
            i++;
        if (i == a->n[s])
            for (i = 0; j < b->n[s] && b->frames[s][j] != a->frames[s][0];)
                j++;
        for (; i < a->n[s] && j < b->n[s] && a->frames[s][i] == b->frames[s][j]; same++)
            i++, j++;
        if (i < a->n[s] && j < b->n[s])
            fprintf(stderr, "%s: frame %zu of one is not frame %zu of the other\n", names[s], i, j);
        CHECK(i == a->n[s] || j == b->n[s]);
        CHECK(same > 0 && 2 * same > a->n[s]);
        printf("%s %zu, ", names[s], same);
    }
    printf("alike\n");
}

int main(int argc, char **argv)
{
    struct replay replay;
    if (argc != 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    start_replay(&replay, argv[1], NULL);
    uv_loop_init(&loop);
    struct net_context *net = loop_net(&loop, replay.ca_file, 0, 0);
    struct budget budget;
    net_budget_init(&budget, BUDGET_ATTEMPTS_MAX, 60000);
    struct venue_stream_config config = {
        .net = net, .ws_url = replay.ws_url, .streams = names, .n_streams = STREAMS, .budget = &budget};
    struct received stays = {0}, renewed = {0};
    CHECK_INT(venue->stream_create(&config, &handler, &stays, &stays.stream), 0);
    config.age_max_ms = 200;
    CHECK_INT(venue->stream_create(&config, &handler, &renewed, &renewed.stream), 0);
    CHECK(loop_until(&loop, &renewed.done));
    const struct venue_status *status = venue->stream_status(renewed.stream);
    printf("%llu renewals, %llu frames left out\n", (unsigned long long)status->renewals,
           (unsigned long long)status->doubled);
    CHECK(status->doubled > 0);
    CHECK_INT(venue->stream_status(stays.stream)->renewals, 0);
    CHECK_INT(venue->stream_status(stays.stream)->connects, 1);
    venue->stream_destroy(stays.stream);
    venue->stream_destroy(renewed.stream);
    compare(&stays, &renewed);
    for (int s = 0; s < STREAMS; s++) {
        free(stays.frames[s]);
        free(renewed.frames[s]);
    }
    loop_end(&loop, net);
    stop_replay(&replay);
    return check_done("net replay renewal");
}

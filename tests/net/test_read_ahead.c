/* Many frames that come at once, over real TLS: what OpenSSL reads ahead of them is handed on without another
 * poll, whole and in order, through pauses, and an end in their middle; each ping among them is answered. */
#include "exchange/net/websocket.h"
#include "tests/net/loop.h"
#include "tests/net/server.h"

enum {
    FRAMES = 3000,
    LONGEST = 2999, /* 4.5 MB in all: many times what is read at once */
    PING_EVERY = 7,
    PAUSE_EVERY = 100,
    IDLE_TURNS = 200,
};

static uv_loop_t loop;
static struct net_context *net;
static int pongs;

struct reader {
    struct websocket *websocket;
    uv_timer_t timer;
    bool pauses;
    int end_after; /* frames until it is destroyed; 0: never */
    int frames, while_paused, turns;
    bool paused, done, ended;
    int code;
};

static size_t length(int i)
{
    return 8 + (size_t)i * 911 % (LONGEST - 7);
}

static void send_all(struct peer *peer, const char *head)
{
    char text[LONGEST + 1];
    (void)head;
    peer_upgrade(peer);
    for (int i = 0; i < FRAMES; i++) {
        memset(text, 'a' + i % 26, sizeof text);
        snprintf(text, sizeof text, "%07d", i);
        text[7] = ' ';
        peer_frame(peer, true, 1, text, length(i));
        if (i % PING_EVERY == 0)
            peer_frame(peer, true, 9, &i, sizeof i);
    }
    pongs = 0;
}

/* Each ping has its pong; the last pong is followed by a close. */
static void on_answer(struct peer *peer, int opcode, const char *payload, size_t len)
{
    if (opcode != 10)
        return;
    int i = pongs++ * PING_EVERY;
    CHECK(len == sizeof i && memcmp(payload, &i, sizeof i) == 0);
    if (i + PING_EVERY >= FRAMES)
        peer_close_frame(peer, 1000, "all");
}

static void go_on(uv_timer_t *timer)
{
    struct reader *reader = timer->data;
    reader->paused = false;
    websocket_pause(reader->websocket, false);
}

static void on_opened(void *user)
{
    (void)user;
}

static void on_message(void *user, const char *data, size_t len)
{
    struct reader *reader = user;
    int i = reader->frames++;
    char number[8];
    snprintf(number, sizeof number, "%07d", i);
    if (i < FRAMES)
        CHECK(len == length(i) && memcmp(data, number, 7) == 0 &&
              (len == 8 || data[len - 1] == 'a' + i % 26));
    reader->while_paused += reader->paused;
    if (reader->frames == reader->end_after) {
        websocket_destroy(reader->websocket);
        reader->done = true;
    } else if (reader->pauses && reader->frames % PAUSE_EVERY == 0 && !reader->paused) {
        reader->paused = true;
        websocket_pause(reader->websocket, true);
        uv_timer_start(&reader->timer, go_on, 1, 0);
    }
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct reader *reader = user;
    reader->ended = reader->done = true;
    reader->code = end->code;
}

static const struct websocket_handler handler = {on_opened, on_message, NULL, on_ended};

static void run(struct reader *reader)
{
    char url[64];
    struct server *server = server_start(&loop, SERVER_GOOD, &(struct server_handler){send_all, on_answer});
    snprintf(url, sizeof url, "wss://localhost:%u/stream", server_port(server));
    const struct websocket_config config = {.url = url, .address = "127.0.0.1"};
    uv_timer_init(&loop, &reader->timer);
    reader->timer.data = reader;
    CHECK_INT(websocket_connect(net, &config, &handler, reader, &reader->websocket), 0);
    CHECK(loop_until(&loop, &reader->done));
    if (!reader->end_after)
        websocket_destroy(reader->websocket);
    uv_close((uv_handle_t *)&reader->timer, NULL);
    server_stop(server);
    for (int turn = 0; turn < IDLE_TURNS; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    CHECK(uv_backend_timeout(&loop) != 0); /* nothing turns the loop for its own sake */
}

int main(void)
{
    uv_loop_init(&loop);
    net = loop_net(&loop, server_ca_file(), 0, 0);

    struct reader reader = {0};
    run(&reader);
    CHECK_INT(reader.frames, FRAMES);
    CHECK(reader.ended);
    CHECK_INT(reader.code, 1000);

    reader = (struct reader){.pauses = true};
    run(&reader);
    CHECK_INT(reader.frames, FRAMES);
    CHECK_INT(reader.code, 1000);
    CHECK_INT(reader.while_paused, 0);

    reader = (struct reader){.end_after = FRAMES / 2};
    run(&reader);
    CHECK_INT(reader.frames, FRAMES / 2);
    CHECK(!reader.ended);

    loop_end(&loop, net);
    server_forget_ca();
    return check_done("net read ahead");
}

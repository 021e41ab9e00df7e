/* The shared recordings: every frame goes out as it stands. Skipped where they are absent. */
#include "exchange/replay/recording.h"

#include <sys/stat.h>
#include <zlib.h>

#include "tests/replay/received.h"

static char error[SOURCE_ERROR_MAX];

/* Where the recordings are, or NULL. */
static const char *shared(const char *name)
{
    static char path[4096];
    struct stat st;
    const char *root = getenv("PAPERTAPE_SHARED");
    snprintf(path, sizeof(path), "%s/data/recorded/binance/%s", root ? root : SHARED_DEFAULT, name);
    return stat(path, &st) == 0 ? path : NULL;
}

/* Every recorded frame of the file is received as it stands, in order. */
static void test_passed_on(const char *name, const char *const *names, size_t n)
{
    struct received h = {0};
    struct replay_source *source = NULL;
    struct tape *tape = calloc(1, sizeof(*tape));
    const char *path = shared(name);
    replay_tape_init(tape);
    CHECK_INT(replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error), 0);
    listen_to(tape, &h, names, n);
    play_all(source);

    gzFile in = gzopen(path, "rb");
    char *line = malloc(1 << 22), *at = h.text;
    size_t frames = 0;
    while (gzgets(in, line, 1 << 22)) {
        char *stream = strstr(line, "{\"stream\":\""), *data = stream ? strstr(stream, "\",\"data\":") : NULL;
        if (!data)
            continue;
        *data = '\0';
        char *body = data + strlen("\",\"data\":");
        body[strcspn(body, "\r\n") - 1] = '\0';
        size_t name_len = strlen(stream + 11), body_len = strlen(body);
        bool same = strncmp(at, stream + 11, name_len) == 0 &&
                    strncmp(at + name_len + 1, body, body_len) == 0 && at[name_len + 1 + body_len] == '\n';
        CHECK(same);
        if (!same)
            break;
        at += name_len + body_len + 2;
        frames++;
    }
    CHECK_INT(frames, h.messages);
    printf("%s: %zu frames passed on as they stand\n", name, frames);
    gzclose(in);
    free(line);
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    free(h.text);
}

int main(void)
{
    static const char *const spot[] = {"btcusdt@depth@100ms", "btcusdt@bookTicker", "btcusdt@trade"};
    static const char *const sync[] = {
        "nknusdt@depth@100ms", "blzeth@depth@100ms", "lrcbtc@depth@100ms", "runeeur@depth@100ms",
        "nknusdt@bookTicker",  "blzeth@bookTicker",  "lrcbtc@bookTicker",  "runeeur@bookTicker",
        "nknusdt@kline_1m",    "blzeth@kline_1m",    "lrcbtc@kline_1m",    "runeeur@kline_1m",
        "nknusdt@aggTrade",    "blzeth@aggTrade",    "lrcbtc@aggTrade",    "runeeur@aggTrade"};
    if (!shared("btcusdt_2024-08-08.jsonl.gz") || !shared("book_sync_2021-10.ws.gz")) {
        puts("recordings: the shared recordings are absent: skipped");
        return CHECK_SKIP;
    }
    test_passed_on("btcusdt_2024-08-08.jsonl.gz", spot, sizeof(spot) / sizeof(*spot));
    test_passed_on("book_sync_2021-10.ws.gz", sync, sizeof(sync) / sizeof(*sync));
    return check_done("recordings");
}

/* Hundreds of symbols over TLS on one core: feed_many FOLDER WS_URL CA_FILE SECONDS < LINES.
 * bench/feed_many.py runs it, beside papertape-replay on another core.
 *
 * Standard input names the symbols that are streamed, a line each, up to a line "-". Whenever it prints "need
 * SYMBOL" a line "SYMBOL {depth reply}" is to follow; once all books are there it settles and measures. All
 * of papertaped's way runs in this process, its threads and all kept on one core: TLS and websockets,
 * the venue's parser, the session (event log, engine with a strategy on bars of a second, books, rows for the
 * database, which commits to a file in FOLDER).
 *
 * A frame's latency is counted to when the engine has decided on it, from when the kernel had the first bytes
 * of all that OpenSSL read with it, by the kernel's own stamp (SO_TIMESTAMPNS): so what waits in the socket,
 * or in OpenSSL, behind others counts. The kernel may join bytes that wait, under the stamp of the later
 * ones: so `p99_since_empty` counts from when the socket was last seen empty, before which no byte can have
 * come. Lines on standard output: case, value, unit, limit between tabs.
 *
 * Prediction: 50,000 frames/s at 0.4 us to parse and apply, 0.5 us for the engine and its rows, 1 us for TLS
 * of a frame of 200 bytes (a read for all that waits, not two and a poll for each: those were 3 us) and 0.5
 * us for the websocket, 0.5 us for the log: 3 us, 15 % of the core; p50 100 us, since the replay sends what
 * is due of half a millisecond in one go; p99 500 us, when 500 bars end at once (each second: 500 frames
 * more, 1.5 ms of work, which their sender needs too). The log's and the database's threads need 7 % of the
 * core, a few milliseconds at a time: what comes meanwhile must not wait for the end of their time slice. */
#include <dlfcn.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench/frames.h"
#include "daemon/log.h"
#include "daemon/priority.h"
#include "daemon/session.h"
#include "engine/event.h"
#include "exchange/binance/rest_parse.h"
#include "exchange/net/context.h"
#include "exchange/venues.h"

enum {
    STREAMS_MAX = 1000, /* names a connection */
    CONNECTIONS_MAX = 32,
    LATENCY_US_MAX = 1000000,
    KINDS = 4,
    SETTLE_MS = 3000,
    P99_US_MAX = 1000,
};

#define SECOND_NS 1000000000LL

struct many {
    uv_loop_t loop;
    uv_pipe_t input;
    uv_timer_t timer;
    struct net_context *net;
    const struct venue *venue;
    struct venue_stream *streams[CONNECTIONS_MAX];
    int n_streams, n_up;
    struct venue_parser *parser;
    struct session *session;
    struct symbol *symbols;
    int n_symbols;
    char *line;
    size_t n_line, cap_line;
    int64_t seconds;
    bool settled, measuring;
    uint64_t frames, lost_connections, bad, lost_before;
    uint32_t latencies[LATENCY_US_MAX + 1],
        since_empty[LATENCY_US_MAX + 1]; /* by microsecond; the last: longer */
    int64_t begin_ns, begin_cpu_ns;
};

static struct many many;

enum { FDS_MAX = 1024 };

static struct {
    bool is_tcp, is_other;
    int64_t first_ns;               /* when the kernel had the first bytes of those read last */
    int64_t empty_ns, was_empty_ns; /* when there were no more; and before those */
} sockets[FDS_MAX];
static int reading; /* the socket of the connection whose record was asked for last */

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "feed_many: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* Of all threads. */
static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static bool is_tcp(int fd)
{
    int type = 0, domain = 0, on = 1;
    socklen_t len = sizeof type;
    bool tcp = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM;
    len = sizeof domain;
    tcp = tcp && getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_INET &&
          setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) == 0;
    errno = 0;
    return tcp;
}

/* When the kernel had the first byte that waits; 0: none does. */
static int64_t stamp_of_first(int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
    } control;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);
    for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL; c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec at;
            memcpy(&at, CMSG_DATA(c), sizeof at);
            return at.tv_sec * SECOND_NS + at.tv_nsec;
        }
    return 0;
}

/* Takes the C library's place for OpenSSL too: of TCP sockets it asks the kernel when the bytes came. */
ssize_t read(int fd, void *buf, size_t size)
{
    if (fd < 0 || fd >= FDS_MAX || sockets[fd].is_other)
        return syscall(SYS_read, fd, buf, size);
    if (!sockets[fd].is_tcp) {
        sockets[fd].is_tcp = is_tcp(fd);
        sockets[fd].is_other = !sockets[fd].is_tcp;
        return syscall(SYS_read, fd, buf, size);
    }
    int64_t first_ns = stamp_of_first(fd);
    ssize_t n = syscall(SYS_read, fd, buf, size);
    int saved = errno;
    if (n > 0) {
        sockets[fd].first_ns = first_ns;
        sockets[fd].was_empty_ns = sockets[fd].empty_ns;
    }
    if (n < (ssize_t)size)
        sockets[fd].empty_ns = wall_ns();
    errno = saved;
    return n;
}

/* Likewise: many records come of one read, and those of two connections by turns. */
int SSL_read(SSL *ssl, void *buf, int size)
{
    static int (*theirs)(SSL *, void *, int);
    if (!theirs)
        *(void **)&theirs = dlsym(RTLD_NEXT, "SSL_read");
    reading = SSL_get_fd(ssl);
    return theirs(ssl, buf, size);
}

/* --- what comes in */

static void need_snapshot(void *ctx, int symbol)
{
    (void)ctx;
    printf("need %s\n", many.symbols[symbol].name);
    fflush(stdout);
}

static void need_bars(void *ctx, int symbol, int64_t from_open_ns, int64_t to_open_ns)
{
    (void)ctx, (void)symbol, (void)from_open_ns, (void)to_open_ns;
}

static void command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                         uint64_t order_id)
{
    (void)ctx, (void)command, (void)reason, (void)order_id;
}

static void committed(void *ctx, uint64_t ticket)
{
    (void)ctx, (void)ticket;
}

static void count(uint32_t *latencies, int64_t ns)
{
    int64_t us = ns / 1000;
    latencies[us < 0 ? 0 : us < LATENCY_US_MAX ? us : LATENCY_US_MAX]++;
}

static void on_frame(void *user, const char *data, size_t len)
{
    (void)user;
    struct event event = {.kind = EVENT_MARKET};
    for (size_t pos = 0; pos < len;) {
        int r = many.venue->format->parse(many.parser, data, len, &pos, &event.market);
        many.bad += r < 0;
        if (r != 0)
            continue;
        daemon_session_event(many.session, &event);
        if (!many.measuring)
            continue;
        int64_t now_ns = wall_ns();
        count(many.latencies, now_ns - sockets[reading].first_ns);
        count(many.since_empty, now_ns - sockets[reading].was_empty_ns);
        many.frames++;
    }
}

static void on_state(void *user, const struct venue_status *status)
{
    int *up = user;
    bool is = status->link == VENUE_UP;
    many.lost_connections += *up && !is && many.measuring;
    many.n_up += (int)is - *up;
    *up = is;
    if (status->link == VENUE_FAILED || status->link == VENUE_FINAL)
        die("stream", status->detail);
}

/* --- figures */

static size_t resident(void)
{
    unsigned long pages, rss = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &pages, &rss) != 2)
        rss = 0;
    if (file)
        fclose(file);
    return rss * (size_t)sysconf(_SC_PAGESIZE);
}

static void print_latency(const char *name, const uint32_t *latencies, double quantile, int us_max)
{
    uint64_t wanted = (uint64_t)(quantile * (double)many.frames), sum = 0;
    int us = 0;
    while (us < LATENCY_US_MAX && (sum += latencies[us]) < wanted)
        us++;
    printf("%s\t%.6f\ts\t", name, us * 1e-6);
    if (us_max)
        printf("%.6f", us_max * 1e-6);
    putchar('\n');
}

static size_t book_memory(void)
{
    size_t bytes = 0;
    for (int s = 0; s < many.n_symbols; s++)
        bytes += book_bytes(engine_book(daemon_session_engine(many.session), s));
    return bytes;
}

static uint64_t lost_so_far(void)
{
    uint64_t lost = many.lost_connections + many.bad;
    for (int s = 0; s < many.n_symbols; s++) {
        const struct book *book = engine_book(daemon_session_engine(many.session), s);
        lost += book->gaps + book->crossed;
    }
    return lost;
}

static int books_synced(void)
{
    int n = 0;
    for (int s = 0; s < many.n_symbols; s++)
        n += engine_book(daemon_session_engine(many.session), s)->state == BOOK_SYNCED;
    return n;
}

static void finish(uv_timer_t *timer)
{
    (void)timer;
    uint64_t lost = lost_so_far() - many.lost_before + (uint64_t)(many.n_symbols - books_synced());
    double seconds = (double)(wall_ns() - many.begin_ns) * 1e-9;
    printf("frames\t%.0f\tframes/s\t\n", (double)many.frames / seconds);
    print_latency("p50", many.latencies, 0.5, 0);
    print_latency("p99", many.latencies, 0.99, P99_US_MAX);
    print_latency("p99.9", many.latencies, 0.999, 0);
    print_latency("max", many.latencies, 1, 0);
    print_latency("p99_since_empty", many.since_empty, 0.99, 0);
    printf("cpu\t%.4f\tcores\t1\n", (double)(cpu_ns() - many.begin_cpu_ns) * 1e-9 / seconds);
    printf("lost\t%llu\tframes, books and connections\t\n", (unsigned long long)lost);
    printf("resident_symbol\t%.0f\tB\t\n",
           (double)(resident() - sizeof many.latencies - sizeof many.since_empty) / many.n_symbols);
    printf("book_symbol\t%.0f\tB\t\n", (double)book_memory() / many.n_symbols);
    fflush(stdout);
    for (int i = 0; i < many.n_streams; i++)
        many.venue->stream_destroy(many.streams[i]);
    _exit(lost ? EXIT_FAILURE : EXIT_SUCCESS); /* the scratch database is deleted */
}

static void begin_measuring(uv_timer_t *timer)
{
    if (books_synced() < many.n_symbols) {
        many.settled = false;
        return;
    }
    if (!many.settled) { /* another while for what is on its way */
        many.settled = true;
        return;
    }
    many.measuring = true;
    many.lost_before = lost_so_far();
    many.begin_ns = wall_ns();
    many.begin_cpu_ns = cpu_ns();
    uv_timer_start(timer, finish, (uint64_t)many.seconds * 1000, 0);
}

/* --- what is asked for */

static void take_snapshot(char *line, size_t len)
{
    static struct book_level bids[FRAMES_LEVELS_MAX], asks[FRAMES_LEVELS_MAX];
    struct event event = {.kind = EVENT_SNAPSHOT, .snapshot = {.bids = bids, .asks = asks}};
    struct event_snapshot *snapshot = &event.snapshot;
    char *reply = memchr(line, ' ', len);
    if (!reply)
        die(line, "a symbol and its depth are needed");
    *reply++ = '\0';
    while (snapshot->symbol < many.n_symbols && strcmp(many.symbols[snapshot->symbol].name, line) != 0)
        snapshot->symbol++;
    if (snapshot->symbol == many.n_symbols ||
        binance_parse_depth(reply, len - (size_t)(reply - line), &many.symbols[snapshot->symbol], bids,
                            &snapshot->n_bids, asks, &snapshot->n_asks, FRAMES_LEVELS_MAX,
                            &snapshot->last_id) < 0)
        die(line, "its depth is malformed");
    daemon_session_event(many.session, &event);
}

static void room_for_input(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
    (void)handle;
    if (many.cap_line - many.n_line < wanted) {
        many.cap_line = many.n_line + wanted;
        many.line = realloc(many.line, many.cap_line);
        if (!many.line)
            die("input", strerror(ENOMEM));
    }
    *ret = uv_buf_init(many.line + many.n_line, (unsigned)wanted);
}

static void on_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    (void)buf;
    if (n < 0) {
        uv_read_stop(stream);
        return;
    }
    many.n_line += (size_t)n;
    char *line = many.line, *end;
    while ((end = memchr(line, '\n', many.n_line - (size_t)(line - many.line)))) {
        *end = '\0';
        take_snapshot(line, (size_t)(end - line));
        line = end + 1;
    }
    many.n_line -= (size_t)(line - many.line);
    memmove(many.line, line, many.n_line);
}

static void follow(const char *ws_url)
{
    static const enum market_kind kinds[KINDS] = {MARKET_TRADE, MARKET_QUOTE, MARKET_DEPTH, MARKET_KLINE};
    static const struct venue_stream_handler handler = {.state = on_state, .frame = on_frame};
    static int up[CONNECTIONS_MAX];
    size_t n = (size_t)many.n_symbols * KINDS;
    char(*names)[VENUE_STREAM_NAME_MAX] = calloc(n, sizeof *names);
    const char **list = calloc(n, sizeof *list);
    if (!names || !list || n > (size_t)CONNECTIONS_MAX * STREAMS_MAX)
        die("streams", "too many");
    for (size_t i = 0; i < n; i++) {
        list[i] = names[i];
        if (many.venue->stream_name(many.symbols[i / KINDS].name, kinds[i % KINDS], SECOND_NS, names[i]) < 0)
            die(many.symbols[i / KINDS].name, "it has no such stream");
    }
    many.n_streams = (int)((n + STREAMS_MAX - 1) / STREAMS_MAX);
    for (int i = 0; i < many.n_streams; i++) {
        size_t from = (size_t)i * STREAMS_MAX, left = n - from;
        struct venue_stream_config config = {.net = many.net,
                                             .ws_url = ws_url,
                                             .streams = list + from,
                                             .n_streams = left < STREAMS_MAX ? left : STREAMS_MAX,
                                             .jitter_seed = 1};
        if (many.venue->stream_create(&config, &handler, &up[i], &many.streams[i]) < 0)
            die(ws_url, "no stream can be made");
    }
    free(list);
    free(names);
}

/* Symbols, up to a line "-". Byte by byte: what follows is the loop's. */
static void read_symbols(void)
{
    char name[SYMBOL_NAME_MAX + 1];
    for (;;) {
        size_t len = 0;
        for (char c; len < SYMBOL_NAME_MAX && read(STDIN_FILENO, &c, 1) == 1 && c != '\n';)
            name[len++] = c;
        name[len] = '\0';
        if (len == 0 || len == SYMBOL_NAME_MAX)
            die(name, "symbols are needed, then a line -");
        if (strcmp(name, "-") == 0)
            return;
        many.symbols = realloc(many.symbols, (size_t)(many.n_symbols + 1) * sizeof *many.symbols);
        if (!many.symbols)
            die("symbols", strerror(ENOMEM));
        struct symbol *symbol = &many.symbols[many.n_symbols++];
        *symbol = frames_symbol;
        memcpy(symbol->name, name, len + 1);
        snprintf(symbol->base, sizeof symbol->base, "%.*s", (int)(len > 4 ? len - 4 : len), name);
        snprintf(symbol->venue, sizeof symbol->venue, "%s", many.venue->format->name);
    }
}

int main(int argc, char **argv)
{
    char err[SESSION_ERROR_MAX];
    struct daemon_config config;
    struct state_dir state;
    struct session_hooks hooks = {.need_snapshot = need_snapshot,
                                  .need_bars = need_bars,
                                  .command_done = command_done,
                                  .committed = committed};
    if (argc != 5) {
        fputs("usage: feed_many FOLDER WS_URL CA_FILE SECONDS\n", stderr);
        return 2;
    }
    frames_pin();
    prctl(PR_SET_TIMERSLACK, 1);
    daemon_log_init(LOG_LEVEL_ERROR);
    daemon_config_defaults(&config);
    config.interval_ns = SECOND_NS;
    many.seconds = atoll(argv[4]);
    many.venue = venue_default();
    read_symbols();
    if (uv_loop_init(&many.loop) < 0 || uv_pipe_init(&many.loop, &many.input, 0) < 0 ||
        uv_pipe_open(&many.input, STDIN_FILENO) < 0 || uv_timer_init(&many.loop, &many.timer) < 0)
        die("loop", "it cannot be made");
    const struct net_config net = {.loop = &many.loop, .ca_file = argv[3]};
    mkdir(argv[1], 0750);
    if (net_context_create(&net, &many.net, err) < 0 ||
        db_state_dir_find(argv[1], &state, err, sizeof err) < 0 ||
        db_state_dir_create(&state, err, sizeof err) < 0 ||
        daemon_session_open(&many.loop, &config, &state, &hooks, &many.session, err, sizeof err) < 0 ||
        daemon_session_begin(many.session, many.symbols, many.n_symbols, wall_ns(), err, sizeof err) < 0)
        die(argv[1], err);
    if (many.venue->format->parser_create(many.symbols, (size_t)many.n_symbols, &many.parser) < 0)
        die("parser", strerror(ENOMEM));
    struct event up = {.kind = EVENT_CONNECTION, .connection.up = true};
    daemon_session_event(many.session, &up);
    follow(argv[2]);
    uv_timer_start(&many.timer, begin_measuring, SETTLE_MS, SETTLE_MS);
    daemon_priority_prompt();
    uv_read_start((uv_stream_t *)&many.input, room_for_input, on_input);
    uv_run(&many.loop, UV_RUN_DEFAULT);
    die("loop", "it ended too early");
}

/* What a venue does wrong, and what its user does in a callback: malformed replies and messages, failures,
 * limits; calls that are cancelled, and objects that are destroyed, from within. */
#ifndef TESTS_EXCHANGE_VENUE_CONTRACT_REFUSED_H
#define TESTS_EXCHANGE_VENUE_CONTRACT_REFUSED_H

#include "tests/exchange/venue_contract/rest.h"
#include "tests/net/server.h"

#define SECOND_NS 1000000000LL
#define BAN_NS    (600 * SECOND_NS)
#define HOUR_NS   (3600 * SECOND_NS)

/* From within callbacks streams and queues are destroyed, and calls cancelled: no callback follows. */
static void test_callbacks(struct world *world, struct answer *answer, const char *const *names, size_t n)
{
    static struct answer never, later;
    struct listener *at_state = listen_at(world, "at state", world->replay.ws_url, names, n, 0, 0);
    struct listener *at_frame = listen_at(world, "at frame", world->replay.ws_url, names, n, 0, 0);
    at_state->destroy_in_state = at_frame->destroy_in_frame = true;
    UNTIL(world, at_state->destroyed && at_frame->destroyed);

    struct venue_rest *rest = world_rest(world);
    struct venue_call *second;
    expect(answer, VENUE_REPLY_TIME);
    expect(&never, VENUE_REPLY_TIME);
    expect(&later, VENUE_REPLY_TIME);
    CHECK_INT(net_requests_time(rest, on_answer, &never, &second), 0);
    net_requests_cancel(rest, second); /* before it is sent */
    CHECK_INT(net_requests_time(rest, on_answer, answer, NULL), 0);
    CHECK_INT(net_requests_time(rest, on_answer, &never, &second), 0);
    CHECK_INT(net_requests_time(rest, on_answer, &later, NULL), 0);
    answer->rest = rest;
    answer->cancel = second;
    answer->unless = &never.done;
    UNTIL(world, answer->done && later.done);
    bool before = never.done; /* it was answered before the one that would have cancelled it */
    answer->cancel = NULL;
    answer->unless = NULL;

    /* Of several pages the first one cancels the rest. */
    int64_t now_ns = ask_time(world, rest, answer), page = world->venue->bars_page;
    int64_t end_ns = bar_open_time(now_ns, MINUTE_NS);
    const struct venue_bars_request request =
        bars_of(&world->symbols[1], end_ns - (page + 10) * MINUTE_NS, end_ns, now_ns, 0);
    expect(answer, VENUE_REPLY_BARS);
    CHECK_INT(net_requests_bars(rest, &request, on_answer, answer, &answer->cancel), 0);
    UNTIL(world, answer->pages > 0);
    answer->cancel = NULL;
    ask_time(world, rest, &later);
    CHECK(answer->pages == 1 && !answer->done);
    CHECK_INT(never.done, before);

    expect(answer, VENUE_REPLY_TIME);
    expect(&never, VENUE_REPLY_BARS);
    answer->destroy = true;
    CHECK_INT(net_requests_time(rest, on_answer, answer, NULL), 0);
    UNTIL(world, answer->done); /* and the queue is gone */
    answer->destroy = false;
    world_idle(world);
    forget(at_state);
    forget(at_frame);
}

/* What is refused at once, and what needs keys and has none. */
static void test_arguments(struct world *world, const char *const *names, size_t n)
{
    const struct venue *venue = world->venue;
    struct symbol twice[SYMBOLS] = {world->symbols[0], world->symbols[0]};
    struct venue_symbol wanted[1] = {{.name = "NONE"}};
    struct venue_parser *parser = NULL;
    struct venue_stream *stream = NULL;
    struct venue_rest *rest = NULL;
    struct venue_stream_config config = {.net = world->net,
                                         .ws_url = "ftp://localhost",
                                         .streams = names,
                                         .n_streams = n,
                                         .keys = world_keys(world)};
    const struct venue_rest_config rest_config = {
        .net = world->net, .rest_url = "wss://localhost", .keys = world_keys(world)};
    int r = venue->stream_create(&config, &handler, NULL, &stream);
    CHECK(r == -EINVAL || r == -EPROTONOSUPPORT);
    r = venue->rest_create(&rest_config, &rest);
    CHECK(r == -EINVAL || r == -EPROTONOSUPPORT);
    CHECK_INT(venue->format->parser_create(twice, SYMBOLS, &parser), -EINVAL);
    CHECK_INT(venue->format->parser_create(world->symbols, 1, &parser), 0);
    CHECK_INT(venue->format->parser_grow(parser, SYMBOLS), 0);
    CHECK_INT(venue->format->parser_grow(parser, SYMBOLS_MAX + 1), -EINVAL);
    CHECK_INT(venue->format->list_parse("[{", 2, wanted, 1), -EBADMSG);
    CHECK(!wanted[0].found && venue->format->fees->n > 0);
    venue->format->parser_destroy(parser);
    venue->format->parser_destroy(NULL);
    venue->stream_destroy(NULL);
    net_requests_destroy(NULL);
    if (!venue->needs_keys)
        return;
    struct listener l = {.world = world, .keyless = true};
    config.ws_url = world->replay.ws_url;
    config.keys = (struct venue_keys){NULL, NULL};
    CHECK_INT(venue->stream_create(&config, &handler, &l, &l.stream), 0);
    UNTIL(world, status_of(&l)->link == VENUE_FINAL);
    CHECK(status_of(&l)->attempts == 0 && status_of(&l)->retry_ms == 0 && status_of(&l)->detail[0]);
    venue->stream_destroy(l.stream);
}

/* Answers that fail or end half way are tried again. */
static void test_broken(struct world *world, struct answer *answer)
{
    enum { CALLS = 10 };
    static const char *const faults[] = {"5xx", "half-answer"};
    struct venue_rest *rest = world_rest(world);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        uint64_t failures = net_requests_status(rest)->failures;
        world_fault(world, faults[i]);
        for (int k = 0; k < CALLS; k++)
            ask_time(world, rest, answer);
        CHECK(net_requests_status(rest)->failures > failures);
        CHECK(net_requests_status(rest)->detail[0]);
    }
    check_rest_status(rest);
    net_requests_destroy(rest);
}

/* Another server in the venue's place, which answers what no venue may. */
static const char *const nonsense[] = {
    "",
    "{",
    "[",
    "null",
    "{}",
    "[]",
    "[[[[[[[[[[[",
    "\"\\ud800\"",
    "{\"T\":1}",
    "[{\"T\":\"t\"}]",
    "\x81\xa1T\xa1t",
    "{\"stream\":\"btcusdt@trade\",\"data\":{\"e\":\"trade\",\"p\":1e999}}",
    "[\"trade\",\"AAA-USD\",1]",
    "{\"symbols\":[{}]}",
    "{\"code\":\"x\",\"message\":7}",
    "\xff\xfe\xfd",
    "[1795750564,\"9223372036854775808\",\"0\",\"0\",\"0\"]",
    "{\"bars\":{\"BTC/USD\":[{\"t\":\"2025-99-99T\"}]}}",
};

enum { NONSENSE = sizeof nonsense / sizeof *nonsense };

struct hostile {
    size_t at;
    int upgrades;
};

static void hostile_request(struct peer *peer, const char *head)
{
    struct hostile *hostile = peer_user(peer);
    const char *body = nonsense[hostile->at % NONSENSE];
    if (strstr(head, "pgrade: websocket") || strstr(head, "Sec-WebSocket-Key")) {
        hostile->upgrades++;
        peer_upgrade(peer);
        for (int i = 0; i < NONSENSE; i++) {
            peer_frame(peer, true, 2, nonsense[i], strlen(nonsense[i]));
            if ((unsigned char)nonsense[i][0] < 0x80)
                peer_text(peer, nonsense[i]);
        }
        return;
    }
    peer_print(peer, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               strlen(body));
    peer_write(peer, body, strlen(body));
}

static void hostile_frame(struct peer *peer, int opcode, const char *payload, size_t len)
{
    (void)peer;
    (void)opcode;
    (void)payload;
    (void)len;
}

/* A malformed reply is -EBADMSG, or an empty one where it is of that form; nothing is made of it. */
static void ask_hostile(struct world *world, struct venue_rest *rest, struct answer *answer)
{
    const char *const names[] = {world->symbols[0].name, world->symbols[1].name};
    const struct venue_bars_request bars = bars_of(&world->symbols[1], MINUTE_NS, 9 * MINUTE_NS, DAY_NS, 0);
    const struct venue_latest_request latest = {.symbol = &world->symbols[1], .kind = MARKET_TRADE};
    ASK(world, answer, VENUE_REPLY_TIME, net_requests_time(rest, on_answer, answer, NULL));
    CHECK_INT(answer->error, -EBADMSG);
    ASK(world, answer, VENUE_REPLY_SYMBOLS,
        net_requests_symbols(rest, names, SYMBOLS, on_answer, answer, NULL));
    CHECK(answer->error == -EBADMSG || (answer->error == 0 && answer->missing == SYMBOLS));
    ASK(world, answer, VENUE_REPLY_BARS, net_requests_bars(rest, &bars, on_answer, answer, NULL));
    CHECK((answer->error == -EBADMSG || answer->error == 0) && answer->n_bars == 0);
    ASK(world, answer, VENUE_REPLY_LATEST, net_requests_latest(rest, &latest, on_answer, answer, NULL));
    CHECK((answer->error == -EBADMSG || answer->error == 0) && answer->n_events == 0);
}

/* Symbols that no list has said. */
static void name_symbols(struct world *world)
{
    for (int i = 0; i < SYMBOLS; i++) {
        struct symbol *symbol = &world->symbols[i];
        *symbol = (struct symbol){.price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
        snprintf(symbol->name, sizeof symbol->name, "%s", world->subject->symbols[i]);
    }
}

static void test_hostile(const struct subject *subject, struct answer *answer)
{
    static struct world world;
    struct hostile hostile = {0};
    const struct server_handler server_handler = {hostile_request, hostile_frame, &hostile, NULL};
    char url[64], texts[NAMES_MAX + 1][VENUE_STREAM_NAME_MAX];
    world_net(&world, subject, server_ca_file());
    struct server *server = server_start(&world.loop, SERVER_GOOD, &server_handler);
    name_symbols(&world);
    snprintf(url, sizeof url, "https://localhost:%u", server_port(server));
    struct venue_rest *rest = world_rest_at(&world, url, (struct venue_ban){0});
    for (hostile.at = 0; hostile.at < NONSENSE; hostile.at++)
        ask_hostile(&world, rest, answer);
    CHECK(net_requests_status(rest)->failures >= NONSENSE);
    check_rest_status(rest);
    net_requests_destroy(rest);

    snprintf(url, sizeof url, "wss://localhost:%u", server_port(server));
    const char *names[NAMES_MAX];
    size_t n = stream_names(&world, 1, texts);
    for (size_t i = 0; i < n; i++)
        names[i] = texts[i];
    struct listener *l = listen_at(&world, "hostile", url, names, n, 0, 0);
    UNTIL(&world, l->bad + l->unread >= NONSENSE);
    CHECK(hostile.upgrades > 0);
    for (int i = 0; i < NAMES_MAX; i++)
        CHECK_INT(seen_of(l, (enum market_kind)(i / SYMBOLS), i % SYMBOLS), 0);
    check_status(l, status_of(l));
    forget(l);
    server_stop(server);
    world_idle(&world);
    world_end(&world);
}

/* An hour of a limit with Retry-After, to the stream and to REST: each reports it, to the second, and tries
 * nothing more. */
static void test_limits(const struct subject *subject, const char *fault, struct answer *answer)
{
    static struct world world;
    struct listener rest_bans = {.world = &world};
    char name[VENUE_STREAM_NAME_MAX];
    const char *const names[] = {name};
    world_begin(&world, subject, fault);
    name_symbols(&world);
    CHECK_INT(world.venue->stream_name(world.symbols[1].name, MARKET_TRADE, 0, name), 0);
    int64_t least_ns = clock_wall_ns() + HOUR_NS - SECOND_NS;
    struct venue_rest *rest =
        world_rest_at(&world, world.replay.rest_url, (struct venue_ban){0, on_ban, &rest_bans});
    struct listener *l = listen_at(&world, "limited", world.replay.ws_url, names, 1, 0, 0);
    expect(answer, VENUE_REPLY_TIME);
    CHECK_INT(net_requests_time(rest, on_answer, answer, NULL), 0);
    UNTIL(&world, l->bans > 0 && rest_bans.bans > 0);
    uint64_t attempts = status_of(l)->attempts, requests = net_requests_status(rest)->requests;
    world_idle(&world);
    int64_t most_ns = clock_wall_ns() + HOUR_NS + SECOND_NS;
    CHECK(l->ban_until_ns >= least_ns && l->ban_until_ns <= most_ns);
    CHECK(rest_bans.ban_until_ns >= least_ns && rest_bans.ban_until_ns <= most_ns);
    CHECK(status_of(l)->link == VENUE_WAITING && status_of(l)->attempts == attempts &&
          status_of(l)->detail[0]);
    CHECK(clock_wall_of_ms(status_of(l)->retry_ms) >= least_ns);
    CHECK(net_requests_status(rest)->requests == requests && !answer->done);
    CHECK(clock_wall_of_ms(net_requests_status(rest)->paused_until_ms) >= least_ns);
    forget(l);
    net_requests_destroy(rest);
    world_end(&world);
}

/* A second of it: then both are well. A ban that is known from before lets nothing out, and neither does one
 * that another part met; what is connected stays. */
static void test_bans(const struct subject *subject, struct answer *answer)
{
    static struct world world;
    static struct answer other;
    struct listener rest_bans = {0};
    char texts[NAMES_MAX + 1][VENUE_STREAM_NAME_MAX];
    const char *names[NAMES_MAX];
    world_begin(&world, subject, "429:1s");
    rest_bans.world = &world;
    name_symbols(&world);
    size_t n = stream_names(&world, 1, texts);
    for (size_t i = 0; i < n; i++)
        names[i] = texts[i];

    int64_t now_ns = clock_wall_ns();
    struct venue_rest *held =
        world_rest_at(&world, world.replay.rest_url, (struct venue_ban){now_ns + BAN_NS, NULL, NULL});
    struct listener *banned = listen_at(&world, "banned", world.replay.ws_url, names, n, 0, now_ns + BAN_NS);
    expect(&other, VENUE_REPLY_TIME);
    CHECK_INT(net_requests_time(held, on_answer, &other, NULL), 0);

    struct venue_rest *rest =
        world_rest_at(&world, world.replay.rest_url, (struct venue_ban){0, on_ban, &rest_bans});
    struct listener *l = listen_at(&world, "limited", world.replay.ws_url, names, n, 0, 0);
    expect(answer, VENUE_REPLY_TIME);
    CHECK_INT(net_requests_time(rest, on_answer, answer, NULL), 0);
    UNTIL(&world, answer->done && is_up(l) && (l->bans > 0 || rest_bans.bans > 0));
    int64_t until_ns = l->ban_until_ns > rest_bans.ban_until_ns ? l->ban_until_ns : rest_bans.ban_until_ns;
    printf("limited: %llu times the stream, %llu times REST\n", (unsigned long long)l->bans,
           (unsigned long long)rest_bans.bans);
    CHECK_INT(answer->error, 0);
    CHECK(until_ns > now_ns && clock_wall_ns() > now_ns);

    CHECK(status_of(banned)->link == VENUE_WAITING && status_of(banned)->attempts == 0);
    CHECK(status_of(banned)->retry_ms > clock_now_ms() && banned->frames == 0);
    CHECK(net_requests_status(held)->requests == 0 && !other.done);
    CHECK(net_requests_status(held)->paused_until_ms > clock_now_ms());
    net_requests_hold(rest, now_ns + BAN_NS, "by another part");
    uint64_t requests = net_requests_status(rest)->requests;
    expect(answer, VENUE_REPLY_TIME);
    CHECK_INT(net_requests_time(rest, on_answer, answer, NULL), 0);
    if (world.venue->stream_hold)
        world.venue->stream_hold(l->stream, now_ns + BAN_NS, "by another part");
    world_idle(&world);
    CHECK(net_requests_status(rest)->requests == requests && !answer->done);
    CHECK(is_up(l));
    forget(banned);
    forget(l);
    net_requests_destroy(held);
    net_requests_destroy(rest);
    world_end(&world);
}

#endif

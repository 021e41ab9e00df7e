/* Streams: what is received is kept, and what two of the same names received is compared. */
#ifndef TESTS_EXCHANGE_VENUE_CONTRACT_STREAMS_H
#define TESTS_EXCHANGE_VENUE_CONTRACT_STREAMS_H

#include "exchange/market.h"
#include "tests/exchange/venue_contract/world.h"

enum {
    NAMES_MAX = SYMBOLS * MARKET_CHANNELS,
    EVENTS_MAX = 1 << 16,
    BARS_MAX = 512,
    PATIENCE = 300,
    DAMAGED_EVERY = 16
};

struct event_seen {
    uint64_t hash;
    uint32_t epoch; /* how often the link was reported to be away before */
};

/* Of one kind and symbol, in order. */
struct sequence {
    struct event_seen *list;
    size_t n, cap;
};

struct listener {
    struct world *world;
    const char *who;
    struct venue_stream *stream;
    struct venue_parser *parser, *damaged; /* the second one of what is damaged on purpose */
    uint32_t epoch;
    uint64_t frames, bytes, unread, bad, states;
    struct sequence seen[MARKET_CHANNELS][SYMBOLS];
    struct bar bars[SYMBOLS][BARS_MAX]; /* closed ones of a minute, with their revisions */
    size_t n_bars[SYMBOLS];
    struct market_trade
        trades[EVENTS_MAX]; /* of the first symbol, as REST has those of the past; without a hole */
    size_t n_trades;
    int64_t last_ns;
    uint64_t quiet; /* frames since the last one of the first symbol */
    bool keyless, destroy_in_state, destroy_in_frame, destroyed;
    int64_t ban_until_ns;
    uint64_t bans;
};

static const char kind_letters[] = "takqdT"; /* trade, aggregate, kline, quote, depth, ticker */

/* Names of all streams that it has of a symbol, and of those it has not -EINVAL alone. */
static size_t stream_names(const struct world *world, int symbol, char ret[][VENUE_STREAM_NAME_MAX])
{
    const struct venue *venue = world->venue;
    const char *name = world->subject->symbols[symbol];
    char other[VENUE_STREAM_NAME_MAX], long_name[VENUE_STREAM_NAME_MAX + 1];
    size_t n = 0;
    for (int kind = 0; kind < MARKET_KINDS; kind++) {
        int r = venue->stream_name(name, (enum market_kind)kind, MINUTE_NS, ret[n]);
        CHECK(r == 0 || r == -EINVAL);
        CHECK(r < 0 || kind < MARKET_CHANNELS);
        if (symbol == 1 && kind < MARKET_CHANNELS)
            CHECK_INT(r == 0, strchr(world->subject->kinds, kind_letters[kind]) != NULL);
        CHECK(r < 0 || strlen(ret[n]) > 0);
        for (size_t i = 0; r == 0 && i < n; i++)
            CHECK(strcmp(ret[i], ret[n]) != 0);
        n += r == 0;
    }
    CHECK_INT(venue->stream_name(name, MARKET_KINDS, MINUTE_NS, other), -EINVAL);
    CHECK_INT(venue->stream_name(name, MARKET_KLINE, 7, other), -EINVAL);
    memset(long_name, 'A', VENUE_STREAM_NAME_MAX);
    long_name[VENUE_STREAM_NAME_MAX] = '\0';
    CHECK_INT(venue->stream_name(long_name, MARKET_TRADE, 0, other), -ENAMETOOLONG);
    return n;
}

static void hash_in(uint64_t *hash, uint64_t value)
{
    *hash = (*hash ^ value) * 0x9e3779b97f4a7c15u;
    *hash ^= *hash >> 29;
}

/* 0: one that may be like the next, as summaries of a day that have no time. */
static uint64_t hash_event(const struct market_event *event)
{
    uint64_t hash = 1;
    if (event->kind == MARKET_TICKER && event->event_ns == 0)
        return 0;
    hash_in(&hash, (uint64_t)event->event_ns);
    switch (event->kind) {
    case MARKET_TRADE:
    case MARKET_AGG_TRADE:
        hash_in(&hash, (uint64_t)event->trade.id);
        hash_in(&hash, (uint64_t)event->trade.price);
        hash_in(&hash, (uint64_t)event->trade.qty);
        break;
    case MARKET_KLINE:
        hash_in(&hash, (uint64_t)event->kline.bar.open_ns);
        hash_in(&hash, (uint64_t)event->kline.bar.close);
        hash_in(&hash, (uint64_t)event->kline.bar.volume);
        hash_in(&hash, event->kline.closed);
        break;
    case MARKET_QUOTE:
        hash_in(&hash, event->quote.update_id);
        hash_in(&hash, (uint64_t)event->quote.bid);
        hash_in(&hash, (uint64_t)event->quote.ask);
        break;
    case MARKET_DEPTH:
        for (uint32_t i = 0; i < event->depth.n_bids + event->depth.n_asks; i++) {
            const struct book_level *level =
                i < event->depth.n_bids ? &event->depth.bids[i] : &event->depth.asks[i - event->depth.n_bids];
            hash_in(&hash, (uint64_t)level->price);
            hash_in(&hash, (uint64_t)level->qty);
        }
        break;
    default:
        hash_in(&hash, (uint64_t)event->ticker.close);
        hash_in(&hash, (uint64_t)event->ticker.volume);
    }
    return hash;
}

static void keep_bar(struct listener *l, const struct market_event *event)
{
    struct bar *bars = l->bars[event->symbol];
    size_t *n = &l->n_bars[event->symbol], i = 0;
    while (i < *n && bars[i].open_ns != event->kline.bar.open_ns)
        i++;
    if (i < BARS_MAX)
        bars[i] = event->kline.bar;
    *n += i == *n && i < BARS_MAX;
}

static void keep_event(struct listener *l, const struct market_event *event)
{
    CHECK(event->symbol >= 0 && event->symbol < SYMBOLS && event->kind < MARKET_KINDS);
    bool minute = event->kind == MARKET_REVISION || (event->kind == MARKET_KLINE && event->kline.closed);
    if (minute && event->kline.interval_ns == MINUTE_NS)
        keep_bar(l, event);
    l->last_ns = event->event_ns > l->last_ns ? event->event_ns : l->last_ns;
    bool of_past = event->kind == (strchr(l->world->subject->kinds, 'a') ? MARKET_AGG_TRADE : MARKET_TRADE);
    if (of_past && event->symbol == 0 && l->n_trades < EVENTS_MAX)
        l->trades[l->n_trades++] = event->trade;
    if (event->kind >= MARKET_CHANNELS ||
        (event->kind == MARKET_KLINE && event->kline.interval_ns != MINUTE_NS))
        return; /* what comes along, and bars that the parser joins */
    struct sequence *seen = &l->seen[event->kind][event->symbol];
    if (seen->n == seen->cap) {
        seen->cap = seen->cap ? 2 * seen->cap : 1024;
        seen->list = realloc(seen->list, seen->cap * sizeof *seen->list);
        if (!seen->list)
            exit(EXIT_FAILURE);
    }
    seen->list[seen->n++] = (struct event_seen){hash_event(event), l->epoch};
}

/* What must hold of a status at any time. */
static void check_status(const struct listener *l, const struct venue_status *s)
{
    int64_t now = clock_now_ms();
    CHECK(s->since_ms > 0 && s->since_ms <= now && s->last_frame_ms <= now);
    CHECK(s->connects <= s->attempts);
    CHECK(s->up <= s->connections && s->connections <= VENUE_CONNECTIONS_MAX);
    CHECK((s->link == VENUE_UP) == (s->connections > 0 && s->up == s->connections));
    CHECK(s->budget_used <= s->budget && s->budget > 0);
    CHECK((s->link == VENUE_WAITING || s->link == VENUE_FAILED) == (s->retry_ms > 0));
    CHECK(s->frames >= l->frames && s->bytes >= l->bytes);
    CHECK(memchr(s->detail, '\0', sizeof s->detail) && !strchr(s->detail, '\n'));
    CHECK(s->link != VENUE_FINAL || l->keyless);
}

static void on_state(void *user, const struct venue_status *status)
{
    struct listener *l = user;
    CHECK(!l->destroyed);
    l->states++;
    check_status(l, status);
    l->epoch += status->link != VENUE_UP;
    l->n_trades = status->link != VENUE_UP ? 0 : l->n_trades;
    if (l->destroy_in_state) {
        l->destroyed = true;
        l->world->venue->stream_destroy(l->stream);
    }
}

/* What is left of a frame that was cut off, one with a wrong byte, and one with another behind its end:
 * whatever is made of it, it is read to its end, and the first and the last are malformed. */
static void parse_damaged(struct listener *l, const char *data, size_t len)
{
    enum { CUT, WRONG, LONGER, DAMAGES };
    const struct venue_format *format = l->world->venue->format;
    size_t at = (size_t)(l->frames * 7919 % len);
    for (int damage = 0; damage < DAMAGES; damage++) {
        size_t n = damage == CUT ? at : damage == LONGER ? len + 1 : len, turns = 0, bad = 0;
        char *copy = malloc(len + 1);
        if (!copy)
            exit(EXIT_FAILURE);
        memcpy(copy, data, len);
        copy[len] = 'x';
        if (damage == WRONG)
            copy[at] ^= (char)(1 + l->frames % 127);
        copy = realloc(copy, n > 0 ? n : 1); /* nothing behind it may be read */
        for (size_t pos = 0; pos < n && turns <= n; turns++) {
            struct market_event event;
            int r = format->parse(l->damaged, copy, n, &pos, &event);
            CHECK(r == 0 || r == 1 || r == -EBADMSG || r == -ENOENT);
            bad += r == -EBADMSG;
        }
        CHECK(turns <= n && (bad > 0 || damage == WRONG || n == 0));
        free(copy);
    }
}

static void on_frame(void *user, const char *data, size_t len)
{
    struct listener *l = user;
    const struct venue_format *format = l->world->venue->format;
    CHECK(!l->destroyed);
    uint64_t bad = l->bad;
    l->frames++;
    l->bytes += len;
    l->quiet++;
    for (size_t pos = 0, turns = 0; pos < len; turns++) {
        struct market_event event;
        int r = format->parse(l->parser, data, len, &pos, &event);
        CHECK(r == 0 || r == 1 || r == -EBADMSG || r == -ENOENT);
        l->unread += r == 1;
        l->bad += r < 0;
        if (r == 0 && event.symbol == 0)
            l->quiet = 0;
        if (r == 0)
            keep_event(l, &event);
        CHECK(pos <= len && turns <= len);
    }
    if (l->frames % DAMAGED_EVERY == 0 && l->bad == bad && len > 0)
        parse_damaged(l, data, len);
    if (l->destroy_in_frame) {
        l->destroyed = true;
        l->world->venue->stream_destroy(l->stream);
    }
}

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    struct listener *l = user;
    CHECK(why && why[0]);
    l->ban_until_ns = until_ns;
    l->bans++;
}

static const struct venue_stream_handler handler = {on_state, on_frame};

static struct listener *listen_at(struct world *world, const char *who, const char *url,
                                  const char *const *names, size_t n, int64_t age_max_ms, int64_t ban_ns)
{
    struct listener *l = calloc(1, sizeof *l);
    if (!l)
        exit(EXIT_FAILURE);
    l->world = world;
    l->who = who;
    const struct venue_stream_config config = {.net = world->net,
                                               .ws_url = url,
                                               .streams = names,
                                               .n_streams = n,
                                               .budget = &world->budget,
                                               .backoff_min_ms = 1,
                                               .backoff_max_ms = 20,
                                               .age_max_ms = age_max_ms,
                                               .keys = world_keys(world),
                                               .ban = {ban_ns, on_ban, l}};
    CHECK_INT(world->venue->format->parser_create(world->symbols, SYMBOLS, &l->parser), 0);
    CHECK_INT(world->venue->format->parser_create(world->symbols, SYMBOLS, &l->damaged), 0);
    CHECK_INT(world->venue->stream_create(&config, &handler, l, &l->stream), 0);
    if (!l->stream)
        exit(EXIT_FAILURE);
    CHECK_INT(l->states, 0); /* no callback from within */
    return l;
}

static const struct venue_status *status_of(const struct listener *l)
{
    return l->world->venue->stream_status(l->stream);
}

static bool is_up(const struct listener *l)
{
    return status_of(l)->link == VENUE_UP;
}

static size_t seen_of(const struct listener *l, enum market_kind kind, int symbol)
{
    return l->seen[kind][symbol].n;
}

static void forget(struct listener *l)
{
    if (!l->destroyed)
        l->world->venue->stream_destroy(l->stream);
    l->world->venue->format->parser_destroy(l->parser);
    l->world->venue->format->parser_destroy(l->damaged);
    for (int i = 0; i < NAMES_MAX; i++)
        free(l->seen[i / SYMBOLS][i % SYMBOLS].list);
    free(l);
}

/* Where one continues in the other, from `at` on; SIZE_MAX: nowhere. */
static size_t find_in(const struct sequence *s, size_t at, uint64_t hash)
{
    while (at < s->n && s->list[at].hash != hash)
        at++;
    return at < s->n ? at : SIZE_MAX;
}

/* May one be missing before this event: is it the first, or was the link reported to be away between? */
static bool interrupted(const struct sequence *s, size_t at)
{
    return at == 0 || s->list[at].epoch != s->list[at - 1].epoch;
}

/* Two listeners of the same stream: what one of them has alone was sent while the other's link was reported
 * to be away, before it began, or after it ended. Nothing is doubled, altered or in another order. Returns
 * the interruptions in which something was missed. */
static size_t compare(const struct sequence *a, const struct sequence *b, const char *what)
{
    size_t i = 0, k = 0, holes = 0;
    if (a->n > 0 && a->list[0].hash == 0)
        return 0;
    while (i < a->n && k < b->n) {
        if (a->list[i].hash == b->list[k].hash) {
            i++;
            k++;
            continue;
        }
        size_t in_b = find_in(b, k, a->list[i].hash), in_a = find_in(a, i, b->list[k].hash);
        bool of_a = in_b != SIZE_MAX && interrupted(a, i), of_b = in_a != SIZE_MAX && interrupted(b, k);
        if (!of_a && !of_b) {
            printf("%s: event %zu of %zu, and %zu of %zu: lost, doubled or altered\n", what, i, a->n, k,
                   b->n);
            CHECK(!"what two streams received differs");
            return holes;
        }
        holes += i > 0 && k > 0;
        i = of_a ? i : in_a;
        k = of_a ? in_b : k;
    }
    return holes;
}

static size_t compare_all(const struct listener *a, const struct listener *b)
{
    size_t holes = 0;
    char what[96];
    for (int i = 0; i < NAMES_MAX; i++) {
        enum market_kind kind = (enum market_kind)(i / SYMBOLS);
        snprintf(what, sizeof what, "%s, %s, %s of %s", a->who, b->who, market_kind_name(kind),
                 a->world->symbols[i % SYMBOLS].name);
        holes += compare(&a->seen[kind][i % SYMBOLS], &b->seen[kind][i % SYMBOLS], what);
    }
    return holes;
}

#endif

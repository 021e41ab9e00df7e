/* REST: every kind of request, its pages, and what it says of symbols that the venue does not have. */
#ifndef TESTS_EXCHANGE_VENUE_CONTRACT_REST_H
#define TESTS_EXCHANGE_VENUE_CONTRACT_REST_H

#include "tests/exchange/venue_contract/streams.h"

enum { ANSWERS_BARS = 1 << 16, DAYS_MAX = 64, ACTIONS_MAX = 64 };

/* What came of one request, all pages together. */
struct answer {
    bool done;
    int error, pages;
    enum venue_reply_kind kind;
    char text[VENUE_DETAIL_MAX * 2];
    int64_t server_ns;
    size_t missing, n_symbols, n_bars, n_closed, n_events, n_days, n_actions;
    struct venue_symbol symbols[SYMBOLS + 1];
    struct bar bars[ANSWERS_BARS];
    struct market_event events[EVENTS_MAX];
    struct trading_day days[DAYS_MAX];
    struct venue_action actions[ACTIONS_MAX];
    uint32_t n_bids, n_asks;
    size_t page_max;
    struct venue_call *cancel; /* by the callback: this call, */
    const bool *unless;        /* if it was not answered; NULL */
    struct venue_rest *rest;
    bool destroy;
};

static void check_bars(struct answer *answer, const struct venue_reply *reply)
{
    const struct bar *last = answer->n_bars > 0 ? &answer->bars[answer->n_bars - 1] : NULL;
    CHECK(reply->bars.n_closed <= reply->bars.n);
    for (size_t i = 0; i < reply->bars.n && answer->n_bars < ANSWERS_BARS; i++) {
        const struct bar *bar = &reply->bars.list[i];
        CHECK(!last || bar->open_ns > last->open_ns);
        CHECK(bar->low <= bar->open && bar->open <= bar->high && bar->low <= bar->close &&
              bar->close <= bar->high && bar->low > 0);
        answer->bars[answer->n_bars++] = *bar;
        last = &answer->bars[answer->n_bars - 1];
    }
    answer->n_closed += reply->bars.n_closed;
    answer->page_max = reply->bars.n > answer->page_max ? reply->bars.n : answer->page_max;
}

static void check_book(const struct venue_reply *reply)
{
    for (uint32_t i = 1; i < reply->book.n_bids; i++)
        CHECK(reply->book.bids[i].price < reply->book.bids[i - 1].price);
    for (uint32_t i = 1; i < reply->book.n_asks; i++)
        CHECK(reply->book.asks[i].price > reply->book.asks[i - 1].price);
    CHECK(reply->book.n_bids > 0 && reply->book.n_asks > 0 &&
          reply->book.bids[0].price < reply->book.asks[0].price);
}

static void take_reply(struct answer *answer, const struct venue_reply *reply)
{
    switch (reply->kind) {
    case VENUE_REPLY_TIME:
        answer->server_ns = reply->server_ns;
        break;
    case VENUE_REPLY_SYMBOLS:
        answer->missing = reply->symbols.n_missing;
        answer->n_symbols = reply->symbols.n;
        for (size_t i = 0; i < reply->symbols.n && i <= SYMBOLS; i++)
            answer->symbols[i] = reply->symbols.list[i];
        break;
    case VENUE_REPLY_BARS:
        check_bars(answer, reply);
        break;
    case VENUE_REPLY_BOOK:
        check_book(reply);
        break;
    case VENUE_REPLY_LATEST:
    case VENUE_REPLY_TRADES:
        for (size_t i = 0; i < reply->latest.n && answer->n_events < EVENTS_MAX; i++)
            answer->events[answer->n_events++] = reply->latest.list[i];
        break;
    case VENUE_REPLY_DAYS:
        CHECK(reply->days.calendar && reply->days.calendar[0]);
        for (size_t i = 0; i < reply->days.n && answer->n_days < DAYS_MAX; i++)
            answer->days[answer->n_days++] = reply->days.list[i];
        break;
    case VENUE_REPLY_ACTIONS:
        for (size_t i = 0; i < reply->actions.n && answer->n_actions < ACTIONS_MAX; i++)
            answer->actions[answer->n_actions++] = reply->actions.list[i];
        break;
    }
}

static void on_answer(void *user, const struct venue_reply *reply)
{
    struct answer *answer = user;
    CHECK(!answer->done && reply->kind == answer->kind);
    CHECK((reply->error != 0) == (reply->text != NULL) && reply->body != NULL && reply->elapsed_ms >= 0);
    answer->pages++;
    answer->error = reply->error;
    answer->done = !reply->more;
    if (reply->error)
        snprintf(answer->text, sizeof answer->text, "%s", reply->text);
    else
        take_reply(answer, reply);
    if (answer->cancel && !(answer->unless && *answer->unless))
        net_requests_cancel(answer->rest, answer->cancel);
    if (answer->destroy)
        net_requests_destroy(answer->rest);
}

static void expect(struct answer *answer, enum venue_reply_kind kind)
{
    answer->done = false;
    answer->error = answer->pages = 0;
    answer->kind = kind;
    answer->text[0] = '\0';
    answer->n_bars = answer->n_closed = answer->n_events = answer->n_days = answer->n_actions = 0;
    answer->page_max = 0;
}

/* Sends one, and waits for the last of its answer. */
#define ASK(world, answer, kind_, request) \
    do { \
        expect(answer, kind_); \
        CHECK_INT(request, 0); \
        UNTIL(world, (answer)->done); \
    } while (0)

#define ASK_WELL(world, answer, kind_, request) \
    do { \
        ASK(world, answer, kind_, request); \
        if ((answer)->error) \
            printf("%s\n", (answer)->text); \
        CHECK_INT((answer)->error, 0); \
    } while (0)

static int64_t ask_time(struct world *world, struct venue_rest *rest, struct answer *answer)
{
    ASK_WELL(world, answer, VENUE_REPLY_TIME, net_requests_time(rest, on_answer, answer, NULL));
    return answer->server_ns;
}

/* The subject's symbols, for what follows; and one that it does not have. */
static void test_symbols(struct world *world, struct venue_rest *rest, struct answer *answer)
{
    const struct subject *subject = world->subject;
    const char *const names[] = {subject->symbols[0], subject->symbols[1], subject->misspelt};
    ASK_WELL(world, answer, VENUE_REPLY_SYMBOLS,
             net_requests_symbols(rest, names, SYMBOLS + 1, on_answer, answer, NULL));
    CHECK_INT(answer->n_symbols, SYMBOLS + 1);
    CHECK_INT(answer->missing, 1);
    for (int i = 0; i < SYMBOLS; i++) {
        const struct symbol *s = &answer->symbols[i].symbol;
        CHECK(answer->symbols[i].found);
        CHECK_STR(answer->symbols[i].name, names[i]);
        CHECK_STR(s->name, names[i]);
        CHECK_STR(s->venue, world->venue->format->name);
        CHECK(s->trading && !s->gone && s->base[0] && s->quote[0]);
        CHECK(s->filters.tick > 0 && s->filters.step > 0);
        CHECK(!world->venue->always_open || !s->calendar[0]);
        world->symbols[i] = *s;
    }
    CHECK(!world->symbols[1].calendar[0]);
    CHECK(!answer->symbols[SYMBOLS].found);
    CHECK_STR(answer->symbols[SYMBOLS].nearest, names[0]);
    CHECK_INT(net_requests_symbols(rest, names, 0, on_answer, answer, NULL), -EINVAL);
}

static struct venue_bars_request bars_of(const struct symbol *symbol, int64_t start_ns, int64_t end_ns,
                                         int64_t now_ns, size_t max)
{
    return (struct venue_bars_request){.symbol = symbol,
                                       .interval_ns = MINUTE_NS,
                                       .start_ns = start_ns,
                                       .end_ns = end_ns,
                                       .now_ns = now_ns,
                                       .max = max};
}

static bool same_bar(const struct bar *a, const struct bar *b)
{
    return a->open_ns == b->open_ns && a->open == b->open && a->high == b->high && a->low == b->low &&
           a->close == b->close && a->volume == b->volume && a->trades == b->trades;
}

/* More than two of the venue's pages: the same as asked for piece by piece, and by small pages of its end. */
static void test_pages(struct world *world, struct venue_rest *rest, struct answer *answer,
                       struct answer *part)
{
    enum { SMALL = 7, SMALL_PAGES = 3, MORE = 5 };
    const struct symbol *symbol = &world->symbols[1];
    int64_t page = world->venue->bars_page, now_ns = ask_time(world, rest, answer);
    int64_t end_ns = bar_open_time(now_ns, MINUTE_NS) - 2 * MINUTE_NS;
    int64_t start_ns = end_ns - (2 * page + MORE - 1) * MINUTE_NS;
    struct venue_bars_request request = bars_of(symbol, start_ns, end_ns, now_ns, 0);
    ASK_WELL(world, answer, VENUE_REPLY_BARS, net_requests_bars(rest, &request, on_answer, answer, NULL));
    CHECK(answer->pages >= 3 && answer->page_max <= (size_t)page);
    CHECK(answer->n_bars > 0 && answer->n_closed == answer->n_bars);
    CHECK(answer->bars[0].open_ns >= start_ns && answer->bars[answer->n_bars - 1].open_ns <= end_ns);
    printf("%zu bars in %d pages\n", answer->n_bars, answer->pages);
    size_t at = 0;
    for (int64_t from_ns = start_ns; from_ns <= end_ns; from_ns += page * MINUTE_NS) {
        int64_t to_ns = from_ns + (page - 1) * MINUTE_NS;
        request = bars_of(symbol, from_ns, to_ns < end_ns ? to_ns : end_ns, now_ns, 0);
        ASK_WELL(world, part, VENUE_REPLY_BARS, net_requests_bars(rest, &request, on_answer, part, NULL));
        for (size_t i = 0; i < part->n_bars; i++, at++)
            CHECK(at < answer->n_bars && same_bar(&answer->bars[at], &part->bars[i]));
    }
    CHECK_INT(at, answer->n_bars);
    at = answer->n_bars - SMALL * SMALL_PAGES;
    for (int i = 0; i < SMALL_PAGES; i++, at += SMALL) {
        request = bars_of(symbol, answer->bars[at].open_ns, end_ns, now_ns, SMALL);
        ASK_WELL(world, part, VENUE_REPLY_BARS, net_requests_bars(rest, &request, on_answer, part, NULL));
        CHECK_INT(part->n_bars, SMALL);
        for (size_t k = 0; k < part->n_bars; k++)
            CHECK(same_bar(&answer->bars[at + k], &part->bars[k]));
    }
}

/* The closed bars that were streamed, revisions included, are what REST gives for them. */
static void test_bars_streamed(struct world *world, struct venue_rest *rest, struct answer *answer,
                               const struct listener *l)
{
    for (int s = 0; s < SYMBOLS; s++) {
        const struct bar *bars = l->bars[s];
        size_t n = l->n_bars[s], at = 0, compared = 0;
        CHECK(n > 2);
        if (n == 0)
            continue;
        struct venue_bars_request request =
            bars_of(&world->symbols[s], bars[0].open_ns, bars[n - 1].open_ns, l->last_ns, 0);
        ASK_WELL(world, answer, VENUE_REPLY_BARS, net_requests_bars(rest, &request, on_answer, answer, NULL));
        for (size_t i = 0; i < n; i++) {
            while (at < answer->n_bars && answer->bars[at].open_ns < bars[i].open_ns)
                at++;
            if (bars[i].open_ns + 2 * MINUTE_NS > l->last_ns) /* a revision may come yet */
                continue;
            CHECK(at < answer->n_bars && same_bar(&answer->bars[at], &bars[i]));
            compared++;
        }
        CHECK(compared > 0);
    }
}

static bool same_trade(const struct market_trade *a, const struct market_trade *b)
{
    return a->id == b->id && a->price == b->price && a->qty == b->qty && a->ts_ns == b->ts_ns;
}

/* Is it among those of an answer? They are in the order of time. */
static bool is_answered(const struct answer *answer, const struct market_trade *trade)
{
    for (size_t i = 0; i < answer->n_events && answer->events[i].trade.ts_ns <= trade->ts_ns; i++)
        if (same_trade(&answer->events[i].trade, trade))
            return true;
    return false;
}

/* Of aggregates all, in order; single trades may be reported late, corrected or cancelled meanwhile. */
static void check_trades(const struct world *world, const struct answer *answer,
                         const struct market_trade *trades, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += is_answered(answer, &trades[i]);
    for (size_t i = 1; i < answer->n_events; i++)
        CHECK(answer->events[i - 1].trade.ts_ns <= answer->events[i].trade.ts_ns &&
              (!world->venue->aggregates || answer->events[i - 1].trade.id < answer->events[i].trade.id));
    if (world->venue->aggregates)
        CHECK(found == n && answer->n_events == n);
    else
        CHECK(10 * found >= 9 * n && 10 * answer->n_events <= 11 * n);
}

/* Trades of the past, page by page, are those that were streamed; and so are pieces of them. */
static void test_trades(struct world *world, struct venue_rest *rest, struct answer *answer,
                        struct answer *part, const struct listener *l)
{
    struct venue_trades_request request = {&world->symbols[0], 0, MINUTE_NS, 0};
    if (world->venue->trades_span_ns == 0) {
        CHECK_INT(net_requests_trades(rest, &request, on_answer, answer, NULL), -EINVAL);
        return;
    }
    static struct market_trade within[EVENTS_MAX], again[EVENTS_MAX];
    const int64_t start_ns = l->trades[1].ts_ns, end_ns = l->trades[l->n_trades - 1].ts_ns,
                  middle_ns = l->trades[l->n_trades / 2].ts_ns;
    size_t n = 0, n_again = 0;
    CHECK(l->n_trades > 3);
    for (size_t i = 0; i < l->n_trades; i++)
        if (l->trades[i].ts_ns >= start_ns && l->trades[i].ts_ns < end_ns)
            within[n++] = l->trades[i];
    request.start_ns = start_ns;
    request.end_ns = end_ns;
    ASK_WELL(world, answer, VENUE_REPLY_TRADES, net_requests_trades(rest, &request, on_answer, answer, NULL));
    check_trades(world, answer, within, n);
    printf("%zu trades in %d pages\n", answer->n_events, answer->pages);
    for (int half = 0; half < 2; half++) {
        request.start_ns = half ? middle_ns : start_ns;
        request.end_ns = half ? end_ns : middle_ns;
        ASK_WELL(world, part, VENUE_REPLY_TRADES, net_requests_trades(rest, &request, on_answer, part, NULL));
        for (size_t i = 0; i < part->n_events && n_again < EVENTS_MAX; i++) {
            again[n_again++] = part->events[i].trade;
            CHECK(part->events[i].trade.ts_ns >= request.start_ns &&
                  part->events[i].trade.ts_ns < request.end_ns);
        }
    }
    check_trades(world, answer, again, n_again);
}

/* What a stream would have brought last, of the kinds that it streams. */
static void test_latest(struct world *world, struct venue_rest *rest, struct answer *answer)
{
    char name[VENUE_STREAM_NAME_MAX];
    for (int i = 0; i < NAMES_MAX; i++) {
        enum market_kind kind = (enum market_kind)(i / SYMBOLS);
        const struct symbol *symbol = &world->symbols[i % SYMBOLS];
        const struct venue_latest_request request = {.symbol = symbol, .kind = kind};
        bool covered = kind == MARKET_KLINE || kind == MARKET_DEPTH; /* by bars and the book */
        bool streams = world->venue->stream_name(symbol->name, kind, MINUTE_NS, name) == 0;
        if (covered || !streams) {
            CHECK_INT(net_requests_latest(rest, &request, on_answer, answer, NULL), -EINVAL);
            continue;
        }
        CHECK(world->venue->ask_cost[kind] > 0);
        ASK_WELL(world, answer, VENUE_REPLY_LATEST,
                 net_requests_latest(rest, &request, on_answer, answer, NULL));
        CHECK(answer->n_events > 0 && answer->n_events <= VENUE_LATEST_MAX);
        for (size_t k = 0; k < answer->n_events; k++)
            CHECK_INT(answer->events[k].kind, kind);
    }
}

static void test_books(struct world *world, struct venue_rest *rest, struct answer *answer)
{
    char name[VENUE_STREAM_NAME_MAX];
    for (int i = 0; i < SYMBOLS; i++) {
        if (world->venue->stream_name(world->symbols[i].name, MARKET_DEPTH, 0, name) < 0)
            CHECK_INT(net_requests_book(rest, &world->symbols[i], on_answer, answer, NULL), -EINVAL);
        else
            ASK_WELL(world, answer, VENUE_REPLY_BOOK,
                     net_requests_book(rest, &world->symbols[i], on_answer, answer, NULL));
    }
}

/* Trading days and corporate actions: two halves are the whole. */
static void test_calendar(struct world *world, struct venue_rest *rest, struct answer *answer,
                          struct answer *part, int64_t now_ns)
{
    const char *const names[] = {world->symbols[0].name, world->symbols[1].name};
    int64_t times[] = {now_ns - 20 * DAY_NS, now_ns - DAY_NS / 2, now_ns + 10 * DAY_NS};
    size_t days = 0, actions = 0;
    if (world->venue->always_open)
        return;
    ASK_WELL(world, answer, VENUE_REPLY_DAYS,
             net_requests_days(rest, times[0], times[2], on_answer, answer, NULL));
    CHECK(answer->n_days > 10);
    for (size_t i = 0; i < answer->n_days; i++) {
        const struct trading_day *day = &answer->days[i];
        CHECK(day->early_ns <= day->open_ns && day->open_ns < day->close_ns && day->close_ns <= day->late_ns);
        CHECK(i == 0 || day->early_ns > answer->days[i - 1].late_ns);
    }
    ASK_WELL(world, answer, VENUE_REPLY_ACTIONS,
             net_requests_actions(rest, names, SYMBOLS, times[0], times[2], on_answer, answer, NULL));
    CHECK(answer->n_actions > 0);
    for (size_t i = 0; i < answer->n_actions; i++)
        CHECK(answer->actions[i].action.id[0] && answer->actions[i].symbol[0]);
    for (int half = 0; half < 2; half++) {
        ASK_WELL(world, part, VENUE_REPLY_ACTIONS,
                 net_requests_actions(rest, names, SYMBOLS, times[half] + half, times[half + 1], on_answer,
                                      part, NULL));
        actions += part->n_actions;
        ASK_WELL(world, part, VENUE_REPLY_DAYS,
                 net_requests_days(rest, times[half], times[half + 1], on_answer, part, NULL));
        days += part->n_days;
    }
    CHECK_INT(actions, answer->n_actions);
    CHECK(days > 10);
}

static void check_rest_status(const struct venue_rest *rest)
{
    const struct venue_rest_status *s = net_requests_status(rest);
    CHECK(s->queued == 0 && s->in_flight == 0 && s->requests > 0 && s->failures <= s->requests);
    CHECK(s->used_weight >= -1 && (s->used_weight <= s->weight_limit || s->weight_limit == 0));
    CHECK(memchr(s->detail, '\0', sizeof s->detail) && !strchr(s->detail, '\n'));
}

/* A symbol that the venue does not have is named in the refusal. */
static void test_unknown(struct world *world, struct venue_rest *rest, struct answer *answer, int64_t now_ns)
{
    struct symbol unknown = world->symbols[1];
    snprintf(unknown.name, sizeof unknown.name, "%s", strchr(unknown.name, '/') ? "NOSUCH/USD" : "NOSUCH");
    const struct venue_latest_request request = {.symbol = &unknown, .kind = MARKET_TRADE};
    (void)now_ns;
    ASK(world, answer, VENUE_REPLY_LATEST, net_requests_latest(rest, &request, on_answer, answer, NULL));
    CHECK(answer->error == -ENOENT || (answer->error == 0 && answer->n_events == 0));
    CHECK(answer->error == 0 || strstr(answer->text, unknown.name));
    printf("unknown: %s\n", answer->error ? answer->text : "an empty answer");
}

#endif

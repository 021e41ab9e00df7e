/* For tests of daemon/execution/order_cases.h: what it asks and reports is kept in `said`, and is answered.
 */
#ifndef TESTS_DAEMON_ORDER_CASES_SAID_H
#define TESTS_DAEMON_ORDER_CASES_SAID_H

#include "daemon/execution/order_cases.h"
#include "tests/check.h"

#define MS        INT64_C(1000000)
#define S         (1000 * MS)
#define SETTLE_NS (15 * S)

enum { SAID = 64 };

/* What was asked and reported, newest last. */
static struct {
    struct case_ask asks[SAID];
    enum venue_update news[SAID];
    uint64_t news_of[SAID];
    char text[VENUE_UPDATE_TEXT_MAX], reset[VENUE_UPDATE_TEXT_MAX], rights[VENUE_UPDATE_TEXT_MAX];
    char doubt[ORDER_CLIENT_ID_MAX];
    int n_asks, n_news, n_balances, n_doubts;
    bool differ;
    char booked[VENUE_ORDER_ID_MAX], twin[VENUE_ORDER_ID_MAX];
} said;

static const struct symbol symbol = {.name = "XY"};
static struct order_cases *cases;
static struct case_time now;

static inline void on_ask(void *ctx, const struct case_ask *ask, const struct order *order)
{
    (void)ctx;
    CHECK((ask->request == CASE_PLACE) <= (order != NULL));
    said.asks[said.n_asks++ % SAID] = *ask;
}

static inline void on_news(void *ctx, uint64_t order_id, enum venue_update news, const char *venue_id,
                           const char *text, const struct venue_fill *fill)
{
    (void)ctx;
    (void)venue_id;
    CHECK((news == VENUE_UPDATE_FILL) == (fill != NULL));
    said.news_of[said.n_news % SAID] = order_id;
    said.news[said.n_news++ % SAID] = news;
    snprintf(said.text, sizeof said.text, "%s", text);
}

static inline bool ours(void *ctx, const char *client_id)
{
    (void)ctx;
    return strncmp(client_id, "ours-", 5) == 0;
}

static inline bool differ(void *ctx, const struct venue_balance *balances, size_t n, int at)
{
    (void)ctx;
    (void)balances;
    (void)n;
    (void)at;
    return said.differ;
}

/* The venue's id of "ours-1", as it is booked. */
static inline const char *venue_id(void *ctx, const char *client_id)
{
    (void)ctx;
    return strcmp(client_id, "ours-1") == 0 ? said.booked : "";
}

static inline bool booked(void *ctx, const char *client_id, const char *id)
{
    (void)ctx;
    return strcmp(client_id, "ours-1") == 0 && (strcmp(said.booked, id) == 0 || strcmp(said.twin, id) == 0);
}

static inline uint64_t duplicate(void *ctx, const struct venue_order *order)
{
    (void)ctx;
    CHECK(!said.twin[0]);
    snprintf(said.twin, sizeof said.twin, "%s", order->id);
    return 2;
}

static inline void on_balances(void *ctx, const struct venue_balance *balances, size_t n)
{
    (void)ctx;
    (void)balances;
    (void)n;
    said.n_balances++;
}

static inline void on_reset(void *ctx, const char *text)
{
    (void)ctx;
    snprintf(said.reset, sizeof said.reset, "%s", text);
}

static inline void on_rights(void *ctx, const char *text)
{
    (void)ctx;
    snprintf(said.rights, sizeof said.rights, "%s", text ? text : "over");
}

static inline void on_doubt(void *ctx, const char *client_id)
{
    (void)ctx;
    said.n_doubts += client_id != NULL;
    snprintf(said.doubt, sizeof said.doubt, "%s", client_id ? client_id : "over");
}

static inline void begin(bool id_for_life)
{
    const struct order_cases_config config = {.symbols = &symbol,
                                              .n_symbols = 1,
                                              .settle_ns = SETTLE_NS,
                                              .reconcile_ns = 60 * S,
                                              .id_for_life = id_for_life};
    const struct order_cases_sink sink = {.ask = on_ask,
                                          .update = on_news,
                                          .ours = ours,
                                          .venue_id = venue_id,
                                          .booked = booked,
                                          .duplicate = duplicate,
                                          .differ = differ,
                                          .balances = on_balances,
                                          .reset = on_reset,
                                          .rights = on_rights,
                                          .doubt = on_doubt};
    order_cases_destroy(cases);
    memset(&said, 0, sizeof said);
    now = (struct case_time){.now_ns = 100 * S, .venue_ns = 9000 * S};
    cases = order_cases_create(&config, &sink);
}

static inline int64_t step(void)
{
    return order_cases_step(cases, &now);
}

static inline void pass(int64_t ns)
{
    now.now_ns += ns;
    now.venue_ns += ns;
    step();
}

static inline const struct case_ask *asked(void)
{
    return &said.asks[(said.n_asks - 1) % SAID];
}

static inline enum venue_update news(void)
{
    return said.n_news > 0 ? said.news[(said.n_news - 1) % SAID] : VENUE_UPDATES;
}

static inline void answer(struct venue_answer it)
{
    struct case_ask ask = *asked();
    if (!it.text)
        it.text = "";
    order_cases_answer(cases, &ask, &it, &now);
    step();
}

static inline void outcome(enum venue_outcome is)
{
    answer((struct venue_answer){.outcome = is, .text = is == VENUE_REFUSED ? "-2010: no" : ""});
}

static inline struct venue_order at_venue(enum venue_order_state state, int64_t filled)
{
    return (struct venue_order){
        .client_id = "ours-1", .id = "77", .symbol = &symbol, .state = state, .qty = 10, .filled = filled};
}

static inline struct venue_fill fill_of(int64_t qty, int64_t cumulative)
{
    return (struct venue_fill){
        .client_id = "ours-1", .order_id = "77", .symbol = &symbol, .qty = qty, .cumulative = cumulative};
}

static inline void done(enum venue_order_state state, int64_t filled)
{
    struct venue_order order = at_venue(state, filled);
    answer((struct venue_answer){.outcome = VENUE_DONE, .orders = &order, .n_orders = 1});
}

static inline void hear_fill(int64_t qty, int64_t cumulative)
{
    struct venue_fill fill = fill_of(qty, cumulative);
    order_cases_fill(cases, &fill, &now);
    step();
}

static inline void hear_order(enum venue_order_state state, int64_t filled)
{
    struct venue_order order = at_venue(state, filled);
    order_cases_order(cases, &order, &now);
    step();
}

static inline void place(bool protects)
{
    const struct order order = {.id = 1, .qty = 10, .state = ORDER_PENDING};
    CHECK_INT(order_cases_place(cases, &order, "ours-1", protects, &now), 0);
    step();
}

static inline void cancel(void)
{
    order_cases_cancel(cases, 1, &now);
    step();
}

#define LAST(asks, request_is, news_n, news_is) \
    do { \
        CHECK_INT(said.n_asks, asks); \
        CHECK_INT(asked()->request, request_is); \
        CHECK_INT(said.n_news, news_n); \
        CHECK_INT(news(), news_is); \
    } while (0)

static inline void answer_open(const struct venue_order *orders, size_t n)
{
    CHECK_INT(asked()->request, CASE_OPEN);
    answer((struct venue_answer){.outcome = VENUE_DONE, .orders = orders, .n_orders = n});
}

static inline void connect(void)
{
    order_cases_link(cases, true, &now);
    step();
}

#endif

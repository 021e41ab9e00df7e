/* What is asked of a venue for each order, in seeded runs against a model of a venue that loses requests and
 * answers, is late, drops, repeats and reorders user data, while the program is killed at any point: it never
 * asks for a second order of a client id, one that a request made which arrived twice is an order of its own,
 * and at the end states, fills and balances are the venue's. A venue that is wiped while orders are given is
 * found out whatever of them it takes, and no difference is booked. */
#include "daemon/execution/order_cases.h"

#include "tests/check.h"
#include "tests/daemon/order_cases_venue.h"

#ifdef __SANITIZE_ADDRESS__
enum { RUNS = 250 };
#else
enum { RUNS = 1000 }; /* of each rule about ids */
#endif
enum { ORDERS = 12, ACTIONS = 512, KEPT = 3 * ORDERS };
#define SETTLE_NS (15 * S)
#define FAULTS_NS (240 * S) /* so long everything may go wrong */
#define QUIET_NS  (900 * S) /* and then nothing does */

/* The engine's order, as the log has it. */
struct kept_order {
    struct order order;
    char client_id[ORDER_CLIENT_ID_MAX];
    char venue_id[VENUE_ORDER_ID_MAX]; /* "": not known */
    bool second;                       /* of its client id */
    bool protects, cancels, cancel_given, given;
    bool again; /* it is to be given once more */
    int agains;
};
struct kept {
    struct kept_order orders[KEPT];
    int n, decided; /* the latter without those that arrived twice */
    int64_t base, quote;
};

enum action_kind { ARRIVES, ANSWERS, USER_ORDER, USER_FILL, LINK };
struct action {
    enum action_kind kind;
    int64_t at_ns;
    int life; /* of the program: answers and user data of a former one are dropped */
    struct case_ask ask;
    struct order order;
    bool silent; /* ARRIVES: without an answer */
    bool up;
    enum venue_outcome outcome;
    int64_t retry_ms, settled_ns;
    struct venue_order venue_order;
    struct venue_fill fill;
};

struct world {
    struct random random;
    struct model_venue venue;
    struct order_cases *cases;
    struct kept now, stored; /* the engine's state, and what a crash leaves of it */
    struct action actions[ACTIONS];
    int n_actions, life;
    int64_t now_ns, ahead_ns; /* how wrong our idea of the venue's time is */
    int64_t store_ns, order_ns, cancel_ns, trade_ns, crash_ns, link_ns;
    bool faults, up, balances_equal;
    int reset, doubled, doubts;
    int64_t reset_ns;
};

static const struct symbol symbol = {.name = "XY"};
static unsigned long wiped_total, masked_total;
static unsigned long orders_total, market_total, unknown_total, again_total, lost_total, crash_total,
    twice_total;

static bool lives(const struct kept_order *kept)
{
    return order_live(kept->order.state) || kept->order.state == ORDER_UNKNOWN;
}

static struct case_time time_of(const struct world *w)
{
    return (struct case_time){.now_ns = w->now_ns, .venue_ns = w->now_ns + 1000 * S + w->ahead_ns};
}

static void push_action(struct world *w, const struct action *action)
{
    if (w->n_actions == ACTIONS) {
        fputs("too many actions\n", stderr);
        exit(EXIT_FAILURE);
    }
    w->actions[w->n_actions++] = *action;
}

static bool faulty(struct world *w, int percent)
{
    return w->faults && random_chance(&w->random, percent);
}

static int64_t latency(struct world *w)
{
    return random_between(&w->random, 5, 150) * MS;
}

/* The venue pushed it: on its way, or lost. */
static void on_pushed(void *ctx, const struct venue_order *order, const struct venue_fill *fill)
{
    struct world *w = ctx;
    struct action action = {.kind = order ? USER_ORDER : USER_FILL,
                            .at_ns = w->now_ns + 40 * MS, /* in order, except for faults */
                            .life = w->life};
    if (order)
        action.venue_order = *order;
    else
        action.fill = *fill;
    if (!w->up || faulty(w, 15))
        return;
    if (faulty(w, 10))
        action.at_ns += random_between(&w->random, 0, 3000) * MS;
    push_action(w, &action);
    if (faulty(w, 10)) {
        action.at_ns += random_between(&w->random, 0, 2000) * MS;
        push_action(w, &action);
    }
}

/* ---- the program ---- */

static void on_ask(void *ctx, const struct case_ask *ask, const struct order *order)
{
    struct world *w = ctx;
    int64_t sent_ns = w->now_ns;
    struct action arrives = {.kind = ARRIVES,
                             .at_ns = sent_ns + latency(w),
                             .life = w->life,
                             .ask = *ask,
                             .settled_ns = ask->at.venue_ns + SETTLE_NS};
    struct action fails = {.kind = ANSWERS,
                           .at_ns = sent_ns + 10 * S,
                           .life = w->life,
                           .ask = *ask,
                           .outcome = VENUE_UNKNOWN,
                           .settled_ns = w->venue.id_for_life ? 0 : arrives.settled_ns};
    if (order)
        arrives.order = *order;
    if (ask->request == CASE_PLACE && !w->venue.id_for_life) {
        w->doubled += model_count(&w->venue, ask->client_id) > 0;
        for (int i = 0; i < w->n_actions; i++) /* an earlier one that may still have its effect */
            w->doubled += w->actions[i].kind == ARRIVES && w->actions[i].ask.request == CASE_PLACE &&
                          strcmp(w->actions[i].ask.client_id, ask->client_id) == 0;
    }
    int64_t fault = w->faults ? random_between(&w->random, 0, 99) : 99;
    if (fault < 6) { /* a lost request */
        push_action(w, &fails);
    } else if (fault < 12) { /* a lost answer */
        arrives.silent = true;
        push_action(w, &arrives);
        push_action(w, &fails);
    } else if (fault < 18) { /* a late one: it has its effect after we gave up waiting */
        arrives.silent = true;
        arrives.at_ns = sent_ns + random_between(&w->random, 9000, 13900) * MS;
        push_action(w, &arrives);
        push_action(w, &fails);
    } else if (fault < 24) { /* 5xx, done or not */
        arrives.silent = true;
        if (random_chance(&w->random, 50))
            push_action(w, &arrives);
        fails.at_ns = arrives.at_ns + latency(w);
        push_action(w, &fails);
    } else if (fault < 30) {
        fails.outcome = VENUE_NOT_SENT;
        fails.retry_ms = random_between(&w->random, 0, 3000);
        fails.at_ns = sent_ns;
        push_action(w, &fails);
    } else if (fault < 36) { /* refused for its timestamp, and nothing done */
        fails.outcome = VENUE_BAD_TIMESTAMP;
        fails.at_ns = arrives.at_ns + latency(w);
        push_action(w, &fails);
    } else if (fault < 44 && ask->request == CASE_PLACE && !w->venue.id_for_life) { /* it arrives twice */
        bool first = random_chance(&w->random, 50);                                 /* whose answer comes */
        arrives.silent = !first;
        push_action(w, &arrives);
        arrives.silent = first;
        arrives.at_ns += random_between(&w->random, 0, 2000) * MS;
        push_action(w, &arrives);
    } else {
        push_action(w, &arrives);
    }
}

static struct kept_order *kept_of(struct world *w, uint64_t id)
{
    return id >= 1 && id <= (uint64_t)w->now.n ? &w->now.orders[id - 1] : NULL;
}

static void book(struct world *w, struct kept_order *kept, const struct venue_fill *fill)
{
    struct order *order = &kept->order;
    CHECK_INT(fill->cumulative, order->filled + fill->qty);
    order->filled = fill->cumulative;
    order->state = order->filled == order->qty ? ORDER_FILLED : ORDER_PARTIAL;
    w->now.base += order->side == ORDER_BUY ? fill->qty : -fill->qty;
    w->now.quote -= order->side == ORDER_BUY ? fill->qty : -fill->qty;
}

static void on_news(void *ctx, uint64_t order_id, enum venue_update news, const char *venue_id,
                    const char *text, const struct venue_fill *fill)
{
    struct world *w = ctx;
    struct kept_order *kept = kept_of(w, order_id);
    (void)text;
    CHECK(kept && lives(kept));
    CHECK(!kept->venue_id[0] || strcmp(kept->venue_id, venue_id) == 0);
    CHECK(!fill || strcmp(fill->order_id, venue_id) == 0);
    snprintf(kept->venue_id, sizeof kept->venue_id, "%s", venue_id);
    if (news == VENUE_UPDATE_OPEN && kept->order.state == ORDER_PENDING)
        kept->order.state = ORDER_OPEN;
    else if (news == VENUE_UPDATE_OPEN && kept->order.state == ORDER_UNKNOWN)
        kept->order.state = ORDER_OPEN;
    else if (news == VENUE_UPDATE_UNKNOWN) {
        CHECK(kept->order.state == ORDER_PENDING);
        kept->order.state = ORDER_UNKNOWN;
        unknown_total++;
    } else if (news == VENUE_UPDATE_FILL)
        book(w, kept, fill);
    else if (news == VENUE_UPDATE_CANCELED)
        kept->order.state = ORDER_CANCELED;
    else if (news == VENUE_UPDATE_EXPIRED)
        kept->order.state = ORDER_EXPIRED;
    else if (news == VENUE_UPDATE_REJECTED || news == VENUE_UPDATE_ABSENT)
        kept->order.state = ORDER_REJECTED;
    else if (news == VENUE_UPDATE_AGAIN) {
        CHECK(kept->protects);
        kept->order.state = ORDER_PENDING;
        kept->again = true;
        again_total++;
    }
}

static bool is_ours(void *ctx, const char *client_id)
{
    (void)ctx;
    return strncmp(client_id, "ours-", 5) == 0;
}

static const char *known_id(void *ctx, const char *client_id)
{
    const struct world *w = ctx;
    for (int i = 0; i < w->now.n; i++)
        if (!w->now.orders[i].second && strcmp(w->now.orders[i].client_id, client_id) == 0)
            return w->now.orders[i].venue_id;
    return "";
}

static bool is_booked(void *ctx, const char *client_id, const char *venue_id)
{
    const struct world *w = ctx;
    for (int i = 0; i < w->now.n; i++)
        if (strcmp(w->now.orders[i].client_id, client_id) == 0 &&
            strcmp(w->now.orders[i].venue_id, venue_id) == 0)
            return true;
    return false;
}

static uint64_t on_duplicate(void *ctx, const struct venue_order *order)
{
    struct world *w = ctx;
    CHECK(!is_booked(w, order->client_id, order->id));
    if (w->now.n == KEPT)
        return 0;
    struct kept_order *kept = &w->now.orders[w->now.n++];
    *kept = (struct kept_order){.order = {.id = (uint64_t)w->now.n,
                                          .side = order->side,
                                          .type = order->type,
                                          .state = ORDER_OPEN,
                                          .qty = order->qty},
                                .second = true,
                                .given = true,
                                .cancels = order->type != ORDER_MARKET};
    snprintf(kept->client_id, sizeof kept->client_id, "%.36s", order->client_id);
    snprintf(kept->venue_id, sizeof kept->venue_id, "%s", order->id);
    twice_total++;
    return kept->order.id;
}

static bool equal(const struct world *w, const struct venue_balance *balances, size_t n)
{
    return n == 2 && balances[0].free == w->now.base && balances[1].free == w->now.quote;
}

static bool differ(void *ctx, const struct venue_balance *balances, size_t n, int at)
{
    const struct world *w = ctx;
    return at < 0 ? !equal(w, balances, n) : balances[0].free != w->now.base;
}

static void on_balances(void *ctx, const struct venue_balance *balances, size_t n)
{
    struct world *w = ctx;
    w->balances_equal = equal(w, balances, n);
    CHECK(w->balances_equal); /* whenever they are given: all fills before them are booked */
}

static void on_reset(void *ctx, const char *text)
{
    struct world *w = ctx;
    (void)text;
    w->reset++;
    w->reset_ns = w->now_ns;
}

static void on_rights(void *ctx, const char *text)
{
    struct world *w = ctx;
    (void)text;
    w->reset++; /* nothing is denied */
}

static void on_doubt(void *ctx, const char *client_id)
{
    struct world *w = ctx;
    w->doubts += client_id != NULL;
}

static void create(struct world *w)
{
    const struct order_cases_config config = {.symbols = &symbol,
                                              .n_symbols = 1,
                                              .settle_ns = SETTLE_NS,
                                              .reconcile_ns = 60 * S,
                                              .id_for_life = w->venue.id_for_life};
    const struct order_cases_sink sink = {.ctx = w,
                                          .ask = on_ask,
                                          .update = on_news,
                                          .ours = is_ours,
                                          .venue_id = known_id,
                                          .booked = is_booked,
                                          .duplicate = on_duplicate,
                                          .differ = differ,
                                          .balances = on_balances,
                                          .reset = on_reset,
                                          .rights = on_rights,
                                          .doubt = on_doubt};
    struct case_time at = time_of(w);
    w->cases = order_cases_create(&config, &sink);
    w->up = false;
    w->link_ns = w->now_ns + latency(w);
    for (int i = 0; i < w->now.n; i++) {
        struct kept_order *kept = &w->now.orders[i];
        if (!lives(kept))
            continue;
        kept->given = true;
        kept->again = false;
        kept->cancel_given = kept->cancels;
        CHECK_INT(order_cases_adopt(w->cases, &kept->order, kept->client_id, kept->venue_id, kept->protects,
                                    kept->cancels, &at),
                  0);
    }
}

static void crash(struct world *w)
{
    order_cases_destroy(w->cases);
    w->now = w->stored;
    w->life++;
    crash_total++;
    create(w);
}

/* What is stored is done. */
static void store(struct world *w)
{
    struct case_time at = time_of(w);
    w->stored = w->now;
    for (int i = 0; i < w->now.n; i++) {
        struct kept_order *kept = &w->now.orders[i];
        if (lives(kept) && (!kept->given || kept->again))
            CHECK_INT(order_cases_place(w->cases, &kept->order, kept->client_id, kept->protects, &at), 0);
        kept->given = true;
        kept->again = false;
        if (kept->cancels && !kept->cancel_given)
            order_cases_cancel(w->cases, kept->order.id, &at);
        kept->cancel_given = kept->cancels;
    }
}

static void decide_order(struct world *w)
{
    struct kept_order *kept = &w->now.orders[w->now.n++];
    w->now.decided++;
    bool market = random_chance(&w->random, 50);
    *kept = (struct kept_order){.order = {.id = (uint64_t)w->now.n,
                                          .side = random_chance(&w->random, 50) ? ORDER_BUY : ORDER_SELL,
                                          .type = market ? ORDER_MARKET : ORDER_LIMIT,
                                          .state = ORDER_PENDING,
                                          .price = random_chance(&w->random, 5) ? 13 : 1,
                                          .qty = random_between(&w->random, 1, 1000)},
                                .protects = random_chance(&w->random, 40)};
    snprintf(kept->client_id, sizeof kept->client_id, "ours-%d", w->now.n);
    orders_total++;
    market_total += market;
}

static void decide_cancel(struct world *w)
{
    if (w->now.n == 0)
        return;
    struct kept_order *kept = &w->now.orders[random_between(&w->random, 0, w->now.n - 1)];
    kept->cancels |= lives(kept);
}

/* ---- the venue's side ---- */

static void answer_open(struct world *w, struct venue_answer *answer, struct venue_order *orders)
{
    for (int i = 0; i < w->venue.n; i++)
        if (model_live(&w->venue.orders[i]))
            orders[answer->n_orders++] = model_order_of(&w->venue, &w->venue.orders[i]);
    answer->orders = orders;
}

/* What an action that arrives at the venue is answered: as the venue is then. */
struct reply {
    struct venue_answer answer;
    struct venue_order orders[MODEL_ORDERS];
    struct venue_fill fills[MODEL_FILLS];
    struct venue_balance balances[2];
};

static void reply_fills(const struct model_order *it, struct world *w, struct reply *reply)
{
    for (int i = 0; it && i < it->n_fills; i++)
        reply->fills[reply->answer.n_fills++] = model_fill_of(&w->venue, it, i);
    reply->answer.fills = reply->fills;
}

static void reply_order(const struct model_order *it, struct world *w, struct reply *reply)
{
    reply->orders[0] = model_order_of(&w->venue, it);
    reply->answer.orders = reply->orders;
    reply->answer.n_orders = 1;
}

/* At first the venue's store does not have it yet. */
static bool lags(struct world *w, const struct model_order *it)
{
    return w->now_ns - it->at_ns < 1500 * MS && faulty(w, 40);
}

static void perform(struct world *w, const struct action *action, struct reply *reply)
{
    const char *client_id = action->ask.client_id;
    struct model_order *it = model_find(&w->venue, client_id);
    *reply = (struct reply){.answer = {.outcome = VENUE_DONE, .text = ""}};
    if (action->ask.request == CASE_PLACE) {
        reply->answer.outcome = model_place(&w->venue, &action->order, client_id);
        if (reply->answer.outcome == VENUE_DONE && !w->venue.id_for_life) {
            it = model_find(&w->venue, client_id);
            reply_order(it, w, reply);
            reply_fills(it, w, reply);
        }
    } else if (action->ask.request == CASE_CANCEL) {
        reply->answer.outcome = model_cancel(&w->venue, client_id);
        if (reply->answer.outcome == VENUE_DONE && !w->venue.id_for_life)
            reply_order(it, w, reply);
    } else if (action->ask.request == CASE_QUERY || action->ask.request == CASE_WITNESS) {
        if (action->ask.venue_id[0])
            it = model_by_id(&w->venue, action->ask.venue_id);
        if (!it || lags(w, it))
            reply->answer.outcome = VENUE_ABSENT;
        else
            reply_order(it, w, reply);
    } else if (action->ask.request == CASE_FILLS) {
        reply_fills(model_by_id(&w->venue, action->ask.venue_id), w, reply);
    } else if (action->ask.request == CASE_RECENT) {
        for (int i = 0; i < w->venue.n; i++)
            reply->orders[reply->answer.n_orders++] = model_order_of(&w->venue, &w->venue.orders[i]);
        reply->answer.orders = reply->orders;
    } else if (action->ask.request == CASE_OPEN) {
        answer_open(w, &reply->answer, reply->orders);
    } else {
        reply->balances[0] = (struct venue_balance){.asset = "X", .free = w->venue.base};
        reply->balances[1] = (struct venue_balance){.asset = "Y", .free = w->venue.quote};
        reply->answer.balances = reply->balances;
        reply->answer.n_balances = 2;
    }
}

/* Answers are read when they arrive: a snapshot is as old as its way back. */
static struct reply replies[ACTIONS];
static int n_replies;

static void arrive(struct world *w, const struct action *action)
{
    if (n_replies == ACTIONS)
        n_replies = 0;
    struct reply *reply = &replies[n_replies];
    perform(w, action, reply);
    if (action->silent)
        return;
    struct action answers = *action;
    answers.kind = ANSWERS;
    answers.at_ns = w->now_ns + latency(w);
    answers.outcome = VENUE_OUTCOMES; /* the reply's */
    answers.order.id = (uint64_t)n_replies++;
    push_action(w, &answers);
}

static void hear(struct world *w, const struct action *action)
{
    struct venue_answer failed = {.outcome = action->outcome,
                                  .text = "lost",
                                  .retry_ms = action->retry_ms,
                                  .settled_ns = action->outcome == VENUE_UNKNOWN ? action->settled_ns : 0};
    struct case_time at = time_of(w);
    order_cases_answer(w->cases, &action->ask,
                       action->outcome == VENUE_OUTCOMES ? &replies[action->order.id].answer : &failed, &at);
}

static void act(struct world *w, const struct action *action)
{
    struct case_time at = time_of(w);
    if (action->kind == ARRIVES) /* whatever became of the program */
        arrive(w, action);
    else if (action->life != w->life)
        return;
    else if (action->kind == ANSWERS)
        hear(w, action);
    else if (action->kind == USER_ORDER && w->up)
        order_cases_order(w->cases, &action->venue_order, &at);
    else if (action->kind == USER_FILL && w->up)
        order_cases_fill(w->cases, &action->fill, &at);
}

static void change_link(struct world *w)
{
    struct case_time at = time_of(w);
    w->up = !w->up;
    order_cases_link(w->cases, w->up, &at);
    w->link_ns =
        w->up && !w->faults ? INT64_MAX : w->now_ns + random_between(&w->random, 1, w->up ? 120 : 20) * S;
}

static void trade(struct world *w)
{
    for (int i = 0; i < w->venue.n; i++)
        if (model_live(&w->venue.orders[i]) && random_chance(&w->random, 10))
            model_trade_some(&w->venue, &w->venue.orders[i]);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_moment(const struct world *w, int64_t step_ns)
{
    int64_t next = sooner(step_ns, sooner(w->store_ns, sooner(w->trade_ns, w->link_ns)));
    next = sooner(next, sooner(w->order_ns, sooner(w->cancel_ns, w->crash_ns)));
    for (int i = 0; i < w->n_actions; i++)
        next = sooner(next, w->actions[i].at_ns);
    return next;
}

/* All that is due; in the order of their times. */
static void act_due(struct world *w)
{
    for (;;) {
        int first = -1;
        for (int i = 0; i < w->n_actions; i++)
            if (w->actions[i].at_ns <= w->now_ns &&
                (first < 0 || w->actions[i].at_ns < w->actions[first].at_ns))
                first = i;
        if (first < 0)
            return;
        struct action action = w->actions[first];
        memmove(&w->actions[first], &w->actions[first + 1],
                (size_t)(w->n_actions - first - 1) * sizeof action);
        w->n_actions--;
        act(w, &action);
    }
}

static void live(struct world *w)
{
    w->venue.now_ns = w->now_ns;
    act_due(w);
    if (w->now_ns >= w->link_ns)
        change_link(w);
    if (w->now_ns >= w->trade_ns) {
        trade(w);
        w->trade_ns = w->now_ns + random_between(&w->random, 200, 4000) * MS;
    }
    if (w->now_ns >= w->order_ns) {
        decide_order(w);
        w->order_ns =
            w->now.decided == ORDERS ? INT64_MAX : w->now_ns + random_between(&w->random, 1, 25000) * MS;
    }
    if (w->now_ns >= w->cancel_ns) {
        struct case_time at = time_of(w);
        decide_cancel(w);
        order_cases_clock_renewed(w->cases, &at); /* at any time */
        w->cancel_ns = w->now_ns + random_between(&w->random, 1, 20000) * MS;
    }
    if (w->now_ns >= w->crash_ns) {
        crash(w);
        w->crash_ns = w->faults ? w->now_ns + random_between(&w->random, 1, 100000) * MS : INT64_MAX;
    }
    if (w->now_ns >= w->store_ns) {
        store(w);
        w->store_ns = w->now_ns + random_between(&w->random, 1, w->faults ? 60 : 2000) * MS;
    }
}

static void run_until(struct world *w, int64_t end_ns)
{
    while (w->now_ns < end_ns) {
        struct case_time at = time_of(w);
        int64_t step_ns = order_cases_step(w->cases, &at);
        CHECK(step_ns > w->now_ns); /* else it would spin */
        int64_t next_ns = next_moment(w, step_ns);
        w->now_ns = next_ns > w->now_ns ? next_ns : w->now_ns + 1;
        live(w);
    }
}

/* ---- the end ---- */

static enum order_state state_of(const struct model_order *it)
{
    static const enum order_state states[VENUE_ORDER_STATES] = {
        ORDER_OPEN, ORDER_PARTIAL, ORDER_FILLED, ORDER_CANCELED, ORDER_REJECTED, ORDER_EXPIRED};
    return states[it->state];
}

static void check_end(struct world *w)
{
    for (int i = 0; i < w->now.n; i++) {
        struct kept_order *kept = &w->now.orders[i];
        const struct model_order *it = w->venue.id_for_life ? model_find(&w->venue, kept->client_id)
                                                            : model_by_id(&w->venue, kept->venue_id);
        if (!it) {
            CHECK_INT(model_count(&w->venue, kept->client_id), 0);
            CHECK(kept->order.state == ORDER_REJECTED || kept->order.state == ORDER_CANCELED);
            CHECK_INT(kept->order.filled, 0);
            lost_total++;
            continue;
        }
        CHECK_INT(kept->order.state, state_of(it));
        CHECK_INT(kept->order.filled, it->filled);
        CHECK(!kept->cancels || !model_live(it));
    }
    for (int i = 0; i < w->venue.n; i++) {
        const struct model_order *it = &w->venue.orders[i];
        int here = 0;
        for (int k = 0; k < w->now.n; k++)
            here += w->venue.id_for_life ? strcmp(w->now.orders[k].client_id, it->client_id) == 0
                                         : strcmp(w->now.orders[k].venue_id, it->id) == 0;
        CHECK(here == 1 || (here == 0 && it->filled == 0 && !model_live(it)));
    }
    struct order_cases_view view;
    order_cases_view(w->cases, &view);
    CHECK_INT(w->now.base, w->venue.base);
    CHECK_INT(w->now.quote, w->venue.quote);
    CHECK(w->balances_equal && view.found.balances);
    CHECK_INT(view.unknown, 0);
    CHECK_INT(w->doubled, 0);
    CHECK_INT(w->reset, 0);
}

#define OPENING 1000000 /* of both assets */

static struct world *start(uint64_t seed, bool id_for_life)
{
    static struct world w;
    w = (struct world){.random = {seed}, .faults = true};
    w.venue = (struct model_venue){.random = &w.random,
                                   .id_for_life = id_for_life,
                                   .symbol = &symbol,
                                   .base = OPENING,
                                   .quote = OPENING,
                                   .pushed = on_pushed,
                                   .ctx = &w};
    w.now.base = w.stored.base = w.venue.base;
    w.now.quote = w.stored.quote = w.venue.quote;
    w.now_ns = 1 * S;
    w.ahead_ns = random_between(&w.random, -900, 900) * MS;
    w.store_ns = w.order_ns = w.trade_ns = w.now_ns;
    w.cancel_ns = w.now_ns + 5 * S;
    w.crash_ns = w.now_ns + random_between(&w.random, 1, 200000) * MS;
    create(&w);
    return &w;
}

static void stop_all(struct world *w)
{
    w->faults = false;
    w->order_ns = w->cancel_ns = w->crash_ns = w->trade_ns = INT64_MAX;
}

/* Orders continue, and those that the venue takes after the wipe are known there. Without faults it is found
 * by the comparison, and a few seconds more than what is waited for the last answer. */
static void run_wiped(uint64_t seed, bool id_for_life)
{
    unsigned long failed = check_failures;
    struct world *w = start(seed, id_for_life);
    const bool faults = random_chance(&w->random, 50);
    w->faults = faults;
    w->crash_ns = INT64_MAX;
    run_until(w, random_between(&w->random, 20, 100) * S);
    const bool differ = w->now.base != OPENING || w->now.quote != OPENING;
    const int64_t wiped_ns = w->now_ns;
    const int reset = w->reset;
    model_wipe(&w->venue, OPENING, OPENING);
    run_until(w, FAULTS_NS);
    stop_all(w);
    run_until(w, QUIET_NS);
    CHECK_INT(reset, 0);
    CHECK(w->reset == 1 || (!differ && w->now.base == w->venue.base && w->now.quote == w->venue.quote));
    if (differ && !faults)
        CHECK(w->reset_ns - wiped_ns >= 20 * S && w->reset_ns - wiped_ns <= (60 + 20 + 15) * S);
    wiped_total += w->reset;
    masked_total += w->reset && w->venue.n > 0;
    order_cases_destroy(w->cases);
    if (check_failures > failed)
        fprintf(stderr, "the wiped run of seed %" PRIu64 ", %s\n", seed,
                id_for_life ? "ids for life" : "ids among open orders");
}

static void run(uint64_t seed, bool id_for_life)
{
    unsigned long failed = check_failures;
    struct world *w = start(seed, id_for_life);
    run_until(w, FAULTS_NS);
    stop_all(w);
    run_until(w, QUIET_NS);
    check_end(w);
    order_cases_destroy(w->cases);
    if (check_failures > failed)
        fprintf(stderr, "the run of seed %" PRIu64 ", %s\n", seed,
                id_for_life ? "ids for life" : "ids among open orders");
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : RUNS;
    struct random random = random_seeded("order_cases_random", 29);
    for (int i = 0; i < 2 * runs && check_failures < 20; i++)
        run(random_next(&random), i % 2 == 1);
    for (int i = 0; i < runs / 2 && check_failures < 20; i++)
        run_wiped(random_next(&random), i % 2 == 1);
    if (runs < 1000)
        printf("counts: %d runs of each rule about ids (without a sanitizer: 1000)\n", runs);
    printf(
        "%lu orders, of them %lu market orders; %lu outcomes were unknown, %lu orders placed again, %lu never "
        "there, %lu there twice; %lu crashes; %lu wipes, %lu of them with orders since\n",
        orders_total, market_total, unknown_total, again_total, lost_total, twice_total, crash_total,
        wiped_total, masked_total);
    CHECK(runs < 100 || (market_total * 10 > orders_total * 4 && unknown_total * 10 > (unsigned long)runs &&
                         again_total * 100 > (unsigned long)runs && twice_total * 20 > (unsigned long)runs &&
                         masked_total * 10 > wiped_total * 3));
    return check_done("order_cases_random");
}

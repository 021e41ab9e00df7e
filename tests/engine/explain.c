/* Every order of a random log is explained, and the explanation is what was recorded while it happened. */
#include "engine/explain.h"

#include "tests/engine/logged.h"

enum { EVENTS = 6000 };

static struct logged logged;
static uint64_t seen, decided, commanded, canceled, taken, judged;

/* Does the fill match the market data that explains it? */
static void check_take(const struct explained_fill *fill)
{
    const struct engine_config *config = &logged.driver.config;
    bool of_bar = config->fill_model == FILL_BAR, buy = fill->fill.side == ORDER_BUY;
    CHECK_INT(fill->have_bar, of_bar);
    if (of_bar) {
        int64_t open_ns = fill->bar.open_ns, end_ns = open_ns + DRIVER_INTERVAL_NS;
        bool at_open = fill->fill.ts_ns == open_ns;
        CHECK(at_open || fill->fill.ts_ns == end_ns - 1);
        CHECK(fill->level.price >= fill->bar.low && fill->level.price <= fill->bar.high);
        CHECK(!at_open || fill->fill.maker || fill->level.price == fill->bar.open);
    }
    if (!fill->have_take || fill->fill.maker)
        return;
    int64_t worse = buy ? fill->fill.price - fill->level.price : fill->level.price - fill->fill.price;
    CHECK(config->slippage_e6 > 0 ? worse >= 0 : worse == 0);
}

static bool check_explanation(void *ctx, const struct explanation *e)
{
    const struct logged_order *made = &logged.orders[e->order.id - 1];
    const struct order *order = &made->row.order;
    (void)ctx;
    seen++;
    CHECK(e->compared && e->equal && !e->incomplete);
    CHECK_INT(e->input.seq, order->input_seq);
    CHECK(e->input.text[0] && e->n_changes > 0);
    CHECK_INT(e->changes[0].event.seq, order->input_seq);
    CHECK_INT(e->changes[e->n_changes - 1].order.state, order->state);
    for (size_t i = 1; i < e->n_changes; i++)
        CHECK(e->changes[i].event.seq >= e->changes[i - 1].event.seq);
    CHECK_STR(e->have_symbol ? e->symbol.name : "", made->row.symbol);
    CHECK(!order->by_hand || e->have_command);
    commanded += e->have_command;
    if (e->canceled_at.seq > 0) { /* by a later event, and before its end */
        canceled++;
        CHECK(e->canceled_at.seq > order->input_seq);
        CHECK(e->canceled_at.seq <= e->changes[e->n_changes - 1].event.seq || order_live(order->state));
        CHECK(e->canceled_by.kind == COMMAND_CANCEL || e->canceled_by.kind == COMMAND_FLATTEN);
    }
    judged += e->have_verdict;
    bool passed_alone = order->group != 0 && e->verdict.reason == ORDER_OK; /* another leg did not */
    if (e->have_verdict && order->state == ORDER_REJECTED && !passed_alone)
        CHECK_INT(e->verdict.reason, order->reason);
    bool closes = strcmp(order->tag, "flatten") == 0 || strcmp(order->tag, "drawdown") == 0 ||
                  strcmp(order->tag, "margin call") == 0; /* no strategy decided it */
    if (!order->by_hand && made->by_bar && !order_is_stop(order->type) && !closes)
        CHECK(e->have_decision);
    if (e->have_decision && made->by_bar) {
        decided++;
        CHECK_INT(e->decision.n_values, made->n_values);
        for (size_t i = 0; i < made->n_values; i++)
            CHECK(memcmp(&e->decision.values[i], &made->values[i], sizeof(double)) == 0);
        CHECK(e->decision.n_intents > 0);
    }
    int64_t filled = 0, cost = 0;
    for (size_t i = 0; i < e->n_fills; i++) {
        const struct explained_fill *fill = &e->fills[i];
        const struct recorded_fill *row = &logged.fills[fill->fill.id - 1];
        filled += row->fill.qty;
        cost += row->fill.notional;
        CHECK_INT(row->fill.order_id, order->id);
        CHECK_INT(fill->event.seq, row->fill.input_seq);
        taken += fill->have_take;
        check_take(fill);
    }
    CHECK_INT(filled, order->filled);
    CHECK_INT(cost, order->cost);
    return true;
}

static int run(const uint64_t *ids, size_t n, struct explain_result *ret, char *err)
{
    const struct explain_options options = {.path = logged.dir,
                                            .ids = ids,
                                            .n_ids = n,
                                            .to_ns = INT64_MAX,
                                            .recorded = &logged.recorded,
                                            .explained = check_explanation};
    *ret = (struct explain_result){0};
    return engine_explain_run(&options, ret, err, JOURNAL_ERROR_MAX);
}

static void test_all(void)
{
    struct explain_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    seen = decided = commanded = canceled = taken = judged = 0;
    CHECK_INT(run(NULL, 0, &result, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(result.explained, logged.n_orders);
    CHECK_INT(result.equal, logged.n_orders);
    CHECK_INT(seen, logged.n_orders);
    CHECK(!result.different && result.incomplete == 0);
    CHECK(decided > 0 && commanded > 100 && canceled > 10);
    CHECK_INT(taken, logged.n_fills);
    printf(
        "%ju orders, %ju by a decision, %ju by a command, %ju cancelled by one, %ju judged, %ju fills of a known level\n",
        (uintmax_t)seen, (uintmax_t)decided, (uintmax_t)commanded, (uintmax_t)canceled, (uintmax_t)judged,
        (uintmax_t)taken);
}

/* One by one, each from the newest state before it. */
static void test_each(void)
{
    for (size_t id = 1; id <= logged.n_orders; id += logged.n_orders / 40 + 1) {
        struct explain_result result;
        char err[JOURNAL_ERROR_MAX] = "";
        uint64_t ids[] = {id};
        seen = 0;
        CHECK_INT(run(ids, 1, &result, err), 0);
        CHECK_STR(err, "");
        CHECK_INT(seen, 1);
        CHECK_INT(result.equal, 1);
        CHECK(result.from_seq < logged.orders[id - 1].row.order.input_seq);
        if (logged.orders[id - 1].row.order.input_seq > EVENTS)
            CHECK_INT(result.from_seq, EVENTS);
    }
}

static bool ignore(void *ctx, const struct explanation *e)
{
    (void)ctx, (void)e;
    return true;
}

static void test_altered(void)
{
    struct explain_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    const struct explain_options options = {
        .path = logged.dir, .to_ns = INT64_MAX, .recorded = &logged.recorded, .explained = ignore};
    struct recorded_fill *fill = &logged.fills[logged.n_fills / 2];
    fill->fill.fee++;
    CHECK_INT(engine_explain_run(&options, &result, err, sizeof err), 0);
    CHECK(result.different);
    CHECK_INT(result.equal, logged.n_orders - 1);
    CHECK_STR(result.difference.table, "fills");
    CHECK_STR(result.difference.field, "fee");
    CHECK_INT(result.difference.id, fill->fill.id);
    CHECK_INT(result.difference_at.seq, fill->fill.input_seq);
    fill->fill.fee--;

    struct order *order = &logged.orders[logged.n_orders / 2].row.order;
    order->qty += 1000;
    CHECK_INT(engine_explain_run(&options, &result, err, sizeof err), 0);
    CHECK(result.different);
    CHECK_STR(result.difference.table, "orders");
    CHECK_STR(result.difference.field, "qty");
    CHECK_INT(result.difference.id, order->id);
    order->qty -= 1000;

    uint64_t ids[] = {logged.n_orders + 5};
    CHECK_INT(run(ids, 1, &result, err), -ENOENT);
    CHECK(strstr(err, "not in the record"));
}

/* A log that begins after an order cannot explain it. */
static void test_older(void)
{
    char first[sizeof logged.dir];
    struct explain_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    snprintf(first, sizeof first, "%s", logged.dir);
    struct journal_writer *before = logged.writer;
    logged_writer(&logged);
    logged_state(&logged, STATE_ROTATION);
    size_t n = logged.n_orders;
    logged_play(&logged, 500, false);
    uint64_t ids[] = {1};
    CHECK_INT(run(ids, 1, &result, err), -ENOENT);
    CHECK(strstr(err, "older than the log"));
    CHECK(logged.n_orders > n);
    ids[0] = n + 1;
    CHECK_INT(run(ids, 1, &result, err), 0);
    CHECK_INT(run(NULL, 0, &result, err), 0);
    CHECK_INT(result.explained, logged.n_orders - n);
    journal_writer_close(before);
    scratch_remove(first);
}

/* Events that were never recorded: orders that ended meanwhile are not compared, those made then not known.
 */
static bool count_incomplete(void *ctx, const struct explanation *e)
{
    uint64_t *before = ctx;
    CHECK(e->incomplete ? !e->compared && e->order.id <= *before : e->equal);
    return true;
}

static void test_hole(void)
{
    struct explain_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    logged_open(&logged, 29);
    logged_play(&logged, 2000, false);
    while (engine_orders(logged.engine) == 0) /* one must be there for the hole to take */
        logged_play(&logged, 10, false);
    uint64_t before = logged.n_orders, lost;
    logged_play(&logged, 3000, true);
    lost = logged.n_orders - before;
    logged_state(&logged, STATE_AFTER_HOLE);
    logged_play(&logged, 2000, false);
    const struct explain_options options = {.path = logged.dir,
                                            .to_ns = INT64_MAX,
                                            .recorded = &logged.recorded,
                                            .ctx = &before,
                                            .explained = count_incomplete};
    CHECK_INT(engine_explain_run(&options, &result, err, sizeof err), 0);
    CHECK_INT(result.explained, logged.n_orders - lost);
    CHECK(result.incomplete > 0);
    CHECK_INT(result.equal + result.incomplete, result.explained);
    uint64_t ids[] = {before + 1};
    CHECK_INT(run(ids, 1, &result, err), 0);
    CHECK_INT(result.missing, 1);
    logged_close(&logged);
}

int main(void)
{
    for (uint64_t seed = 21; seed < 25; seed++) {
        logged_open_as(&logged, seed, seed % 2 == 0);
        logged_play(&logged, EVENTS, false);
        logged_state(&logged, STATE_ROTATION);
        logged_play(&logged, EVENTS, false);
        test_all();
        test_each();
        if (seed == 21) {
            test_altered();
            test_older();
        }
        logged_close(&logged);
    }
    test_hole();
    return check_done("explain");
}

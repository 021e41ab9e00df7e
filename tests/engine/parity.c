/* The log against the record: equal when it is, and the first planted difference is named with its event. */
#include "engine/parity.h"

#include "tests/engine/logged.h"

#define TIERS "0 0.1% 0.2%, 100 0.05% 0.1%"

enum { EVENTS = 4000 };

static struct logged logged;

static void by_volume(struct driver *driver)
{
    for (int a = 0; a < DRIVER_ACCOUNTS; a++)
        strcpy(driver->accounts[a].rules.fee_tiers, TIERS);
}

static struct parity_result compare(int64_t from_ns)
{
    struct parity_result result = {0};
    char err[JOURNAL_ERROR_MAX] = "";
    const struct parity_options options = {
        .path = logged.dir, .from_ns = from_ns, .recorded = &logged.recorded};
    CHECK_INT(engine_parity_run(&options, &result, err, sizeof err), 0);
    CHECK_STR(err, "");
    return result;
}

static void check_equal(const struct parity_result *result)
{
    CHECK(result->equal);
    if (!result->equal)
        fprintf(stderr, "event %ju (%s): %s %ju: %s: %s, not %s\n", (uintmax_t)result->difference_seq,
                result->difference_event, result->difference.table, (uintmax_t)result->difference.id,
                result->difference.field, result->difference.replayed, result->difference.recorded);
}

static void check_named(const struct parity_result *result, const char *table, uint64_t id, const char *field,
                        uint64_t seq)
{
    CHECK(!result->equal);
    CHECK_STR(result->difference.table, table);
    CHECK_INT(result->difference.id, id);
    CHECK_STR(result->difference.field, field);
    if (seq)
        CHECK_INT(result->difference_seq, seq);
    CHECK(result->difference_event[0] &&
          strcmp(result->difference.replayed, result->difference.recorded) != 0);
}

static void test_equal(uint64_t seed)
{
    logged_open_as(&logged, seed, seed % 2 == 0);
    logged_play(&logged, EVENTS, false);
    logged_state(&logged, STATE_ROTATION);
    int64_t middle_ns = logged.driver.now_ns;
    logged_play(&logged, EVENTS, false);
    struct parity_result result = compare(0);
    check_equal(&result);
    CHECK_INT(result.from_seq, 0);
    CHECK_INT(result.to_seq, 2 * EVENTS);
    CHECK_INT(result.events, 2 * EVENTS);
    CHECK_INT(result.orders, logged.n_orders);
    CHECK_INT(result.fills, logged.n_fills);
    CHECK_INT(result.ledger_rows, logged.n_ledger);
    CHECK_INT(result.unsettled + result.holes, 0);
    CHECK(logged.n_orders > 100 && logged.n_fills > 50);

    result = compare(middle_ns);
    check_equal(&result);
    CHECK_INT(result.from_seq, EVENTS);
    CHECK(result.orders > 0 && result.orders < logged.n_orders);
}

/* The record stops earlier than the log, as a database does that is behind; then later. */
static void test_ends(void)
{
    struct parity_result result;
    logged.recorded.event_seq = EVENTS + 100;
    result = compare(0);
    CHECK(result.to_seq == EVENTS + 100); /* rows of later events are changed or too many */
    logged.recorded.event_seq = 3 * EVENTS;
    result = compare(0);
    check_equal(&result);
    CHECK_INT(result.to_seq, 2 * EVENTS);
    CHECK_INT(result.unsettled, engine_orders(logged.engine));
    logged_settle(&logged);
}

static void test_planted(void)
{
    struct parity_result result;
    struct recorded_fill *fill = &logged.fills[logged.n_fills / 2];
    fill->fill.price++;
    result = compare(0);
    check_named(&result, "fills", fill->fill.id, "price", fill->fill.input_seq);
    fill->fill.price--;
    snprintf(fill->symbol, sizeof fill->symbol, "OTHER");
    result = compare(0);
    check_named(&result, "fills", fill->fill.id, "symbol", fill->fill.input_seq);
    snprintf(fill->symbol, sizeof fill->symbol, "%s", logged_symbol(&logged, fill->fill.symbol));

    struct ledger_row *row = &logged.ledger[logged.n_ledger / 3];
    row->hash[31] ^= 1;
    result = compare(0);
    check_named(&result, "ledger", row->id, "hash", 0);
    row->hash[31] ^= 1;
    row->amount++;
    result = compare(0);
    check_named(&result, "ledger", row->id, "amount", 0);
    row->amount--;
    uint64_t id = row->id;
    row->id = 0;
    result = compare(0);
    check_named(&result, "ledger", id, "row", 0);
    row->id = id;

    struct order *order = &logged.orders[logged.n_orders / 4].row.order;
    order->tag[0] ^= 1;
    result = compare(0);
    check_named(&result, "orders", order->id, "tag", 0);
    order->tag[0] ^= 1;
    order->input_seq++;
    result = compare(0);
    check_named(&result, "orders", order->id, "input_seq", 0);
    order->input_seq--;
    result = compare(0);
    check_equal(&result);
}

/* What became of dividends, and rates by volume. */
static void test_planted_charges(void)
{
    struct parity_result result;
    CHECK(logged.n_receivables > 2 && logged.n_fee_rates > 1);
    struct receivable_row *row = &logged.receivables[logged.n_receivables / 2];
    row->of.withheld++;
    result = compare(0);
    check_named(&result, "receivables", row->id, "of.withheld", row->input_seq);
    row->of.withheld--;
    row->kind = (row->kind + 1) % RECEIVABLE_KINDS;
    result = compare(0);
    check_named(&result, "receivables", row->id, "kind", row->input_seq);
    row->kind = (row->kind + RECEIVABLE_KINDS - 1) % RECEIVABLE_KINDS;
    logged.recorded.last_receivable++;
    result = compare(0);
    check_named(&result, "receivables", logged.n_receivables + 1, "row", 2 * EVENTS);
    logged.recorded.last_receivable -= 2;
    result = compare(0);
    check_named(&result, "receivables", logged.n_receivables, "row", 0);
    logged.recorded.last_receivable++;

    struct recorded_fee_rate *rate = &logged.fee_rates[logged.n_fee_rates - 1];
    rate->change.volume++;
    result = compare(0);
    check_named(&result, "fee_rates", rate->change.id, "volume", rate->change.input_seq);
    rate->change.volume--;
    rate->tiers[0] = '1';
    result = compare(0);
    check_named(&result, "fee_rates", rate->change.id, "tiers", rate->change.input_seq);
    CHECK_STR(result.difference.replayed, "\"" TIERS "\"");
    rate->tiers[0] = '0';
    logged.recorded.last_fee_rate++;
    result = compare(0);
    check_named(&result, "fee_rates", logged.n_fee_rates + 1, "row", 2 * EVENTS);
    logged.recorded.last_fee_rate--;
    result = compare(0);
    check_equal(&result);
}

/* An order that no event since the state reported: it is named. Returns whether there was one. */
static bool test_state(void)
{
    if (engine_orders(logged.engine) == 0)
        return false;
    struct order *order = &logged.orders[engine_order(logged.engine, 0)->id - 1].row.order;
    logged_state(&logged, STATE_ROTATION);
    order->tag[0] ^= 1;
    struct parity_result result = compare(logged.driver.now_ns);
    check_named(&result, "orders", order->id, "tag", 2 * EVENTS);
    CHECK_STR(result.difference_event, "the state after it");
    CHECK_INT(result.difference_ns, logged.driver.now_ns);
    order->tag[0] ^= 1;
    result = compare(logged.driver.now_ns);
    check_equal(&result);
    return true;
}

/* A row that nothing in the log gives. */
static void test_invented(void)
{
    struct recorded_fill *more =
        logged_next((void **)&logged.fills, &logged.n_fills, &logged.cap_fills, sizeof *more);
    more->fill.id = logged.n_fills;
    logged.recorded.last_fill = logged.n_fills;
    struct parity_result result = compare(0);
    check_named(&result, "fills", logged.n_fills, "row", 2 * EVENTS);
    logged.n_fills--;
    logged.recorded.last_fill--;
}

/* Events that were never recorded: the comparison continues after them. Then a state that is not the
 * engine's. */
static void test_hole(void)
{
    logged_play(&logged, 500, true);
    logged_state(&logged, STATE_AFTER_HOLE);
    logged_play(&logged, EVENTS, false);
    struct parity_result result = compare(0);
    check_equal(&result);
    CHECK_INT(result.holes, 500);
    CHECK_INT(result.events, 3 * EVENTS);
    CHECK_INT(result.to_seq, 3 * EVENTS + 500);

    struct codec codec = {0};
    char err[ENGINE_ERROR_MAX];
    struct engine *other = NULL;
    const struct engine_sink quiet = {0};
    codec_save(&codec);
    CHECK_INT(engine_save(logged.engine, &codec), 0);
    CHECK_INT(engine_load(codec.bytes, codec.len, &quiet, NULL, &other, err), 0);
    struct event event = {.seq = logged.driver.seq,
                          .recv_ns = logged.driver.now_ns,
                          .kind = EVENT_COMMAND,
                          .command = {.kind = engine_paused(other) ? COMMAND_RESUME : COMMAND_PAUSE}};
    CHECK_INT(engine_handle(other, &event), 0);
    logged_state_of(&logged, other, STATE_ROTATION);
    logged_play(&logged, 10, false);
    result = compare(0);
    CHECK(!result.equal);
    CHECK_STR(result.difference.table, "states");
    CHECK_INT(result.difference_seq, 3 * EVENTS + 500);
    engine_destroy(other);
    codec_finish(&codec);
}

static void test_errors(void)
{
    struct parity_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    const struct parity_options options = {.path = "/nonexistent", .recorded = &logged.recorded};
    CHECK(engine_parity_run(&options, &result, err, sizeof err) < 0);
    CHECK(err[0]);
}

int main(void)
{
    logged_prepare = by_volume;
    test_equal(10);
    test_planted_charges();
    logged_close(&logged);
    logged_prepare = NULL;
    test_equal(11);
    test_ends();
    test_planted();
    test_invented();
    test_hole();
    test_errors();
    logged_close(&logged);
    int states = 0;
    for (uint64_t seed = 100; seed < 112; seed++) {
        test_equal(seed);
        states += test_state();
        logged_close(&logged);
    }
    CHECK(states > 0);
    return check_done("parity");
}

/* The venue's fills beside the model's: a log of orders whose venue takes effect so much later and so much
 * worse gives back both. */
#include <math.h>

#include "engine/fill_compare.h"
#include "tests/engine/harness.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { ORDERS = 120, LATENCY_MS = 120, AHEAD_MS = 700 };

static struct harness h;
static char dir[SCRATCH_MAX];
static struct journal_writer *writer;
static struct journal_batch batch;
static struct codec codec;

static void put_state(void)
{
    CHECK_INT(engine_state_record_encode(h.engine, 1, STATE_NEW_RUN, NULL, 0, &codec), 0);
    const struct journal_record record = {JOURNAL_STATE, h.seq, h.now_ns, codec.bytes, codec.len};
    CHECK_INT(journal_batch_add(&batch, &record), 0);
}

static void put(struct event *event)
{
    event->seq = h.seq + 1;
    event->recv_ns = h.now_ns;
    CHECK_INT(event_encode(event, &codec), 0);
    const struct journal_record record = {JOURNAL_EVENT, event->seq, event->recv_ns, codec.bytes, codec.len};
    CHECK_INT(journal_batch_add(&batch, &record), 0);
    CHECK_INT(harness_event(&h, event), 0);
}

static void open_log(void)
{
    struct journal_tail tail;
    char err[JOURNAL_ERROR_MAX] = "";
    scratch_make(dir);
    const struct journal_writer_config config = {.dir = dir};
    CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
    journal_batch_init(&batch);
    harness_init(&h);
    h.accounts[ALICE].rules.execution = EXECUTION_VENUE_PAPER;
    harness_create(&h);
    put_state();
    const struct venue_total totals[] = {{.asset = "USDT", .scale = 8, .total = 10000000 * E8}};
    struct event attached = {.kind = EVENT_VENUE_ACCOUNT,
                             .venue_account = {.prefix = "00000001", .totals = totals, .n = 1}};
    struct event clock = {.kind = EVENT_VENUE_CLOCK, .venue_clock.ahead_ns = AHEAD_MS * MS_NS};
    put(&attached);
    put(&clock);
}

static void show(int64_t bid)
{
    struct event event = {.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_QUOTE,
                                     .symbol = BTCUSDT,
                                     .quote = {h.next_quote_id++, bid, 10 * E8, bid + E8 / 100, 10 * E8}}};
    put(&event);
}

/* Markets move each millisecond; the venue fills LATENCY_MS later, at what is shown then, slippage_bp worse.
 */
static void play(struct random *random, double slippage_bp)
{
    int64_t bid = 60000 * E8;
    for (int i = 0; i < ORDERS; i++) {
        bool sells = engine_account(h.engine, ALICE)->positions[BTCUSDT].qty > 0;
        struct order leg = {.account = ALICE,
                            .symbol = BTCUSDT,
                            .side = sells ? ORDER_SELL : ORDER_BUY,
                            .qty = E8 / 10,
                            .by_hand = true};
        struct event order = {.kind = EVENT_COMMAND,
                              .command = {.kind = COMMAND_ORDER,
                                          .command_id = h.seq + 1,
                                          .order = {.legs = &leg, .n_legs = 1}}};
        show(bid);
        put(&order);
        CHECK_INT(h.command_reason, ORDER_OK);
        for (int ms = 0; ms < LATENCY_MS; ms++) {
            h.now_ns += MS_NS;
            bid += random_between(random, -9, 9) * E8;
            show(bid);
        }
        int64_t shown = sells ? bid : bid + E8 / 100, filled_ns = h.now_ns;
        double worse = (double)shown * (1 + (sells ? -slippage_bp : slippage_bp) / 1e4);
        for (int ms = 0; ms < 30; ms++) { /* the report of it is on its way */
            h.now_ns += MS_NS;
            show(bid += E8);
        }
        struct event fill = {.kind = EVENT_VENUE_ORDER,
                             .venue_order = {.order_id = h.command_order,
                                             .update = VENUE_UPDATE_FILL,
                                             .fill = {.price = llround(worse / 1e6) * 1000000,
                                                      .qty = leg.qty,
                                                      .cumulative = leg.qty,
                                                      .notional = -1,
                                                      .fee_asset = "USDT",
                                                      .fee = 1,
                                                      .ts_ns = filled_ns + AHEAD_MS * MS_NS}}};
        put(&fill);
    }
}

static void test_fit(struct random *random, double slippage_bp)
{
    struct fill_comparison c;
    char err[JOURNAL_ERROR_MAX] = "";
    open_log();
    play(random, slippage_bp);
    CHECK_INT(journal_writer_put(writer, &batch), 0);
    journal_writer_close(writer);
    struct fill_compare_options options = {.path = dir};
    CHECK_INT(engine_fill_compare(&options, &c, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_INT(c.n, ORDERS);
    CHECK(c.latency_ms.n == ORDERS && c.slippage_bp.n == ORDERS);
    CHECK_NEAR(c.latency_ms.median, LATENCY_MS, 1e-9);
    CHECK_NEAR(c.slippage_bp.median, slippage_bp, 0.01); /* prices are cents: 0.0017 bp each */
    CHECK(c.slippage_bp.low > slippage_bp - 0.01 && c.slippage_bp.high < slippage_bp + 0.01);
    CHECK_INT(c.latency_ns, 50 * MS_NS);
    for (size_t i = 0; i < c.n; i++)
        CHECK(c.orders[i].model_qty == E8 / 10 && c.orders[i].venue_qty == E8 / 10);
    int64_t middle_ns = c.orders[ORDERS / 2].decided_ns;
    engine_fill_comparison_finish(&c);
    options.from_ns = middle_ns;
    CHECK_INT(engine_fill_compare(&options, &c, err, sizeof err), 0);
    CHECK_INT(c.n, ORDERS / 2);
    engine_fill_comparison_finish(&c);
    options.to_ns = middle_ns + 1;
    CHECK_INT(engine_fill_compare(&options, &c, err, sizeof err), 0);
    CHECK_INT(c.n, 1);
    engine_fill_comparison_finish(&c);
    options = (struct fill_compare_options){.path = "/nonexistent"};
    CHECK(engine_fill_compare(&options, &c, err, sizeof err) < 0 && err[0]);
    harness_close(&h);
    journal_batch_finish(&batch);
    scratch_remove(dir);
}

int main(void)
{
    struct random random = random_seeded("engine/fill_compare", 29);
    test_fit(&random, 3);
    test_fit(&random, 0);
    test_fit(&random, -1.5);
    codec_finish(&codec);
    return check_done("engine/fill_compare");
}

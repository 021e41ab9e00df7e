/* EVENT_STOP in random worlds, with shorts, resets and two quote currencies: a point of equity of each
 * account, which is its currency, dividends to be paid in it, and each of its quantities at its mark, and a
 * mark of each thing held. */
#include "tests/check.h"
#include "tests/engine/driver.h"

enum { RUNS = 60, EVENTS = 1200, STOP_EVERY = 150 };

struct stopped {
    struct engine *engine;
    struct equity_point points[ACCOUNTS_MAX];
    struct engine_mark marks[ACCOUNTS_MAX * DRIVER_SYMBOLS];
    int n_points, n_marks;
    bool bars; /* the bar model */
    uint64_t stops, all_marks, shorts;
};

static void take_point(void *ctx, const struct equity_point *point)
{
    struct stopped *s = ctx;
    if (s->n_points < ACCOUNTS_MAX)
        s->points[s->n_points++] = *point;
}

static void take_mark(void *ctx, const struct engine_mark *mark)
{
    struct stopped *s = ctx;
    CHECK(s->n_points > 0 && s->points[s->n_points - 1].account == mark->account &&
          s->points[s->n_points - 1].ts_ns == mark->ts_ns); /* right after its point */
    if (s->n_marks < (int)(sizeof s->marks / sizeof *s->marks))
        s->marks[s->n_marks++] = *mark;
}

/* price·qty in quote units, rounded down: what is held is not made more, and what is short not less. */
static int128_t value(const struct symbol *symbol, int64_t price, int64_t qty)
{
    int128_t unit = 1, product = (int128_t)price * qty;
    for (int i = symbol->price_scale + symbol->qty_scale - symbol->quote_scale; i > 0; i--)
        unit *= 10;
    return product / unit - (product % unit < 0);
}

static void check_point(struct stopped *s, const struct equity_point *point)
{
    const struct account *account = engine_account(s->engine, point->account);
    const struct balance *currency = &account->assets[account->currency_at];
    int128_t equity = (int128_t)currency->total - currency->borrowed - account->unpaid_interest;
    for (uint32_t i = 0; i < account->n_receivables; i++) /* dividends that are booked and not paid */
        if (strcmp(account->receivables[i].asset, account->currency) == 0)
            equity += account->receivables[i].amount;
    int held = 0, marked = 0;
    for (int symbol = 0; symbol < engine_symbols(s->engine); symbol++)
        held += account->positions[symbol].qty != 0;
    for (int i = 0; i < s->n_marks; i++) {
        const struct engine_mark *mark = &s->marks[i];
        if (mark->account != point->account)
            continue;
        const struct symbol *symbol = engine_symbol(s->engine, mark->symbol);
        const struct position *position = &account->positions[mark->symbol];
        struct engine_symbol_view view;
        engine_symbol_view(s->engine, mark->symbol, &view);
        marked++;
        s->shorts += mark->qty < 0;
        CHECK_INT(mark->qty, position->qty);
        CHECK_INT(mark->mark, view.mark);
        CHECK(mark->mark_ns <= engine_received(s->engine) && (mark->mark > 0) == (mark->mark_ns > 0));
        if (strcmp(symbol->quote, account->currency) == 0)
            equity += mark->mark > 0      ? value(symbol, mark->mark, mark->qty)
                      : position->qty < 0 ? -position->cost
                                          : position->cost;
    }
    CHECK_INT(marked, held);
    CHECK(equity == point->equity && point->equity == engine_equity(s->engine, point->account));
    CHECK_INT(point->cash, currency->total);
    int64_t stop_ns = engine_now(s->engine), received_ns = engine_received(s->engine) - s->engine->behind_ns;
    if (s->bars && received_ns > stop_ns) /* what came since the last bar is before it */
        stop_ns = received_ns;
    CHECK_INT(point->ts_ns, stop_ns);
}

static void stop(struct driver *d, struct stopped *s)
{
    struct event event = {.seq = ++d->seq, .recv_ns = d->now_ns, .kind = EVENT_STOP};
    bool seen[ACCOUNTS_MAX] = {false};
    s->n_points = s->n_marks = 0;
    CHECK_INT(engine_handle(s->engine, &event), 0);
    for (int i = 0; i < s->n_points; i++)
        seen[s->points[i].account] = true;
    for (int a = 0; a < engine_accounts(s->engine); a++)
        CHECK(seen[a] == engine_account(s->engine, a)->started);
    for (int i = 0; i < s->n_points; i++)
        if (i + 1 == s->n_points || s->points[i + 1].account != s->points[i].account)
            check_point(s, &s->points[i]);
    s->stops++;
    s->all_marks += (uint64_t)s->n_marks;
}

static void run(uint64_t seed, struct stopped *s)
{
    static struct driver d;
    struct engine_sink sink = {.ctx = s, .equity = take_point, .mark = take_mark};
    driver_init(&d, seed);
    d.configures = true;
    if (seed % 2 == 0)
        driver_venues(&d);
    s->bars = d.config.fill_model == FILL_BAR;
    CHECK_INT(engine_create(&d.config, &sink, &s->engine), 0);
    s->n_points = s->n_marks = 0;
    CHECK_INT(engine_start(s->engine, d.now_ns), 0);
    for (int i = 0; i < EVENTS; i++) {
        struct event event;
        driver_next(&d, s->engine, &event);
        s->n_points = s->n_marks = 0;
        engine_handle(s->engine, &event);
        CHECK_INT(s->n_marks, 0); /* of a stop alone */
        if (i % STOP_EVERY == STOP_EVERY - 1)
            stop(&d, s);
    }
    engine_destroy(s->engine);
}

int main(void)
{
    static struct stopped s;
    struct random random = random_seeded("engine/stop", 20261129);
    for (int i = 0; i < RUNS; i++)
        run(random.state + (uint64_t)i, &s);
    CHECK(s.all_marks > s.stops && s.shorts > 0);
    printf("engine/stop: %d runs, %llu stops, %llu marks, %llu of shorts\n", RUNS,
           (unsigned long long)s.stops, (unsigned long long)s.all_marks, (unsigned long long)s.shorts);
    return check_done("engine/stop");
}

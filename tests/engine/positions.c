/* Average and first-in-first-out cost: examples computed by hand, then random positions compared with an
 * accounting that keeps nothing but the fills: every unit of base asset with what it cost. With the argument
 * "print" it prints a random run for positions_oracle.py instead. */
#include "engine/position.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

struct book_of_one {
    struct position position;
    struct lots lots;
};

static void apply(struct book_of_one *b, enum order_side side, int64_t qty, int64_t notional, int64_t ts_ns)
{
    CHECK_INT(position_apply(&b->position, &b->lots, side, qty, notional, ts_ns), 0);
}

static void expect(const struct book_of_one *b, int64_t qty, int64_t cost, int64_t realized,
                   int64_t fifo_cost, int64_t fifo_realized, int64_t opened_ns)
{
    CHECK_INT(b->position.qty, qty);
    CHECK_INT(b->position.cost, cost);
    CHECK_INT(b->position.realized, realized);
    CHECK_INT(b->position.fifo_cost, fifo_cost);
    CHECK_INT(b->position.fifo_realized, fifo_realized);
    CHECK_INT(b->position.opened_ns, opened_ns);
}

/* Ten at 100 and ten at 120; five go at 130, ten at 90, the rest at 100. */
static void test_long(void)
{
    struct book_of_one b = {0};
    apply(&b, ORDER_BUY, 10, 1000, 1);
    expect(&b, 10, 1000, 0, 1000, 0, 1);
    apply(&b, ORDER_BUY, 10, 1200, 2);
    expect(&b, 20, 2200, 0, 2200, 0, 1);
    apply(&b, ORDER_SELL, 5, 650, 3);
    expect(&b, 15, 1650, 100, 1700, 150, 1);
    apply(&b, ORDER_SELL, 10, 900, 4); /* the first lot's last five, and five of the second */
    expect(&b, 5, 550, -100, 600, -50, 2);
    CHECK_INT(b.lots.n - b.lots.first, 1);
    apply(&b, ORDER_SELL, 5, 500, 5);
    expect(&b, 0, 0, -150, 0, -150, 0);
    CHECK_INT(b.position.updated_ns, 5);
    CHECK_INT(b.lots.n, 0);
    position_lots_finish(&b.lots);
}

/* The same mirrored: sold short at 100 and 120, bought back at 110. */
static void test_short(void)
{
    struct book_of_one b = {0};
    apply(&b, ORDER_SELL, 10, 1000, 1);
    expect(&b, -10, 1000, 0, 1000, 0, 1);
    apply(&b, ORDER_SELL, 10, 1200, 2);
    expect(&b, -20, 2200, 0, 2200, 0, 1);
    apply(&b, ORDER_BUY, 5, 550, 3);
    expect(&b, -15, 1650, 0, 1700, -50, 1);
    apply(&b, ORDER_BUY, 15, 1650, 4);
    expect(&b, 0, 0, 0, 0, 0, 0);
    position_lots_finish(&b.lots);
}

/* Through zero: thirty sold of ten held close ten and open twenty, of 1000 and 2001 of the 3001. */
static void test_through_zero(void)
{
    struct book_of_one b = {0};
    apply(&b, ORDER_BUY, 10, 900, 1);
    apply(&b, ORDER_SELL, 30, 3001, 2);
    expect(&b, -20, 2001, 100, 2001, 100, 2);
    apply(&b, ORDER_BUY, 21, 2100, 3);
    expect(&b, 1, 100, 101, 100, 101, 3);
    position_lots_finish(&b.lots);
}

/* What a part cost is rounded down; the last part takes what is left. */
static void test_rounding(void)
{
    struct book_of_one b = {0};
    apply(&b, ORDER_BUY, 3, 10, 1);
    apply(&b, ORDER_SELL, 1, 4, 2);
    expect(&b, 2, 7, 1, 7, 1, 1);
    apply(&b, ORDER_SELL, 1, 4, 3);
    expect(&b, 1, 4, 2, 4, 2, 1);
    apply(&b, ORDER_SELL, 1, 0, 4);
    expect(&b, 0, 0, -2, 0, -2, 0);
    position_lots_finish(&b.lots);
}

static void test_bounds(void)
{
    struct book_of_one b = {0};
    apply(&b, ORDER_BUY, INT64_MAX, INT64_MAX, 1);
    struct position before = b.position;
    CHECK_INT(position_apply(&b.position, &b.lots, ORDER_BUY, 1, 0, 2), -ERANGE);
    CHECK(memcmp(&before, &b.position, sizeof before) == 0);
    apply(&b, ORDER_SELL, INT64_MAX - 1, 0, 3);
    expect(&b, 1, 1, -(INT64_MAX - 1), 1, -(INT64_MAX - 1), 1);
    apply(&b, ORDER_BUY, INT64_MAX - 1, INT64_MAX - 1, 4);
    apply(&b, ORDER_SELL, INT64_MAX, 0, 5); /* the lifetime's loss stops at the end of the numbers */
    expect(&b, 0, 0, INT64_MIN, 0, INT64_MIN, 0);
    CHECK_INT(position_apply(&b.position, &b.lots, ORDER_SELL, INT64_MAX, 5, 6), 0);
    CHECK_INT(position_apply(&b.position, &b.lots, ORDER_SELL, 1, 5, 7), -ERANGE);
    position_lots_finish(&b.lots);
    CHECK(!b.lots.lots && b.lots.cap == 0);
}

/* ---- against units ---- */

enum { UNITS_MAX = 4096 };

/* Every unit held, oldest first; each cost the same as the others of its fill. */
struct units {
    int32_t fill[UNITS_MAX];
    int first, n, sign;
};

static void draw(struct random *random, const struct position *p, enum order_side *side, int64_t *qty,
                 int64_t *notional)
{
    *side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL;
    int64_t against = *side == ORDER_BUY ? -p->qty : p->qty;
    *qty = random_between(random, 1, random_chance(random, 70) ? 5 : 60);
    if (against > 0 && random_chance(random, 30))
        *qty = against; /* flat */
    *notional = *qty * random_between(random, 90, 110) + random_between(random, 0, *qty);
}

static void test_units(struct random *random)
{
    static struct units units;
    struct book_of_one b = {0};
    int64_t bought = 0, sold = 0, qty_sum = 0;
    units = (struct units){0};
    for (int32_t i = 0; i < 500; i++) {
        enum order_side side;
        int64_t qty, notional;
        draw(random, &b.position, &side, &qty, &notional);
        apply(&b, side, qty, notional, i + 1);
        *(side == ORDER_BUY ? &bought : &sold) += notional;
        int sign = side == ORDER_BUY ? 1 : -1;
        qty_sum += sign * qty;
        for (int64_t u = 0; u < qty; u++) {
            if (units.first == units.n) {
                units.first = units.n = 0;
                units.sign = sign;
            }
            if (units.sign != sign) {
                units.first++;
                continue;
            }
            if (units.n == UNITS_MAX) {
                units.n -= units.first;
                memmove(units.fill, units.fill + units.first, (size_t)units.n * sizeof *units.fill);
                units.first = 0;
            }
            units.fill[units.n++] = i;
        }
        const struct position *p = &b.position;
        CHECK_INT(p->qty, qty_sum);
        CHECK_INT(units.n - units.first, qty_sum < 0 ? -qty_sum : qty_sum);
        CHECK_INT(p->opened_ns, units.first == units.n ? 0 : units.fill[units.first] + 1);
        CHECK(p->cost >= 0 && p->fifo_cost >= 0);
        /* The money is all there, by both methods. */
        int sense = p->qty < 0 ? -1 : 1;
        CHECK_INT(p->realized - sense * p->cost, sold - bought);
        CHECK_INT(p->fifo_realized - sense * p->fifo_cost, sold - bought);
        CHECK(p->qty != 0 || (p->cost == 0 && p->fifo_cost == 0 && p->realized == p->fifo_realized));
        /* One lot a fill that is still held, as many units as there are of it. */
        int u = units.first;
        int64_t cost = 0;
        for (uint32_t k = b.lots.first; k < b.lots.n; k++) {
            const struct lot *lot = &b.lots.lots[k];
            int n = 0;
            while (u < units.n && units.fill[u] + 1 == lot->opened_ns) {
                u++;
                n++;
            }
            CHECK_INT(lot->qty, n);
            cost += lot->cost;
        }
        CHECK_INT(u, units.n);
        CHECK_INT(p->fifo_cost, cost);
    }
    position_lots_finish(&b.lots);
}

static void print_run(struct random *random)
{
    struct book_of_one b = {0};
    puts("side,qty,notional,held,cost,realized,fifo_cost,fifo_realized,opened");
    for (int i = 1; i <= 20000; i++) {
        const struct position *p = &b.position;
        enum order_side side;
        int64_t qty, notional;
        draw(random, p, &side, &qty, &notional);
        if (position_apply(&b.position, &b.lots, side, qty, notional, i) < 0)
            exit(EXIT_FAILURE);
        printf("%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
               ",%" PRId64 "\n",
               side == ORDER_BUY ? "BUY" : "SELL", qty, notional, p->qty, p->cost, p->realized, p->fifo_cost,
               p->fifo_realized, p->opened_ns);
    }
    position_lots_finish(&b.lots);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "print") == 0) {
        struct random random = {argc > 2 ? strtoull(argv[2], NULL, 0) : 1};
        print_run(&random);
        return EXIT_SUCCESS;
    }
    struct random random = random_seeded("engine/positions", 41);
    test_long();
    test_short();
    test_through_zero();
    test_rounding();
    test_bounds();
    for (int i = 0; i < 500; i++)
        test_units(&random);
    return check_done("engine/positions");
}

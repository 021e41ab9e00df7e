/* Whole records with their bars and clean stops, in two currencies: DIR/SEED of as many seeds, a line of JSON
 * each with what happened in it: books-runs DIR FIRST-SEED N EVENTS. */
#include <sys/stat.h>

#include "tests/db/books.h"

/* The first account is in a currency that is another symbol's base; the third is short with little behind it.
 * Prices have digits enough that every notional and value is rounded. */
static void prepare(struct driver *driver)
{
    for (int s = 0; s < DRIVER_SYMBOLS; s++) {
        driver->markets[s].low += s == 2 ? 1237 : 12345679;
        driver->symbols[s].filters.tick = driver->symbols[s].filters.price_min = 0;
    }
    driver->accounts[2].cash = 300 * DRIVER_E8;
    driver->accounts[2].rules.maintenance_e4 = driver->accounts[2].rules.collateral_e4 - 1;
    driver->accounts[3].rules.maintenance_e4 = driver->accounts[3].rules.collateral_e4 - 1;
    snprintf(driver->accounts[0].currency, sizeof driver->accounts[0].currency, "BTC");
    driver->accounts[0].cash = 3 * DRIVER_E8;
}

/* Half of the dividends that are paid later are paid up to three hours later, so that resets come between. */
static void change(struct event *event)
{
    struct corporate_action *action = &event->action.action;
    if (event->kind == EVENT_ACTION && action->kind == ACTION_DIVIDEND && action->pay_ns > 0 &&
        action->cash % 2 == 0)
        action->pay_ns = action->ex_ns + (action->pay_ns - action->ex_ns) * 2000;
}

enum { STOP_EVERY = 300 };

static void print(const struct books *b, uint64_t seed)
{
    printf("{\"seed\":%" PRIu64 ",\"fills\":%" PRIu64 ",\"actions\":%" PRIu64 ",\"margin_calls\":%" PRIu64,
           seed, b->fills, b->actions, b->margin_calls);
    printf(",\"marks\":%" PRIu64 ",\"booked\":%" PRIu64 ",\"paid\":%" PRIu64 ",\"written_off\":%" PRIu64,
           b->marks, b->receivables[RECEIVABLE_BOOKED], b->receivables[RECEIVABLE_PAID],
           b->receivables[RECEIVABLE_WRITTEN_OFF]);
    for (int kind = 0; kind < LEDGER_KINDS; kind++)
        printf(",\"%s\":%" PRIu64, ledger_kind_name((enum ledger_kind)kind), b->rows[kind]);
    printf(",\"stopped_ns\":%" PRId64 "}\n", b->point_ns);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct books b;
    char path[SCRATCH_PATH_MAX];
    if (argc != 5) {
        fprintf(stderr, "books-runs DIR FIRST-SEED N EVENTS\n");
        return EXIT_FAILURE;
    }
    const uint64_t first = strtoull(argv[2], NULL, 10), n = strtoull(argv[3], NULL, 10);
    books_prepare = prepare;
    books_change = change;
    books_bars = true;
    books_stop_every = STOP_EVERY;
    for (uint64_t seed = first; seed < first + n; seed++) {
        snprintf(path, sizeof path, "%s/%" PRIu64, argv[1], seed);
        CHECK(mkdir(path, 0700) == 0);
        snprintf(path, sizeof path, "%s/%" PRIu64 "/papertape.db", argv[1], seed);
        books_keep(&b, path, seed, atoi(argv[4]));
        print(&b, seed);
        books_close(&b);
    }
    fflush(stdout);
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

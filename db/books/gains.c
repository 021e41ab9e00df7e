#include "db/books/gains.h"

#include "db/books/walk.h"
#include "db/reader_query.h"
#include "record/print.h"

#define ROW struct db_gain
static const struct record_field fields[] = {
    PRINT_AS(ACCOUNT, REQUIRED, account, "account"),
    PRINT_AS(SYMBOL, REQUIRED, symbol, "symbol"),
    PRINT_AS(TIME, REQUIRED, acquired_ns, "acquired_ns"),
    PRINT_AS(TIME, REQUIRED, disposed_ns, "disposed_ns"),
    PRINT_QTY(qty),
    PRINT_QUOTE(proceeds),
    PRINT_QUOTE(cost),
    PRINT_QUOTE(fees),
    PRINT_QUOTE(gain),
    PRINT_AS(UNSIGNED, OPTIONAL, opened_by, "opened_by"),
    PRINT_AS(UNSIGNED, OPTIONAL, closed_by, "closed_by"),
    PRINT_AS(SIGNED, REQUIRED, days, "days"),
    PRINT_AS(SIGNED, REQUIRED, epoch, "epoch"),
    PRINT_AS(STRING, REQUIRED, side, "side"),
    PRINT_AS(STRING, REQUIRED, quote, "quote"),
};
const struct record db_gains = RECORD_OF("gains", fields);
#undef ROW

static const int64_t day_ns = 86400 * INT64_C(1000000000);

struct reading {
    struct db_reader *reader;
    const struct db_gains_query *query;
    void (*row)(void *ctx, const struct db_gain *gain, const struct record_context *context);
    void *ctx;
};

static int64_t days_between(int64_t from_ns, int64_t to_ns)
{
    const int64_t days = to_ns / day_ns - from_ns / day_ns;
    return days < 0 ? -days : days;
}

static struct db_gain gain_of(const struct db_books_change *change, const struct db_books_part *part,
                              enum db_gain_method method)
{
    const bool is_short = change->ended_short;
    const int64_t opened = method == DB_GAIN_AVERAGE ? part->average : part->of.cost;
    struct db_gain gain = {
        .account = change->account,
        .symbol = change->symbol,
        .epoch = change->epoch,
        .is_short = is_short,
        .side = is_short ? "short" : "long",
        .acquired_ns = is_short ? change->ts_ns : part->of.opened_ns,
        .disposed_ns = is_short ? part->of.opened_ns : change->ts_ns,
        .qty = part->of.qty,
        .proceeds = is_short ? opened : part->value,
        .cost = is_short ? part->value : opened,
        .fees = part->of.fee + part->fee,
        .days = days_between(part->of.opened_ns, change->ts_ns),
        .opened_by = part->of.fill,
        .closed_by = change->fill ? change->fill->id : 0,
    };
    gain.gain = gain.proceeds - gain.cost;
    return gain;
}

static void take_change(void *ctx, const struct db_books_change *change)
{
    const struct reading *reading = ctx;
    const struct db_gains_query *query = reading->query;
    if ((change->cause != DB_BOOKS_FILL && change->cause != DB_BOOKS_VOID) ||
        change->ts_ns < query->from_ns || (query->to_ns && change->ts_ns >= query->to_ns))
        return;
    const struct symbol *symbol = &reading->reader->symbols[change->symbol].symbol;
    const char *account = reading->reader->accounts[change->account].account.name;
    for (size_t i = 0; i < change->n_ended; i++) {
        struct db_gain gain = gain_of(change, &change->ended[i], query->method);
        gain.quote = symbol->quote;
        reading->row(reading->ctx, &gain, &(struct record_context){symbol, account});
    }
}

int db_gains_read(struct db_reader *reader, const struct db_gains_query *query,
                  void (*row)(void *ctx, const struct db_gain *gain, const struct record_context *context),
                  void *ctx)
{
    struct reading reading = {reader, query, row, ctx};
    return db_books_walk(
        reader, &(struct db_books_walk){.account = query->account, .ctx = &reading, .change = take_change});
}

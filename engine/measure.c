#include "engine/measure.h"

#include <stdlib.h>
#include <string.h>

#include "engine/core.h"

static void flat(const double values[static BOOK_MEASURES], struct measure_bar ret[static BOOK_MEASURES])
{
    for (int m = 0; m < BOOK_MEASURES; m++)
        ret[m] = (struct measure_bar){values[m], values[m], values[m], values[m]};
}

/* Another bar starts, with the present values. */
static void begin_bar(struct measure_track *track, int64_t open_ns)
{
    track->previous = track->forming;
    track->forming = (struct measure_span){.open_ns = open_ns, .there = track->standing};
    track->carried = track->standing;
    memcpy(track->before, track->now, sizeof track->before);
    if (track->standing)
        flat(track->now, track->forming.bars);
    track->started = true;
}

void engine_measure_note(struct measure_track *track, int64_t open_ns, const double measures[BOOK_MEASURES])
{
    if (!track->started || open_ns > track->forming.open_ns)
        begin_bar(track, open_ns);
    track->standing = measures != NULL;
    if (!measures)
        return;
    memcpy(track->now, measures, sizeof track->now);
    struct measure_span *forming = &track->forming;
    if (!forming->there) {
        forming->there = true;
        flat(measures, forming->bars);
        return;
    }
    for (int m = 0; m < BOOK_MEASURES; m++) {
        struct measure_bar *bar = &forming->bars[m];
        bar->high = measures[m] > bar->high ? measures[m] : bar->high;
        bar->low = measures[m] < bar->low ? measures[m] : bar->low;
        bar->close = measures[m];
    }
}

bool engine_measure_of(const struct measure_track *track, int64_t open_ns,
                       struct measure_bar ret[static BOOK_MEASURES])
{
    const struct measure_span *forming = &track->forming, *previous = &track->previous;
    if (!track->started)
        return false;
    const struct measure_span *of = open_ns == forming->open_ns    ? forming
                                    : open_ns == previous->open_ns ? previous
                                                                   : NULL;
    if (of && of->there) {
        memcpy(ret, of->bars, sizeof of->bars);
        return true;
    }
    bool after = open_ns > forming->open_ns,
         between = open_ns < forming->open_ns && open_ns > previous->open_ns;
    if (of || !((after && track->standing) || (between && track->carried)))
        return false;
    flat(after ? track->now : track->before, ret);
    return true;
}

/* --- in the engine */

/* The venue's time now; in a log without EVENT_VENUE_CLOCK as the last kline has it, where that differs. */
static int64_t venue_now_ns(const struct engine *engine, int symbol)
{
    if (engine->markets[symbol].ahead_ns == 0 && engine->behind_ns >= ENGINE_CLOCK_OFF_NS)
        return engine->recv_ns - engine->behind_ns;
    return engine_venue_ns(engine, symbol, engine->recv_ns);
}

void engine_measure_update(struct engine *engine, int symbol, int64_t event_ns)
{
    struct market_state *market = &engine->markets[symbol];
    const struct market_quote *quote = &market->quote;
    if (!engine->measures && !engine->sink.book_bar)
        return;
    double measures[BOOK_MEASURES];
    bool there;
    if (market->book.state == BOOK_SYNCED) {
        there = book_measures(&market->book, &market->symbol, measures);
    } else {
        const struct book_level bid = {quote->bid, quote->bid_qty}, ask = {quote->ask, quote->ask_qty};
        there = book_measures_quote(&bid, &ask, &market->symbol, measures);
    }
    const double *reported = there ? measures : NULL;
    int64_t ts_ns = event_ns > 0 ? event_ns : venue_now_ns(engine, symbol);
    int64_t open_ns = engine_calendars_open(engine, symbol, ts_ns);
    if (engine->sink.book_bar) {
        if (!market->measured)
            market->measured = calloc(1, sizeof *market->measured);
        if (market->measured)
            engine_measure_note(market->measured, open_ns, reported);
        else
            engine->out_of_memory = true;
    }
    for (int a = 0; engine->measures && a < engine->n_accounts; a++)
        if (engine->runners[a].slots && engine->runners[a].slots[symbol].measured)
            engine_measure_note(engine->runners[a].slots[symbol].measured, open_ns, reported);
}

void engine_measure_report(struct engine *engine, int symbol, int64_t open_ns)
{
    const struct measure_track *track = engine->markets[symbol].measured;
    struct measure_bar bars[BOOK_MEASURES];
    if (!engine->sink.book_bar || !track || !engine_measure_of(track, open_ns, bars))
        return;
    struct engine_book_bar reported = {.symbol = symbol, .open_ns = open_ns};
    for (int m = 0; m < BOOK_MEASURES; m++) {
        reported.measures[m].open = bars[m].open;
        reported.measures[m].high = bars[m].high;
        reported.measures[m].low = bars[m].low;
        reported.measures[m].close = bars[m].close;
    }
    engine->sink.book_bar(engine->sink.ctx, &reported);
}

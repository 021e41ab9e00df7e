#include "exchange/history/missing.h"

const char *const history_why_words[HISTORY_WHYS] = {
    [HISTORY_BEFORE] = "before the listing",
    [HISTORY_BEFORE_BAR] = "before the venue's first bar",
    [HISTORY_BEFORE_TRADE] = "before the venue's first trade",
    [HISTORY_CLOSED] = "closed",
    [HISTORY_NO_TRADE] = "no eligible trade",
    [HISTORY_GAP] = "gap",
};

/* The bar that is expected at `ns` or, of a time that no session holds, how long that is. */
static void find_span(const struct history_looking *looking, int64_t ns, int64_t *ret_open_ns,
                      int64_t *ret_end_ns, bool *ret_closed)
{
    const bool days = looking->interval_ns >= BAR_DAY_NS;
    struct session_span span;
    trading_bar_span(looking->calendar, looking->interval_ns, ns, ret_open_ns, ret_end_ns);
    bool known = looking->calendar->n > 0 &&
                 trading_span_at(looking->calendar, days ? SESSION_REGULAR : SESSION_EXTENDED, ns, &span);
    *ret_closed = known && span.open_ns >= (days ? *ret_end_ns : ns + 1);
    if (*ret_closed && !days) {
        *ret_open_ns = ns;
        *ret_end_ns = span.open_ns;
    }
}

/* The expected bars that open before `end_ns`, a run for each reason. */
static void report(struct history_looking *looking, int64_t end_ns)
{
    struct history_missing run = {.rows = 0};
    while (looking->next_ns < end_ns) {
        int64_t open_ns, bar_end_ns;
        bool closed;
        find_span(looking, looking->next_ns, &open_ns, &bar_end_ns, &closed);
        if (looking->next_ns < looking->listed_ns && bar_end_ns > looking->listed_ns)
            bar_end_ns = looking->listed_ns;
        if (looking->next_ns < looking->first_ns && bar_end_ns > looking->first_ns)
            bar_end_ns = looking->first_ns;
        bar_end_ns = closed && bar_end_ns > end_ns ? end_ns : bar_end_ns;
        enum history_why why = open_ns < looking->listed_ns  ? HISTORY_BEFORE
                               : open_ns < looking->first_ns ? HISTORY_BEFORE_BAR
                               : closed                      ? HISTORY_CLOSED
                               : looking->calendar->n > 0    ? HISTORY_NO_TRADE
                                                             : HISTORY_GAP;
        if (run.rows > 0 && why != run.why) {
            looking->found(looking->ctx, &run);
            run.rows = 0;
        }
        if (run.rows == 0)
            run.from_ns = open_ns;
        run.why = why;
        run.end_ns = bar_end_ns;
        run.rows += (bar_end_ns - open_ns + looking->interval_ns - 1) / looking->interval_ns;
        looking->next_ns = bar_end_ns;
    }
    if (run.rows > 0)
        looking->found(looking->ctx, &run);
}

void history_missing_bar(struct history_looking *looking, int64_t open_ns)
{
    int64_t from_ns;
    report(looking, open_ns);
    trading_bar_span(looking->calendar, looking->interval_ns, open_ns, &from_ns, &looking->next_ns);
}

void history_missing_end(struct history_looking *looking, int64_t end_ns)
{
    report(looking, end_ns);
}

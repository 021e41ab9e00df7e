/* What an order waits for while its market is closed, and how it is sent to its venue, in words: `order` and
 * `flatten` say the first, `order` the second. */
#include <inttypes.h>
#include <stdio.h>

#include "daemon/command/internal.h"
#include "exchange/clock.h"
#include "exchange/order_rules.h"

enum { WORDS_MAX = 160 };

/* "2025-11-28 09:30 New York (14:30Z)"; unless `whole`, "13:00", of the same day. */
static int print_local(const struct order_rules *rules, int64_t ns, bool whole, char *ret, size_t size)
{
    char utc[CLOCK_TEXT_MAX], date[CLOCK_TEXT_MAX];
    int32_t day;
    int minute = order_rules_minute(rules, ns, &day);
    if (!whole)
        return snprintf(ret, size, "%02d:%02d", minute / 60, minute % 60);
    clock_utc_text(ns, utc);
    clock_utc_text(day * INT64_C(86400000000000), date);
    return snprintf(ret, size, "%.10s %02d:%02d %s (%.5sZ)", date, minute / 60, minute % 60, rules->zone_name,
                    utc + 11);
}

/* The moment it waits for by the venue's clock, as its sessions are, and its words; an order of the day ends
 * at *ret_until_ns, for others it is the same moment. NULL: it waits for nothing that is known. */
static const char *awaited(const struct engine *engine, const struct order *order, int64_t *ret_at_ns,
                           int64_t *ret_until_ns)
{
    bool closing = order->tif == ORDER_CLS;
    struct engine_symbol_view view;
    struct session_span span;
    engine_symbol_view(engine, order->symbol, &view);
    bool extended = !order_is_of_auction(order->tif) && (view.extended || order->extended_hours);
    int64_t given_ns = order->created_ns + engine_symbol_ahead_ns(engine, order->symbol);
    if (!trading_span_at(engine_calendar(engine, order->symbol),
                         extended ? SESSION_EXTENDED : SESSION_REGULAR, given_ns, &span) ||
        (!closing && span.open_ns <= given_ns))
        return NULL;
    *ret_at_ns = closing ? span.close_ns : span.open_ns;
    *ret_until_ns = order->tif == ORDER_DAY ? span.close_ns : *ret_at_ns; /* others end then, or whenever */
    return closing ? "the close" : "the open";
}

void daemon_command_waits(const struct request *request, const struct order *order, json_t *list)
{
    const struct symbol *symbol = engine_symbol(request->engine, order->symbol);
    const struct order_rules *rules = order_rules_of(symbol);
    int64_t at_ns, until_ns;
    char words[WORDS_MAX];
    bool at_once = order->tif == ORDER_IOC || order->tif == ORDER_FOK;
    if (!rules || !symbol->calendar[0] || at_once || !order_live(order->state) || order->state == ORDER_HELD)
        return;
    const char *what = awaited(request->engine, order, &at_ns, &until_ns);
    if (!what)
        return;
    int n = snprintf(words, sizeof words, "waits for %s, ", what);
    n += print_local(rules, at_ns, true, words + n, sizeof words - (size_t)n);
    if (until_ns != at_ns) {
        n += snprintf(words + n, sizeof words - (size_t)n, ", until ");
        print_local(rules, until_ns, false, words + n, sizeof words - (size_t)n);
    }
    json_array_append_new(list, json_pack("{s:I, s:s, s:I, s:I, s:s}", "order", (json_int_t)order->id, "for",
                                          what + 4, "at_ns", (json_int_t)at_ns, "until_ns",
                                          (json_int_t)until_ns, "words", words));
}

void daemon_command_sent_as(const struct request *request, const struct order *order, json_t *list)
{
    const struct symbol *symbol = engine_symbol(request->engine, order->symbol);
    enum order_tif tif = order_rules_sent(symbol, order);
    char utc[CLOCK_TEXT_MAX], words[WORDS_MAX];
    bool at_venue = engine_account(request->engine, order->account)->rules.execution == EXECUTION_VENUE_PAPER;
    if (!at_venue || tif == order->tif || !order_live(order->state) || order->state == ORDER_HELD)
        return;
    clock_utc_text(order->expires_ns, utc);
    snprintf(words, sizeof words, "is sent as %s, and cancelled at %s, while papertape runs",
             order_tif_name(tif), order->expires_ns > 0 ? utc : "the end of the session");
    json_array_append_new(list, json_pack("{s:I, s:s, s:I, s:s}", "order", (json_int_t)order->id, "as",
                                          order_tif_name(tif), "ends_ns", (json_int_t)order->expires_ns,
                                          "words", words));
}

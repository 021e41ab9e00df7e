/* The part of the trading API that clients only read: clock, calendar, assets. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exchange/business_day.h"
#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/orders.h"
#include "exchange/replay/alpaca/rest.h"
#include "exchange/replay/alpaca/sessions.h"
#include "exchange/replay/serve.h"

enum { CALENDAR_DAYS_MAX = 100 * 366 };

static void key_str(struct wire *wire, const char *key, const char *value)
{
    replay_wire_key(wire, key);
    replay_wire_str(wire, value);
}

static void key_bool(struct wire *wire, const char *key, bool value)
{
    replay_wire_key(wire, key);
    replay_wire_bool(wire, value);
}

/* A moment with New York's offset: "2026-01-15T10:00:00.5-05:00". */
static void key_local_time(struct wire *wire, const char *key, int64_t ns)
{
    char text[64];
    struct text utc = {0};
    int offset_s = replay_eastern_offset_s(ns / MADE_SECOND);
    replay_wire_rfc3339(&utc, ns + offset_s * MADE_SECOND);
    snprintf(text, sizeof(text), "%.*s-%02d:00", (int)utc.len - 1, utc.data ? utc.data : " ",
             -offset_s / 3600);
    text_finish(&utc);
    key_str(wire, key, text);
}

static bool get_clock(struct rest_call *call)
{
    struct trading_day day, next;
    int64_t now_ns = call->alpaca->now_ns, today = replay_eastern_date(now_ns),
            date = replay_sessions_next(today, 1);
    replay_sessions_on(date, &day);
    replay_sessions_on(replay_sessions_next(date + 1, 1), &next);
    bool open = day.open_ns <= now_ns && now_ns < day.close_ns, over = now_ns >= day.close_ns;
    replay_wire_map(&call->wire, 4);
    key_local_time(&call->wire, "timestamp", now_ns + call->alpaca->base.server->faults->clock_skew_ns);
    key_bool(&call->wire, "is_open", open);
    key_local_time(&call->wire, "next_open", open || over ? next.open_ns : day.open_ns);
    key_local_time(&call->wire, "next_close", over ? next.close_ns : day.close_ns);
    replay_wire_map_end(&call->wire);
    return true;
}

/* A date, or a time that begins with one. */
static bool date_arg(const struct rest_call *call, const char *name, int64_t fallback, int64_t *ret)
{
    const char *value = replay_request_arg(call->request, name);
    char date[11] = "";
    if (!value || !*value) {
        *ret = fallback;
        return true;
    }
    strncat(date, value, sizeof(date) - 1);
    return replay_eastern_date_parse(date, ret) == 0;
}

static void key_time_of_day(struct wire *wire, const char *key, int64_t date, int64_t ns, const char *between)
{
    char text[32];
    int64_t s = ns / MADE_SECOND - replay_eastern_utc_s(date, 0);
    /* On the days when clocks change there is no session, and midnight is before the change. */
    snprintf(text, sizeof(text), "%02d%s%02d", (int)(s / 3600), between, (int)(s / 60 % 60));
    key_str(wire, key, text);
}

static void key_date(struct wire *wire, const char *key, int64_t date)
{
    struct text text = {0};
    replay_eastern_date_write(&text, date);
    text_bytes(&text, "", 1);
    key_str(wire, key, text_ok(&text) ? text.data : "");
    text_finish(&text);
}

/* One settlement day later. */
static int64_t settles(int64_t date)
{
    do
        date = replay_sessions_next(date + 1, 1);
    while (business_day_without_banks(date));
    return date;
}

static bool get_calendar(struct rest_call *call)
{
    int year, month, day_of_month;
    int64_t from, to;
    replay_eastern_civil(replay_eastern_date(call->alpaca->now_ns), &year, &month, &day_of_month);
    if (!date_arg(call, "start", replay_eastern_days(year - 1, 1, 1), &from) ||
        !date_arg(call, "end", replay_eastern_days(year + 1, 12, 31), &to) || to - from > CALENDAR_DAYS_MAX) {
        replay_rest_refuse(call, 422, 42210000,
                           "start and end are dates as 2026-01-15, at most 100 years apart");
        return true;
    }
    replay_wire_array(&call->wire, 0);
    for (int64_t date = from; date <= to; date++) {
        struct trading_day day;
        if (replay_sessions_on(date, &day) == SESSIONS_CLOSED)
            continue;
        replay_wire_map(&call->wire, 6);
        key_date(&call->wire, "date", date);
        key_time_of_day(&call->wire, "open", date, day.open_ns, ":");
        key_time_of_day(&call->wire, "close", date, day.close_ns, ":");
        key_time_of_day(&call->wire, "session_open", date, day.early_ns, "");
        key_time_of_day(&call->wire, "session_close", date, day.late_ns, "");
        key_date(&call->wire, "settlement_date", settles(date));
        replay_wire_map_end(&call->wire);
    }
    replay_wire_array_end(&call->wire);
    return true;
}

static void key_decimal(struct wire *wire, const char *key, int64_t e9)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(e9, 9, text);
    key_str(wire, key, text);
}

static void write_asset(struct rest_call *call, int index)
{
    const struct made *made = &call->alpaca->made[0];
    const struct made_symbol *symbol = &made->symbols[index];
    bool crypto = symbol->class == MADE_CRYPTO;
    struct wire *wire = &call->wire;
    char id[37];
    replay_alpaca_asset_id(made, index, id);
    replay_wire_map(wire, 0);
    key_str(wire, "id", id);
    key_str(wire, "class", crypto ? "crypto" : "us_equity");
    key_str(wire, "exchange", symbol->exchange);
    key_str(wire, "symbol", symbol->name);
    key_str(wire, "name", symbol->title);
    bool active = replay_made_listed_at(made, index, call->alpaca->now_ns);
    key_str(wire, "status", active ? "active" : "inactive");
    key_bool(wire, "tradable", active && !(symbol->denied & MADE_NOT_TRADABLE));
    key_bool(wire, "marginable", !crypto && !(symbol->denied & MADE_NOT_MARGINABLE));
    key_str(wire, "maintenance_margin_requirement", crypto ? "100" : "30");
    bool lent = !crypto && !(symbol->denied & MADE_NOT_SHORTABLE);
    key_bool(wire, "shortable", lent);
    key_bool(wire, "easy_to_borrow", lent && !(symbol->denied & MADE_NOT_EASY_TO_BORROW));
    key_bool(wire, "fractionable", !(symbol->denied & MADE_NOT_FRACTIONABLE));
    replay_wire_key(wire, "attributes");
    replay_wire_array(wire, 0);
    replay_wire_array_end(wire);
    if (crypto) {
        /* As the venue has it: a dollar's worth, and nine digits. */
        key_decimal(wire, "min_order_size", (int64_t)((int128_t)MADE_E9 * MADE_E9 / symbol->price));
        key_decimal(wire, "min_trade_increment", 1);
        key_decimal(wire, "price_increment", symbol->tick);
    }
    replay_wire_map_end(wire);
}

static bool get_assets(struct rest_call *call)
{
    const struct made *made = &call->alpaca->made[0];
    const char *class = replay_request_arg(call->request, "asset_class"),
               *status = replay_request_arg(call->request, "status");
    const char *exchange = replay_request_arg(call->request, "exchange");
    replay_wire_array(&call->wire, 0);
    for (int i = 0; i < made->n_symbols; i++) {
        const struct made_symbol *symbol = &made->symbols[i];
        const char *own = symbol->class == MADE_CRYPTO ? "crypto" : "us_equity";
        if (replay_made_known_at(made, i, call->alpaca->now_ns) &&
            (!class || !*class || strcmp(class, own) == 0) &&
            (!status || !*status ||
             strcmp(status, replay_made_listed_at(made, i, call->alpaca->now_ns) ? "active" : "inactive") ==
                 0) &&
            (!exchange || !*exchange || strcmp(exchange, symbol->exchange) == 0))
            write_asset(call, i);
    }
    replay_wire_array_end(&call->wire);
    return true;
}

static bool get_asset(struct rest_call *call, const char *name)
{
    const struct made *made = &call->alpaca->made[0];
    const int symbol = replay_alpaca_find(made, name);
    if (symbol >= 0 && replay_made_known_at(made, symbol, call->alpaca->now_ns)) {
        write_asset(call, symbol);
        return true;
    }
    char message[96];
    snprintf(message, sizeof(message), "asset not found for %.60s", name);
    replay_rest_refuse(call, 404, 40410000, message);
    return true;
}

bool replay_rest_trading(struct rest_call *call, const char *rest)
{
    static const struct {
        const char *path;
        bool (*answer)(struct rest_call *call);
    } table[] = {
        {"clock", get_clock},
        {"calendar", get_calendar},
        {"assets", get_assets},
    };
    if (replay_alpaca_orders_answer(call, rest))
        return true;
    if (strcmp(call->request->method, "GET") != 0) {
        replay_rest_refuse(call, 405, 0, "Method Not Allowed");
        return true;
    }
    if (strncmp(rest, "assets/", 7) == 0)
        return get_asset(call, rest + 7);
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (strcmp(rest, table[i].path) == 0)
            return table[i].answer(call);
    return false;
}

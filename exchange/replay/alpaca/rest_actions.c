/* Corporate actions (v1): those of --action. */
#include <stdio.h>
#include <string.h>

#include "exchange/replay/alpaca/eastern.h"
#include "exchange/replay/alpaca/rest.h"
#include "exchange/replay/serve.h"

enum { FORWARD, REVERSE, CASH, NAMES, LISTS };

static const char *const list_names[LISTS] = {"forward_splits", "reverse_splits", "cash_dividends",
                                              "name_changes"};
static const char *const type_names[LISTS] = {"forward_split", "reverse_split", "cash_dividend",
                                              "name_change"};

/* Is `word` in a list with commas? An empty list holds all. */
static bool listed(const char *list, const char *word)
{
    size_t len = strlen(word);
    if (!list || !*list)
        return true;
    for (;;) {
        size_t n = strcspn(list, ",");
        if (n == len && memcmp(list, word, n) == 0)
            return true;
        if (!list[n])
            return false;
        list += n + 1;
    }
}

static void key_date(struct wire *wire, const char *key, int64_t date)
{
    replay_wire_key(wire, key);
    text_lit(wire->out, "\"");
    replay_eastern_date_write(wire->out, date);
    text_lit(wire->out, "\"");
    wire->comma = true;
}

static int list_of(const struct made_action *action)
{
    if (action->kind == MADE_ACTION_DIVIDEND)
        return CASH;
    if (action->kind == MADE_ACTION_RENAME)
        return NAMES;
    return action->shares > action->per ? FORWARD : REVERSE;
}

/* A dividend is processed when it is paid; start and end mean this day. */
static int64_t process_date(const struct made_action *action)
{
    return list_of(action) == CASH ? action->pay_date : action->date;
}

static void key_str(struct wire *wire, const char *key, const char *value)
{
    replay_wire_key(wire, key);
    replay_wire_str(wire, value);
}

static void key_id(struct wire *wire, const struct rest_call *call, const struct made_action *action)
{
    char id[64];
    int index = (int)(action - call->alpaca->made[0].actions);
    uint64_t hash = replay_made_hash(&call->alpaca->made[0], action->symbol, MADE_ACTION_IDS,
                                     (uint64_t)action->date * 64 + (uint64_t)index);
    snprintf(id, sizeof(id), "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)(hash >> 32),
             (unsigned)(hash >> 16 & 0xffff), (unsigned)(hash & 0xfff), (unsigned)(action->date & 0xfff),
             (unsigned long long)(hash & 0xffffffffffff));
    key_str(wire, "id", id);
}

static void write_cusips(struct wire *wire, bool changes)
{
    if (changes) {
        key_str(wire, "old_cusip", "000000000");
        key_str(wire, "new_cusip", "000000000");
    } else {
        key_str(wire, "cusip", "000000000");
    }
}

static void write_rates(struct wire *wire, const struct made_action *action)
{
    if (list_of(action) == CASH) {
        replay_wire_key(wire, "rate");
        replay_wire_e9(wire, action->cash);
        replay_wire_key(wire, "special");
        replay_wire_bool(wire, false);
        replay_wire_key(wire, "foreign");
        replay_wire_bool(wire, false);
    } else {
        replay_wire_key(wire, "new_rate");
        replay_wire_int(wire, action->shares);
        replay_wire_key(wire, "old_rate");
        replay_wire_int(wire, action->per);
    }
}

static void write_action(struct rest_call *call, const struct made_action *action)
{
    const struct made_symbol *symbols = call->alpaca->made[0].symbols;
    struct wire *wire = &call->wire;
    int list = list_of(action);
    replay_wire_map(wire, 0);
    key_id(wire, call, action);
    key_str(wire, list == NAMES ? "old_symbol" : "symbol", symbols[action->symbol].name);
    if (list == NAMES)
        key_str(wire, "new_symbol", symbols[action->renamed].name);
    write_cusips(wire, list == REVERSE || list == NAMES);
    if (list != NAMES)
        write_rates(wire, action);
    key_date(wire, "process_date", process_date(action));
    if (list != NAMES) {
        key_date(wire, "ex_date", action->date);
        key_date(wire, "record_date", action->date);
        key_date(wire, "payable_date", process_date(action));
    }
    replay_wire_map_end(wire);
}

/* Of the symbols, by its old name or its new one. */
static bool asked_for(const struct made *made, const struct made_action *action, const char *symbols)
{
    return listed(symbols, made->symbols[action->symbol].name) ||
           (action->kind == MADE_ACTION_RENAME && listed(symbols, made->symbols[action->renamed].name));
}

bool replay_rest_actions(struct rest_call *call, const char *rest)
{
    const struct made *made = &call->alpaca->made[0];
    const char *symbols = replay_request_arg(call->request, "symbols"),
               *types = replay_request_arg(call->request, "types");
    const char *start = replay_request_arg(call->request, "start"),
               *end = replay_request_arg(call->request, "end");
    int64_t today = replay_eastern_date(call->alpaca->now_ns), from = today, to = today;
    if (*rest)
        return false;
    if ((start && *start && replay_eastern_date_parse(start, &from) < 0) ||
        (end && *end && replay_eastern_date_parse(end, &to) < 0)) {
        replay_rest_refuse(call, 400, 0, "start and end are dates as 2026-01-15");
        return true;
    }
    if (call->alpaca->actions_asked++ < call->alpaca->base.server->faults->actions_bad) {
        replay_wire_map(&call->wire, 1); /* the fault "actions" */
        replay_wire_key(&call->wire, "corporate_actions");
        replay_wire_bool(&call->wire, false);
        replay_wire_map_end(&call->wire);
        return true;
    }
    replay_wire_map(&call->wire, 2);
    replay_wire_key(&call->wire, "corporate_actions");
    replay_wire_map(&call->wire, 0);
    for (int list = 0; list < LISTS; list++) {
        bool started = false;
        for (int i = 0; i < made->n_actions; i++) {
            const struct made_action *a = &made->actions[i];
            if (a->kind >= MADE_ACTION_HALT || list_of(a) != list || process_date(a) < from ||
                process_date(a) > to || !asked_for(made, a, symbols) || !listed(types, type_names[list]))
                continue;
            if (!started) {
                replay_wire_key(&call->wire, list_names[list]);
                replay_wire_array(&call->wire, 0);
            }
            started = true;
            write_action(call, a);
        }
        if (started)
            replay_wire_array_end(&call->wire);
    }
    replay_wire_map_end(&call->wire);
    replay_wire_key(&call->wire, "next_page_token");
    replay_wire_null(&call->wire);
    replay_wire_map_end(&call->wire);
    return true;
}

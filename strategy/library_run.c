/* The functions of a shared object, between its structs (<papertape/strategy.h>) and ours. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "indicators_gpu/plugin_watch.h"
#include "strategy/intent.h"
#include "strategy/library.h"
#include "strategy/record.h"

static const struct strategy_library *library_of(const struct strategy *strategy)
{
    return strategy->external->ctx;
}

const char *strategy_library_params_check(const struct strategy *strategy, const double *params)
{
    const struct strategy_library *library = library_of(strategy);
    return INDICATOR_PLUGIN_CALL(library->file, library->table.check(params));
}

size_t strategy_library_specs(const struct strategy *strategy, const double *params,
                              char specs[][STRATEGY_SPEC_TEXT])
{
    const struct strategy_library *library = library_of(strategy);
    if (!library->table.specs)
        return 0;
    size_t n = INDICATOR_PLUGIN_CALL(library->file, library->table.specs(params, specs));
    for (size_t i = 0; i < n && i < STRATEGY_SPECS_MAX; i++)
        specs[i][STRATEGY_SPEC_TEXT - 1] = '\0';
    return n;
}

static struct papertape_record record_of(const struct strategy_record *record)
{
    return (struct papertape_record){.wins = record->wins,
                                     .losses = record->losses,
                                     .losing = record->losing,
                                     .won = record->won,
                                     .lost = record->lost};
}

static struct papertape_input seen(const struct strategy_input *input)
{
    const struct strategy_record *record = input->record;
    struct papertape_input ret = {
        .size = sizeof ret,
        .intents_max = STRATEGY_INTENTS_MAX,
        .ts_ns = input->ts_ns,
        .interval_ns = input->interval_ns,
        .session_open_ns = input->session_open_ns,
        .session_close_ns = input->session_close_ns,
        .open = input->open,
        .high = input->high,
        .low = input->low,
        .close = input->close,
        .volume = input->volume,
        .indicators = input->indicators,
        .live_orders = input->live_orders,
        .qty = input->qty,
        .entry = input->entry,
        .equity = input->equity,
        .cash = input->cash,
        .stop = input->stop,
        .profit = input->profit,
        .shorts = input->shorts,
        .positions = (uint32_t)input->positions,
        .symbols = (uint32_t)input->symbols,
        .leverage = intent_most(input),
        .orders = (uint32_t)input->orders,
    };
    if (record)
        ret.record = record_of(record);
    return ret;
}

static struct papertape_peer peer_of(const struct strategy_peer *peer)
{
    return (struct papertape_peer){.size = sizeof(struct papertape_peer),
                                   .fresh = peer->fresh,
                                   .name = peer->name,
                                   .ts_ns = peer->ts_ns,
                                   .open = peer->open,
                                   .high = peer->high,
                                   .low = peer->low,
                                   .close = peer->close,
                                   .volume = peer->volume,
                                   .indicators = peer->indicators,
                                   .qty = peer->qty,
                                   .entry = peer->entry,
                                   .stop = peer->stop,
                                   .profit = peer->profit,
                                   .leverage = peer->leverage > 1 ? peer->leverage : 1,
                                   .live_orders = peer->live_orders,
                                   .shorts = peer->shorts,
                                   .orders = (uint32_t)peer->orders,
                                   .record =
                                       peer->record ? record_of(peer->record) : (struct papertape_record){0}};
}

_Static_assert((int)PAPERTAPE_SELL == (int)ORDER_SELL &&
                   (int)PAPERTAPE_TRAILING_STOP == (int)ORDER_TRAILING_STOP &&
                   (int)PAPERTAPE_STOP_LIMIT == (int)ORDER_STOP_LIMIT &&
                   (int)PAPERTAPE_TAKE_PROFIT == (int)ORDER_TAKE_PROFIT,
               "an order's side and type have our numbers");
_Static_assert((int)PAPERTAPE_GTD == (int)ORDER_GTD && (int)PAPERTAPE_CLS == (int)ORDER_CLS &&
                   (int)PAPERTAPE_OF_UNITS == (int)INTENT_OF_UNITS,
               "and how long it works, and its size");

static enum intent_kind kind_of(uint32_t kind)
{
    switch (kind) {
    case PAPERTAPE_ENTER:
        return INTENT_ENTER;
    case PAPERTAPE_EXIT:
        return INTENT_EXIT;
    case PAPERTAPE_STOP:
        return INTENT_STOP;
    case PAPERTAPE_TARGET:
        return INTENT_TARGET;
    case PAPERTAPE_SHORT:
        return INTENT_SHORT;
    case PAPERTAPE_ORDER:
        return INTENT_ORDER;
    case PAPERTAPE_CANCEL:
        return INTENT_CANCEL;
    default:
        return (enum intent_kind)INT32_MAX; /* refused: intent_check() */
    }
}

/* One that is none stays one: intent_check() refuses it. */
static int word_of(uint32_t number)
{
    return number > INT32_MAX ? INT32_MAX : (int)number;
}

static struct intent wanted(const struct papertape_intent *intent)
{
    return (struct intent){.kind = kind_of(intent->kind),
                           .fraction = intent->fraction,
                           .stop = intent->stop,
                           .profit = intent->profit,
                           .limit = intent->limit,
                           .good_ns = intent->good_ns,
                           .side = (enum order_side)word_of(intent->side),
                           .type = (enum order_type)word_of(intent->type),
                           .tif = (enum order_tif)word_of(intent->tif),
                           .size = (enum intent_size)word_of(intent->size),
                           .qty = intent->qty,
                           .trail = intent->trail,
                           .trail_share = intent->trail_share,
                           .reduce_only = intent->reduce_only != 0,
                           .symbol = word_of(intent->symbol),
                           .why = intent->why ? intent->why : ""};
}

/* There is room for more intents than are taken: one that writes too many is refused, without an overflow.
 * What it did not write may be anything, beyond those. */
static size_t call(const struct strategy *strategy, const double *params, void *state,
                   const struct papertape_input *bar, struct papertape_intent *answers,
                   struct intent *intents)
{
    for (size_t i = 0; i < bar->intents_max; i++) /* what is read of them */
        memset(&answers[i], 0, offsetof(struct papertape_intent, later));
    const struct strategy_library *library = library_of(strategy);
    size_t n = INDICATOR_PLUGIN_CALL(library->file, library->table.on_bar(params, state, bar, answers));
    for (size_t i = 0; i < n && i < bar->intents_max; i++)
        intents[i] = wanted(&answers[i]);
    return n;
}

/* With peers, of which there may be many. Without memory it decides nothing. */
static size_t call_with_peers(const struct strategy *strategy, const double *params, void *state,
                              const struct strategy_input *input, struct intent *intents)
{
    const size_t n = (size_t)input->n_peers, room = strategy_library_room(input->n_peers);
    struct papertape_input bar = seen(input);
    struct papertape_peer *peers = malloc(n * sizeof *peers);
    const struct papertape_peer **places = malloc(n * sizeof *places);
    struct papertape_intent *answers = malloc(room * sizeof *answers);
    size_t wrote = 0;
    if (peers && places && answers) {
        for (size_t k = 0; k < n; k++) {
            peers[k] = peer_of(&input->peers[k]);
            places[k] = &peers[k];
        }
        bar.peers = places;
        bar.n_peers = (uint32_t)n;
        bar.self = (uint32_t)input->self;
        if (strategy->together)
            bar.intents_max = (uint32_t)(STRATEGY_INTENTS_MAX * n);
        wrote = call(strategy, params, state, &bar, answers, intents);
    }
    free(answers);
    free(places);
    free(peers);
    return wrote;
}

size_t strategy_library_on_bar(const struct strategy *strategy, const double *params, void *state,
                               const struct strategy_input *input, struct intent *intents)
{
    if (input->n_peers > 0)
        return call_with_peers(strategy, params, state, input, intents);
    const struct papertape_input bar = seen(input);
    struct papertape_intent answers[INTENTS_ROOM];
    return call(strategy, params, state, &bar, answers, intents);
}

void strategy_library_scan(const struct strategy *strategy, const double *params,
                           const struct strategy_columns *columns, const struct strategy_marks *marks)
{
    const struct papertape_columns of = {.size = sizeof of,
                                         .n = columns->n,
                                         .interval_ns = columns->interval_ns,
                                         .open = columns->open,
                                         .high = columns->high,
                                         .low = columns->low,
                                         .close = columns->close,
                                         .indicators = columns->indicators};
    const struct papertape_marks found = {
        .size = sizeof found, .flat = marks->flat, .holding = marks->holding, .shorted = marks->shorted};
    const struct strategy_library *library = library_of(strategy);
    indicator_plugin_running = library->file->path;
    library->table.scan(params, &of, &found);
    indicator_plugin_running = NULL;
}

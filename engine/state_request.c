/* Outside strategies as a part of the state: what they are asked, how they answer, and what they left here.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/visit.h"
#include "strategy/recorded.h"

/* ---- the strategy itself ---- */

static void visit_param(struct codec *codec, struct strategy_described_param *param, double *value)
{
    codec_text(codec, param->name, sizeof param->name);
    codec_text(codec, param->summary, sizeof param->summary);
    codec_text(codec, param->words, sizeof param->words);
    codec_doubles(codec, &param->fallback, &param->min, &param->max, value);
    codec_bools(codec, &param->integer, &param->later);
    codec_enum(codec, &param->opens, STRATEGY_OPENS_ALL + 1);
}

static void visit_description(struct codec *codec, struct strategy_description *d)
{
    codec_enum(codec, &d->form, STRATEGY_FORMS);
    codec_bytes(codec, d->hash, sizeof d->hash);
    codec_text(codec, d->source, sizeof d->source);
    codec_text(codec, d->title, sizeof d->title);
    codec_text(codec, d->summary, sizeof d->summary);
    codec_bools(codec, &d->shorts, &d->needs_shorts, &d->peers, &d->together);
    codec_u32s(codec, &d->state_size, &d->symbols_min);
    engine_visit_count(codec, &d->n_params, STRATEGY_PARAMS_MAX, 35);
    for (uint32_t i = 0; i < d->n_params && !codec->failed; i++)
        visit_param(codec, &d->params[i], &d->values[i]);
    engine_visit_count(codec, &d->n_specs, STRATEGY_SPECS_MAX, 1);
    for (uint32_t i = 0; i < d->n_specs && !codec->failed; i++)
        codec_text(codec, d->specs[i], sizeof d->specs[i]);
}

bool engine_visit_outside(struct codec *codec, const struct strategy **strategy,
                          double params[static STRATEGY_PARAMS_MAX])
{
    struct strategy_description description = {0};
    if (codec->saving)
        strategy_describe(*strategy, params, &description);
    visit_description(codec, &description);
    if (codec->saving || codec->failed)
        return true;
    *strategy = NULL;
    if (strategy_recorded(&description, strategy) < 0)
        return false;
    memcpy(params, description.values, sizeof description.values);
    return !strategy_misfit(*strategy, params);
}

/* ---- what it left ---- */

void engine_visit_slot_kept(struct codec *codec, struct strategy_slot *slot)
{
    codec_bool(codec, &slot->shown);
    uint32_t len = slot->kept_len;
    engine_visit_count(codec, &len, STRATEGY_KEPT_MAX, 1);
    if (codec->failed || len == 0)
        return;
    if (!codec->saving) {
        slot->kept = malloc(len);
        slot->kept_len = slot->kept ? len : 0;
        codec->failed |= !slot->kept;
    }
    if (!codec->failed)
        codec_bytes(codec, slot->kept, len);
}

void engine_visit_answers(struct codec *codec, struct runner_answers *answers)
{
    for (int o = STRATEGY_DECIDED + 1; o < STRATEGY_OUTCOMES; o++)
        codec_u64(codec, &answers->failures[o]);
    codec_u32s(codec, &answers->in_a_row, &answers->alerted);
    codec_bool(codec, &answers->halted);
}

/* ---- what it is asked ---- */

/* Any number, since the engine refuses what it does not know as it refuses a built-in's. */
static void visit_any_order(struct codec *codec, struct intent *intent)
{
    int side = (int)intent->side, type = (int)intent->type, tif = (int)intent->tif, size = (int)intent->size;
    codec_int(codec, &side, INT_MIN, INT_MAX);
    codec_int(codec, &type, INT_MIN, INT_MAX);
    codec_int(codec, &tif, INT_MIN, INT_MAX);
    codec_int(codec, &size, INT_MIN, INT_MAX);
    intent->side = (enum order_side)side;
    intent->type = (enum order_type)type;
    intent->tif = (enum order_tif)tif;
    intent->size = (enum intent_size)size;
    codec_doubles(codec, &intent->qty, &intent->trail, &intent->trail_share);
    codec_bool(codec, &intent->reduce_only);
}

/* Any kind, likewise. */
void engine_visit_intent(struct codec *codec, struct intent *intent, char why[static STRATEGY_WHY_MAX])
{
    int kind = (int)intent->kind;
    codec_int(codec, &kind, INT_MIN, INT_MAX);
    intent->kind = (enum intent_kind)kind;
    codec_doubles(codec, &intent->fraction, &intent->stop, &intent->profit, &intent->limit);
    codec_i64(codec, &intent->good_ns);
    codec_int(codec, &intent->symbol, INT_MIN, INT_MAX);
    codec_text(codec, why, STRATEGY_WHY_MAX);
    if (intent->kind == INTENT_ORDER)
        visit_any_order(codec, intent);
}

/* Every member but those that point elsewhere, and the peers, which follow. */
static void visit_input(struct codec *codec, struct strategy_input *input)
{
    codec_i64s(codec, &input->ts_ns, &input->interval_ns, &input->session_open_ns, &input->session_close_ns);
    codec_doubles(codec, &input->open, &input->high, &input->low, &input->close, &input->volume, &input->qty,
                  &input->entry, &input->equity, &input->cash, &input->leverage, &input->stop,
                  &input->profit);
    codec_bools(codec, &input->live_orders, &input->shorts);
    codec_int(codec, &input->orders, 0, INT_MAX);
    codec_int(codec, &input->positions, 0, SYMBOLS_MAX);
    codec_int(codec, &input->symbols, 0, SYMBOLS_MAX);
    codec_int(codec, &input->self, -1, SYMBOLS_MAX - 1);
}

static void visit_record(struct codec *codec, struct strategy_record *record)
{
    codec_u32s(codec, &record->wins, &record->losses, &record->losing);
    codec_doubles(codec, &record->won, &record->lost);
}

static void visit_peer(struct codec *codec, struct strategy_peer *peer, struct strategy_record *record)
{
    codec_i64(codec, &peer->ts_ns);
    codec_doubles(codec, &peer->open, &peer->high, &peer->low, &peer->close, &peer->volume, &peer->qty,
                  &peer->entry, &peer->stop, &peer->profit, &peer->leverage);
    codec_bools(codec, &peer->fresh, &peer->live_orders, &peer->shorts);
    codec_int(codec, &peer->orders, 0, INT_MAX);
    visit_record(codec, record);
}

static void visit_request(struct codec *codec, const struct engine *engine, struct bar_request *request)
{
    codec_int(codec, &request->account, 0, engine->n_accounts - 1);
    codec_int(codec, &request->symbol, 0, engine->n_symbols - 1);
    engine_visit_bar(codec, &request->bar);
    codec_u64(codec, &request->seq);
    codec_bools(codec, &request->acts, &request->begins);
    visit_input(codec, &request->input);
    visit_record(codec, &request->record);
}

/* As loaded, with room for what follows: its values are as many as its slot's, its peers those of its
 * account.
 */
static bool make_request(struct engine *engine, struct bar_request *read)
{
    const struct strategy_runner *runner = &engine->runners[read->account];
    int n_peers = runner->strategy && strategy_sees_peers(runner->strategy) ? runner->round.n : 0;
    struct bar_request *request =
        runner->slots ? engine_request_add(engine, runner->slots[read->symbol].n_values, n_peers) : NULL;
    if (!request)
        return false;
    read->values = request->values;
    read->n_values = request->n_values;
    read->peers = request->peers;
    read->records = request->records;
    read->n_peers = request->n_peers;
    *request = *read;
    return true;
}

static void visit_one(struct codec *codec, struct engine *engine, size_t at)
{
    struct bar_request read = {0};
    if (codec->saving)
        read = engine->requests.list[at];
    visit_request(codec, engine, &read);
    if (codec->failed)
        return;
    if (!codec->saving && !make_request(engine, &read)) {
        codec->failed = true;
        return;
    }
    for (int k = 0; k < read.n_peers && !codec->failed; k++)
        visit_peer(codec, &read.peers[k], &read.records[k]);
    for (size_t i = 0; i < read.n_values * (size_t)(read.n_peers + 1) && !codec->failed; i++)
        codec_double(codec, &read.values[i]);
}

static void visit_fetched(struct codec *codec, struct engine *engine)
{
    struct fetched_bars *fetched = &engine->fetched;
    codec_int(codec, &fetched->symbol, 0, engine->n_symbols - 1);
    codec_bool(codec, &fetched->missed);
    engine_visit_count(codec, &fetched->n, UINT32_MAX, 16);
    codec_u32s(codec, &fetched->at);
    if (!codec->saving && !codec->failed) {
        fetched->bars = calloc((size_t)fetched->n + 1, sizeof *fetched->bars);
        codec->failed |= !fetched->bars;
    }
    codec->failed |= fetched->at > fetched->n;
    for (uint32_t i = 0; i < fetched->n && !codec->failed; i++)
        engine_visit_bar(codec, &fetched->bars[i]);
}

static void visit_waiting(struct codec *codec, struct engine *engine)
{
    struct waiting_event *waiting = &engine->waiting;
    codec_bool(codec, &waiting->there);
    if (codec->failed || !waiting->there)
        return;
    codec_enum(codec, &waiting->stage, WAITING_STAGES);
    codec_int(codec, &waiting->symbol, 0, engine->n_symbols - 1);
    codec_int(codec, &waiting->account, 0, engine->n_accounts - 1);
    engine_visit_bar(codec, &waiting->bar);
    codec_i64s(codec, &waiting->good_ns, &waiting->venue_ns);
    codec_bools(codec, &waiting->live, &waiting->fresh, &waiting->held, &waiting->fetched);
    if (waiting->fetched && !codec->failed)
        visit_fetched(codec, engine);
    for (int a = 0; a < engine->n_accounts && !codec->failed; a++) {
        codec_bool(codec, &engine->accounts[a].moved);
        engine->account_moved |= engine->accounts[a].moved;
    }
}

void engine_visit_requests(struct codec *codec, struct engine *engine)
{
    struct bar_requests *requests = &engine->requests;
    uint32_t n = (uint32_t)(requests->n - requests->first);
    engine_visit_count(codec, &n, UINT32_MAX, 32);
    for (uint32_t i = 0; i < n && !codec->failed; i++)
        visit_one(codec, engine, requests->first + i);
    visit_waiting(codec, engine);
    for (size_t i = requests->first; i + 1 < requests->n; i++)
        codec->failed |= requests->list[i].acts;
    codec->failed |= !codec->failed && engine_request_waits(engine) != engine->waiting.there;
}

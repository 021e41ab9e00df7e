/* What trades for an account as a part of the state: a strategy's slots, a policy's driver, what is kept for
 * an opening. */
#include "engine/core.h"
#include "engine/driver.h"
#include "engine/visit.h"

static void visit_number(void *ctx, double *value)
{
    codec_double(ctx, value);
}

static void visit_counter(void *ctx, uint64_t *value, uint64_t most)
{
    struct codec *codec = ctx;
    uint64_t read = *value;
    codec_u64(codec, &read);
    codec->failed |= read > most;
    if (!codec->failed)
        *value = read;
}

static void visit_frame(struct codec *codec, struct frame *frame)
{
    codec_bools(codec, &frame->started, &frame->forming, &frame->whole);
    codec_i64(codec, &frame->open_ns);
    codec_doubles(codec, &frame->open, &frame->high, &frame->low, &frame->close, &frame->volume);
    codec->failed |= frame->open_ns > INT64_MAX / 2 || frame->open_ns < INT64_MIN / 2;
}

static void visit_span(struct codec *codec, struct measure_span *span)
{
    codec_i64(codec, &span->open_ns);
    codec_bool(codec, &span->there);
    for (int m = 0; m < BOOK_MEASURES; m++) {
        codec_doubles(codec, &span->bars[m].open, &span->bars[m].high, &span->bars[m].low,
                      &span->bars[m].close);
    }
    codec->failed |= span->open_ns > INT64_MAX / 2 || span->open_ns < INT64_MIN / 2;
}

/* No strategy read measures before layout 6. */
static void visit_track(struct codec *codec, struct measure_track *track)
{
    if (codec->version < 6)
        return;
    codec_bools(codec, &track->started, &track->standing, &track->carried);
    for (int m = 0; m < BOOK_MEASURES; m++) {
        codec_doubles(codec, &track->now[m], &track->before[m]);
    }
    visit_span(codec, &track->forming);
    visit_span(codec, &track->previous);
}

/* Strategies of the first layout knew no higher bars. */
void engine_visit_slot(struct codec *codec, struct strategy_slot *slot)
{
    for (size_t i = 0; i < slot->n_frames; i++)
        visit_frame(codec, &slot->frames[i]);
    struct indicator_stream_fields fields = {codec, visit_number, visit_counter};
    for (size_t i = 0; i < slot->n_streams && !codec->failed; i++)
        indicator_stream_visit(slot->streams[i].stream, &fields);
    for (size_t i = 0; i < slot->n_values; i++)
        codec_double(codec, &slot->values[i]);
    codec_bytes(codec, slot->state, slot->state_size);
    if (slot->measured)
        visit_track(codec, slot->measured);
    if (!slot->sees || codec->version < 12)
        return;
    codec_bools(codec, &slot->saw, &slot->there, &slot->fresh);
    engine_visit_bar(codec, &slot->seen);
}

/* No strategy was called together before layout 12. */
void engine_visit_round(struct codec *codec, struct strategy_runner *runner)
{
    struct strategy_round *round = &runner->round;
    if (codec->version < 12 || !runner->strategy || !runner->strategy->together)
        return;
    codec_i64s(codec, &round->open_ns, &round->since_ns);
    codec_bool(codec, &round->decided);
    codec->failed |= round->open_ns > INT64_MAX / 2 || round->open_ns < INT64_MIN / 2;
}

/* Faults added later are there as far as they were counted. */
void engine_visit_refusals(struct codec *codec, struct strategy_runner *runner)
{
    uint32_t n = INTENT_FAULTS;
    while (n > INTENT_NO_SHORTS && runner->refused[n - 1] == 0)
        n--;
    engine_visit_count(codec, &n, INTENT_FAULTS, 2);
    for (uint32_t i = 0; i < n; i++) {
        codec_u64(codec, &runner->refused[i]);
        codec_i64(codec, &runner->alerted_ns[i]);
        codec->failed |= runner->alerted_ns[i] < 0;
    }
}

/* States of policies without limits are as before there were any. */
static void visit_limits(struct codec *codec, struct policy_driver *driver)
{
    struct policy_portfolio *all = &driver->all;
    codec_doubles(codec, &all->peak, &all->until, &all->day, &all->opening, &all->lost);
    for (int i = 0; i < driver->policy->n_assets && !codec->failed; i++)
        codec_double(codec, &driver->slots[i].memory.taken);
}

void engine_visit_driver(struct codec *codec, struct policy_driver *driver)
{
    if (!driver->policy || !driver->slots)
        return;
    codec_i64(codec, &driver->round_ns);
    codec_bool(codec, &driver->decided);
    if (codec->version >= 5)
        codec_i64(codec, &driver->since_ns);
    for (int i = 0; i < driver->policy->n_assets && !codec->failed; i++) {
        struct policy_slot *slot = &driver->slots[i];
        codec_i64(codec, &slot->quantum);
        codec_doubles(codec, &slot->memory.scale, &slot->memory.least, &slot->memory.qty, &slot->memory.held,
                      &slot->memory.cool, &slot->memory.peak);
        codec_bools(codec, &slot->there, &slot->fresh);
        codec->failed |= slot->quantum <= 0;
        if (!codec->saving && !codec->failed)
            engine_driver_count_quanta(slot);
    }
    if (policy_has_limits(&driver->policy->rules.limits))
        visit_limits(codec, driver);
    const struct indicator_stream_fields fields = {codec, visit_number, visit_counter};
    if (driver->runtime && codec->version >= 4 && !codec->failed)
        driver->policy->runtime->visit(driver->runtime, &fields);
}

static void visit_order_intent(struct codec *codec, struct intent *intent)
{
    codec_enum(codec, &intent->side, ORDER_SELL + 1);
    codec_enum(codec, &intent->type, ORDER_TYPES);
    codec_enum(codec, &intent->tif, ORDER_TIFS);
    codec_enum(codec, &intent->size, INTENT_OF_UNITS + 1);
    codec_doubles(codec, &intent->qty, &intent->trail, &intent->trail_share);
    codec_bool(codec, &intent->reduce_only);
}

static void visit_intent(struct codec *codec, struct intent *intent, char why[static ORDER_TAG_MAX])
{
    codec_enum(codec, &intent->kind, codec->version >= 12 ? INTENT_KINDS : INTENT_SHORT + 1);
    codec_doubles(codec, &intent->fraction, &intent->stop, &intent->profit, &intent->limit);
    codec_i64(codec, &intent->good_ns);
    codec_text(codec, why, ORDER_TAG_MAX);
    if (codec->version >= 12 && intent->kind == INTENT_ORDER)
        visit_order_intent(codec, intent);
}

static void visit_decided(struct codec *codec, struct engine_policy_decision *decided)
{
    struct policy_memory *memory = &decided->memory;
    struct policy_order *order = &decided->order;
    double action = decided->action, size = decided->day.size, direction = decided->day.direction;
    codec_doubles(codec, &action, &direction, &size);
    decided->action = (float)action;
    decided->day.direction = (float)direction;
    decided->day.size = (float)size;
    codec_bool(codec, &decided->day.leaves);
    codec_doubles(codec, &memory->scale, &memory->least, &memory->qty, &memory->held, &memory->cool,
                  &memory->peak, &memory->taken);
    codec_i64s(codec, &decided->equity, &decided->available);
    codec_doubles(codec, &order->qty, &order->reserve, &order->stop, &order->stop_qty);
    codec_enum(codec, &order->cause, POLICY_PROFITED + 1);
    codec_bool(codec, &decided->leaves);
}

/* Before layout 8 nothing was kept. */
void engine_visit_kept(struct codec *codec, struct engine *engine, int account)
{
    struct strategy_runner *runner = &engine->runners[account];
    uint32_t n = runner->n_kept;
    int before = -1;
    if (codec->version < 8)
        return;
    engine_visit_count(codec, &n, SYMBOLS_MAX, 16);
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        struct kept_decision kept = {0};
        if (codec->saving)
            kept = runner->kept[i];
        codec_int(codec, &kept.symbol, before + 1, engine->n_symbols - 1);
        before = kept.symbol;
        engine_visit_bar(codec, &kept.bar);
        codec_i64(codec, &kept.since_ns);
        codec_bool(codec, &kept.of_policy);
        engine_visit_count(codec, &kept.n_intents, STRATEGY_INTENTS_MAX, 16);
        for (uint32_t k = 0; k < kept.n_intents && !codec->failed; k++)
            visit_intent(codec, &kept.intents[k], kept.whys[k]);
        if (kept.of_policy)
            visit_decided(codec, &kept.decided);
        if (codec->saving || codec->failed)
            continue;
        engine_kept_put(engine, account, &kept);
        codec->failed |= runner->n_kept != i + 1; /* one that orders nothing is not kept */
    }
}

#include "engine/visit.h"

#include <math.h>
#include <string.h>

void visit_count(struct codec *codec, uint32_t *n, uint32_t most, uint32_t bytes)
{
    size_t count = *n, room = most;
    if (!codec->saving && (codec->len - codec->at) / bytes < room)
        room = (codec->len - codec->at) / bytes;
    codec_size(codec, &count, room);
    if (!codec->failed)
        *n = (uint32_t)count;
}

static void visit_filters(struct codec *codec, struct symbol_filters *filters)
{
    codec_i64(codec, &filters->price_min);
    codec_i64(codec, &filters->price_max);
    codec_i64(codec, &filters->tick);
    codec_i64(codec, &filters->qty_min);
    codec_i64(codec, &filters->qty_max);
    codec_i64(codec, &filters->step);
    codec_i64(codec, &filters->market_qty_min);
    codec_i64(codec, &filters->market_qty_max);
    codec_i64(codec, &filters->market_step);
    codec_i64(codec, &filters->notional_min);
    codec_i64(codec, &filters->notional_max);
    codec_bool(codec, &filters->notional_min_market);
    codec_bool(codec, &filters->notional_max_market);
    codec_i64(codec, &filters->bid_up_e4);
    codec_i64(codec, &filters->bid_down_e4);
    codec_i64(codec, &filters->ask_up_e4);
    codec_i64(codec, &filters->ask_down_e4);
    codec_i32(codec, &filters->orders_max);
}

void visit_symbol(struct codec *codec, struct symbol *symbol)
{
    codec_text(codec, symbol->name, sizeof symbol->name);
    codec_text(codec, symbol->base, sizeof symbol->base);
    codec_text(codec, symbol->quote, sizeof symbol->quote);
    codec_int(codec, &symbol->price_scale, 0, DECIMAL_SCALE_MAX);
    codec_int(codec, &symbol->qty_scale, 0, DECIMAL_SCALE_MAX);
    codec_int(codec, &symbol->quote_scale, 0, DECIMAL_SCALE_MAX);
    int unit_scale = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    codec->failed |= unit_scale < 0 || unit_scale > DECIMAL_SCALE_MAX;
    codec_bool(codec, &symbol->trading);
    if (codec->version >= 6) {
        codec_bool(codec, &symbol->gone);
        codec_bool(codec, &symbol->loose_ids);
        codec_text(codec, symbol->venue, sizeof symbol->venue);
        codec_text(codec, symbol->calendar, sizeof symbol->calendar);
    }
    visit_filters(codec, &symbol->filters);
}

void visit_bar(struct codec *codec, struct bar *bar)
{
    codec_i64(codec, &bar->open_ns);
    codec_i64(codec, &bar->open);
    codec_i64(codec, &bar->high);
    codec_i64(codec, &bar->low);
    codec_i64(codec, &bar->close);
    codec_i128(codec, &bar->volume);
    codec_i128(codec, &bar->quote_volume);
    codec_i64(codec, &bar->trades);
    codec_i64(codec, &bar->first_trade_id);
    codec_i64(codec, &bar->last_trade_id);
}

void visit_levels(struct codec *codec, struct book_level *levels, uint32_t n)
{
    uint64_t before = 0; /* unsigned: steps may wrap, and come back */
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        int64_t step = (int64_t)((uint64_t)levels[i].price - before);
        codec_i64(codec, &step);
        codec_i64(codec, &levels[i].qty);
        before += (uint64_t)step;
        if (!codec->saving)
            levels[i].price = (int64_t)before;
    }
}

void visit_rules(struct codec *codec, struct account_rules *rules)
{
    codec_i32(codec, &rules->fees.maker_e6);
    codec_i32(codec, &rules->fees.taker_e6);
    codec_double(codec, &rules->risk.exposure_symbol);
    codec_double(codec, &rules->risk.exposure_account);
    codec_double(codec, &rules->risk.daily_loss);
    codec_i32(codec, &rules->risk.orders_per_second);
    if (codec->version >= 2) {
        codec_double(codec, &rules->risk.drawdown);
        codec_double(codec, &rules->risk.price_band);
        codec_i64(codec, &rules->risk.cooldown_ns);
        codec_i32(codec, &rules->risk.positions);
    }
    codec_bool(codec, &rules->shorts);
    codec_i32(codec, &rules->collateral_e4);
    codec_i32(codec, &rules->maintenance_e4);
    codec_i32(codec, &rules->borrow_rate_e6);
}

void visit_amend(struct codec *codec, struct order_amend *amend)
{
    codec_u64(codec, &amend->order_id);
    codec_u32(codec, &amend->set);
    codec_i64(codec, &amend->qty);
    codec_i64(codec, &amend->price);
    codec_i64(codec, &amend->stop_price);
    codec_i64(codec, &amend->trail);
    codec_i32(codec, &amend->trail_e6);
}

static bool takes(const struct strategy *strategy, const double *params)
{
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *param = &strategy->params[i];
        if (!(params[i] >= param->min && params[i] <= param->max) ||
            (param->integer && params[i] != floor(params[i])))
            return false;
    }
    return !strategy->check || !strategy->check(params);
}

bool visit_strategy(struct codec *codec, const struct strategy **strategy,
                    double params[static STRATEGY_PARAMS_MAX])
{
    char name[64] = "";
    if (codec->saving && *strategy)
        strncpy(name, (*strategy)->name, sizeof name - 1);
    codec_text(codec, name, sizeof name);
    size_t n = codec->saving && *strategy ? (*strategy)->n_params : 0;
    codec_size(codec, &n, STRATEGY_PARAMS_MAX);
    for (size_t i = 0; i < n; i++)
        codec_double(codec, &params[i]);
    codec->failed |= name[0] == '\0' && n > 0;
    if (codec->saving || codec->failed)
        return true;
    *strategy = name[0] ? strategy_find(name) : NULL;
    return name[0] == '\0' || (*strategy && (*strategy)->n_params == n && takes(*strategy, params));
}

bool visit_policy(struct codec *codec, const struct policy **policy)
{
    uint8_t id[POLICY_ID_SIZE] = {0};
    bool has = codec->saving && *policy;
    codec_bool(codec, &has);
    if (has && codec->saving)
        memcpy(id, (*policy)->id, sizeof id);
    if (has && !codec->failed)
        codec_bytes(codec, id, sizeof id);
    if (codec->saving || codec->failed)
        return true;
    *policy = has && codec->policies ? codec->policies->find(codec->policies->ctx, id) : NULL;
    if (has && !*policy && !codec->no_policy) {
        codec->no_policy = true;
        memcpy(codec->policy_id, id, sizeof id);
    }
    return !has || *policy;
}

bool visit_spec(struct codec *codec, struct account_spec *spec)
{
    codec_text(codec, spec->name, sizeof spec->name);
    codec_text(codec, spec->currency, sizeof spec->currency);
    codec_int(codec, &spec->currency_scale, 0, DECIMAL_SCALE_MAX);
    codec_i64(codec, &spec->cash);
    visit_rules(codec, &spec->rules);
    bool known = visit_strategy(codec, &spec->strategy, spec->params);
    if (codec->version >= 3)
        known &= visit_policy(codec, &spec->policy);
    codec->failed |= spec->strategy && spec->policy;
    return known;
}

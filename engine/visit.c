#include "engine/visit.h"

#include <string.h>

#include "record/account.h"
#include "record/market.h"
#include "record/symbol.h"
#include "strategy/external.h"

void engine_visit_count(struct codec *codec, uint32_t *n, uint32_t most, uint32_t bytes)
{
    size_t count = *n, room = most;
    if (!codec->saving && (codec->len - codec->at) / bytes < room)
        room = (codec->len - codec->at) / bytes;
    codec_size(codec, &count, room);
    if (!codec->failed)
        *n = (uint32_t)count;
}

#define ROW struct symbol
static const struct record_field unit_fields[] = {RECORD_FIELDS(RECORD_UNITS)};
static const struct record units = RECORD_OF("symbols", unit_fields);
#undef ROW
#define ROW struct symbol_filters
static const struct record_field filter_fields[] = {RECORD_FIELDS(RECORD_FILTERS)};
static const struct record filters = RECORD_OF("symbols", filter_fields);
#undef ROW
#define ROW struct account_rules
static const struct record_field rule_fields[] = {RECORD_FIELDS(RECORD_RULES) RECORD_STOCK_RULES(
    RECORD_FIELD_) RECORD_CLASS_FEES(RECORD_FIELD_) RECORD_CHARGES(RECORD_FIELD_)};
static const struct record rules_record = RECORD_OF("accounts", rule_fields);
const struct record engine_limits_record = RECORD_LIST("accounts", RECORD_LIMITS);
#undef ROW
#define ROW struct position
static const struct record_field holding_fields[] = {RECORD_FIELDS(RECORD_HOLDING)};
static const struct record holdings = RECORD_OF("positions", holding_fields);
#undef ROW

void engine_visit_symbol(struct codec *codec, struct symbol *symbol)
{
    codec_record(codec, &units, symbol, 0, 0);
    int unit_scale = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    codec->failed |= unit_scale < 0 || unit_scale > DECIMAL_SCALE_MAX;
    if (codec->version >= 6) {
        codec_bools(codec, &symbol->gone, &symbol->loose_ids);
        codec_text(codec, symbol->venue, sizeof symbol->venue);
        codec_text(codec, symbol->calendar, sizeof symbol->calendar);
    }
    if (codec->version >= 8) {
        int primary = (unsigned char)symbol->primary;
        codec_text(codec, symbol->feed, sizeof symbol->feed);
        codec_int(codec, &primary, 0, UINT8_MAX);
        symbol->primary = (char)primary;
    }
    codec_record(codec, &filters, &symbol->filters, 0, 0);
    if (codec->version >= 8) {
        codec_enum(codec, &symbol->asset, ASSET_CLASSES);
        codec_enum(codec, &symbol->shortable, SYMBOL_SAYINGS);
        codec_enum(codec, &symbol->easy_to_borrow, SYMBOL_SAYINGS);
    }
}

void engine_visit_bar(struct codec *codec, struct bar *bar)
{
    codec_record(codec, &record_bars, bar, 0, 0);
}

void engine_visit_position(struct codec *codec, struct position *position)
{
    codec_record(codec, &holdings, position, 0, 0);
    if (codec->version >= 2)
        codec_i64(codec, &position->closed_ns);
}

void engine_visit_levels(struct codec *codec, struct book_level *levels, uint32_t n)
{
    uint64_t before = 0; /* unsigned: steps may wrap, and come back */
    for (uint32_t i = 0; i < n && !codec->failed; i++) {
        int64_t step = (int64_t)((uint64_t)levels[i].price - before);
        codec_i64s(codec, &step, &levels[i].qty);
        before += (uint64_t)step;
        if (!codec->saving)
            levels[i].price = (int64_t)before;
    }
}

void engine_visit_rules(struct codec *codec, struct account_rules *rules)
{
    codec_record(codec, &rules_record, rules, 0, 0);
    if (codec->version >= 10)
        codec_enum(codec, &rules->execution, EXECUTIONS);
}

void engine_visit_amend(struct codec *codec, struct order_amend *amend)
{
    codec_u64(codec, &amend->order_id);
    codec_u32(codec, &amend->set);
    codec_i64s(codec, &amend->qty, &amend->price, &amend->stop_price, &amend->trail);
    codec_i32(codec, &amend->trail_e6);
}

void engine_visit_calendar(struct codec *codec, struct trading_calendar *calendar)
{
    codec_text(codec, calendar->name, sizeof calendar->name);
    codec_i64s(codec, &calendar->from_ns, &calendar->to_ns);
    uint32_t n = (uint32_t)calendar->n;
    engine_visit_count(codec, &n, CALENDAR_DAYS_MAX, 4);
    calendar->n = n;
}

/* Each time as its distance from the one before; unsigned, so that it may wrap and come back. */
void engine_visit_days(struct codec *codec, struct trading_day *days, size_t n)
{
    uint64_t before = 0;
    size_t bad;
    for (size_t i = 0; i < n && !codec->failed; i++) {
        int64_t *const times[] = {&days[i].early_ns, &days[i].open_ns, &days[i].close_ns, &days[i].late_ns};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            int64_t step = (int64_t)((uint64_t)*times[k] - before);
            codec_i64(codec, &step);
            before += (uint64_t)step;
            if (!codec->saving)
                *times[k] = (int64_t)before;
        }
    }
    codec->failed |= !codec->saving && !codec->failed && trading_days_check(days, n, &bad) < 0;
}

static bool takes(const struct strategy *strategy, const double *params)
{
    return !strategy_misfit(strategy, params) && !strategy_check(strategy, params);
}

bool engine_visit_strategy(struct codec *codec, const struct strategy **strategy,
                           double params[static STRATEGY_PARAMS_MAX])
{
    char name[64] = "";
    bool outside = codec->saving && *strategy && (*strategy)->external;
    if (codec->version >= 12)
        codec_bool(codec, &outside);
    if (outside && !codec->failed && codec->version >= 12)
        return engine_visit_outside(codec, strategy, params);
    if (codec->saving && *strategy)
        strncpy(name, (*strategy)->name, sizeof name - 1);
    codec_text(codec, name, sizeof name);
    size_t n = codec->saving && *strategy ? strategy_params_stored(*strategy, params) : 0;
    codec_size(codec, &n, STRATEGY_PARAMS_MAX);
    for (size_t i = 0; i < n; i++)
        codec_double(codec, &params[i]);
    codec->failed |= name[0] == '\0' && n > 0;
    if (codec->saving || codec->failed)
        return true;
    *strategy = name[0] ? strategy_find(name) : NULL;
    return name[0] == '\0' ||
           (*strategy && strategy_params_complete(*strategy, n, params) && takes(*strategy, params));
}

bool engine_visit_policy(struct codec *codec, const struct policy **policy)
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

bool engine_visit_spec(struct codec *codec, struct account_spec *spec)
{
    codec_text(codec, spec->name, sizeof spec->name);
    codec_text(codec, spec->currency, sizeof spec->currency);
    codec_int(codec, &spec->currency_scale, 0, DECIMAL_SCALE_MAX);
    codec_i64(codec, &spec->cash);
    engine_visit_rules(codec, &spec->rules);
    bool known = engine_visit_strategy(codec, &spec->strategy, spec->params);
    if (codec->version >= 3)
        known &= engine_visit_policy(codec, &spec->policy);
    if (codec->version >= 8)
        codec_enum(codec, &spec->session, SESSION_CHOICES);
    codec->failed |= spec->strategy && spec->policy;
    return known;
}

#include "engine/compare.h"

#include <stdio.h>
#include <string.h>

#include "engine/charge_record.h"
#include "record/order.h"
#include "record/value.h"

_Static_assert((int)RECORD_TEXT_MAX == (int)DIFFERENCE_TEXT_MAX, "a value's text");

static bool compare(const struct record *record, uint64_t id, const void *replayed, const void *recorded,
                    const struct symbol *symbol, struct difference *ret)
{
    const struct record_field *field = record_compare(record, replayed, recorded);
    if (!field)
        return true;
    *ret = (struct difference){.table = record->table, .id = id, .field = field->member};
    record_value(field, replayed, symbol, ret->replayed);
    record_value(field, recorded, symbol, ret->recorded);
    return false;
}

static bool same_symbol(const char *table, uint64_t id, const struct symbol *symbol, const char *recorded,
                        const char *first, struct difference *ret)
{
    const char *name = symbol ? symbol->name : "";
    bool same_first = symbol && symbol->calendar[0] && first[0] && strcmp(symbol->base, first) == 0;
    if (strcmp(name, recorded) == 0 || same_first)
        return true;
    *ret = (struct difference){.table = table, .id = id, .field = "symbol"};
    snprintf(ret->replayed, sizeof ret->replayed, "\"%s\"", name);
    snprintf(ret->recorded, sizeof ret->recorded, "\"%s\"", recorded);
    return false;
}

bool engine_compare_orders(const struct order *replayed, const struct symbol *symbol,
                           const struct recorded_order *recorded, struct difference *ret)
{
    return same_symbol("orders", replayed->id, symbol, recorded->symbol, recorded->first, ret) &&
           compare(&record_orders, replayed->id, replayed, &recorded->order, symbol, ret);
}

bool engine_compare_fills(const struct fill *replayed, const struct symbol *symbol,
                          const struct recorded_fill *recorded, struct difference *ret)
{
    return same_symbol("fills", replayed->id, symbol, recorded->symbol, recorded->first, ret) &&
           compare(&record_fills, replayed->id, replayed, &recorded->fill, symbol, ret);
}

bool engine_compare_causes(const struct ledger_cause *replayed, const struct symbol *symbol,
                           const struct recorded_cause *recorded, struct difference *ret)
{
    return same_symbol("ledger_causes", replayed->id, symbol, recorded->symbol, recorded->first, ret) &&
           compare(&record_ledger_causes, replayed->id, replayed, &recorded->cause, symbol, ret);
}

bool engine_compare_ledger_rows(const struct ledger_row *replayed, const struct ledger_row *recorded,
                                struct difference *ret)
{
    struct symbol scales = {.quote_scale = replayed->scale};
    return compare(&record_ledger, replayed->id, replayed, recorded, &scales, ret);
}

bool engine_compare_receivables(const struct receivable_row *replayed, const struct receivable_row *recorded,
                                struct difference *ret)
{
    struct symbol scales = {.quote_scale = replayed->of.scale, .qty_scale = replayed->of.qty_scale};
    return compare(&engine_record_receivables, replayed->id, replayed, recorded, &scales, ret);
}

bool engine_compare_fee_rates(const struct fee_rate_change *replayed, int scale,
                              const struct recorded_fee_rate *recorded, struct difference *ret)
{
    struct symbol scales = {.quote_scale = scale};
    struct fee_rate_change change = recorded->change;
    change.tiers = recorded->tiers;
    return compare(&engine_record_fee_rates, replayed->id, replayed, &change, &scales, ret);
}

void engine_compare_missing(const char *table, uint64_t id, bool in_replay, struct difference *ret)
{
    *ret = (struct difference){.table = table, .id = id, .field = "row"};
    snprintf(ret->replayed, sizeof ret->replayed, "%s", in_replay ? "there" : "none");
    snprintf(ret->recorded, sizeof ret->recorded, "%s", in_replay ? "none" : "there");
}

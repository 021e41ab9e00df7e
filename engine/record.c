#include "engine/record.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/visit.h"
#include "record/order.h"
#include "strategy/external.h"

enum {
    BARS_MOST = 1 << 20,
    TEXT_MOST = 1 << 20, /* bytes of a command's arguments */
    LEVEL_BYTES = 2,     /* at least */
    BAR_BYTES = 12,
};

/* One record, encoded or decoded. */
struct visit {
    struct codec *codec;
    struct event_memory *memory; /* loading */
    bool unknown_strategy, no_memory;
};

void event_memory_finish(struct event_memory *memory)
{
    free(memory->levels);
    free(memory->bars);
    free(memory->days);
    free(memory->text);
    free(memory->accounts);
    free(memory->totals);
    free(memory->kept);
    free(memory->decision);
    *memory = (struct event_memory){.policies = memory->policies};
}

/* Room for n elements at *array, kept from event to event. */
static bool reserve(struct visit *visit, void **array, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap)
        return true;
    void *grown = reallocarray(*array, n, size);
    if (!grown) {
        visit->no_memory = true;
        return false;
    }
    *array = grown;
    *cap = n;
    return true;
}

/* An index into a table of n. A command may name what does not exist; what a log holds is within bounds. */
static void visit_index(struct codec *codec, int *index, int n)
{
    codec_int(codec, index, codec->saving ? INT_MIN : 0, codec->saving ? INT_MAX : n - 1);
}

/* `value` as its distance from `base`; unsigned, so that it may wrap and come back. */
static void visit_from(struct codec *codec, int64_t base, int64_t *value)
{
    int64_t step = (int64_t)((uint64_t)*value - (uint64_t)base);
    codec_i64(codec, &step);
    if (!codec->saving)
        *value = (int64_t)((uint64_t)base + (uint64_t)step);
}

static void visit_from_u64(struct codec *codec, uint64_t base, uint64_t *value)
{
    int64_t signed_value = (int64_t)*value;
    visit_from(codec, (int64_t)base, &signed_value);
    if (!codec->saving)
        *value = (uint64_t)signed_value;
}

static void visit_both_sides(struct visit *visit, const struct book_level **bids, uint32_t *n_bids,
                             const struct book_level **asks, uint32_t *n_asks)
{
    struct codec *codec = visit->codec;
    engine_visit_count(codec, n_bids, BOOK_LEVELS_MAX, LEVEL_BYTES);
    engine_visit_count(codec, n_asks, BOOK_LEVELS_MAX, LEVEL_BYTES);
    if (codec->failed)
        return;
    if (!codec->saving) {
        struct event_memory *memory = visit->memory;
        if (!reserve(visit, (void **)&memory->levels, &memory->cap_levels, (size_t)*n_bids + *n_asks,
                     sizeof *memory->levels))
            return;
        *bids = memory->levels;
        *asks = memory->levels ? memory->levels + *n_bids : NULL;
    }
    engine_visit_levels(codec, (struct book_level *)(uintptr_t)*bids,
                        *n_bids); /* saving does not change them */
    engine_visit_levels(codec, (struct book_level *)(uintptr_t)*asks, *n_asks);
}

/* ---- the kinds ---- */

static void visit_trade(struct codec *codec, int64_t event_ns, struct market_trade *trade)
{
    visit_from(codec, event_ns, &trade->ts_ns);
    codec_i64(codec, &trade->id);
    visit_from(codec, trade->id, &trade->first_id);
    visit_from(codec, trade->first_id, &trade->last_id);
    codec_i64(codec, &trade->price);
    codec_i64(codec, &trade->qty);
    codec_bool(codec, &trade->buyer_maker);
    if (codec->version >= 6)
        codec_bool(codec, &trade->odd);
    if (codec->version >= 8)
        codec_enum(codec, &trade->auction, MARKET_AUCTIONS);
}

static void visit_quote(struct codec *codec, struct market_quote *quote)
{
    codec_u64(codec, &quote->update_id);
    codec_i64(codec, &quote->bid);
    codec_i64(codec, &quote->bid_qty);
    visit_from(codec, quote->bid, &quote->ask);
    codec_i64(codec, &quote->ask_qty);
}

static void visit_correction(struct codec *codec, int64_t event_ns, struct market_correction *correction)
{
    visit_from(codec, event_ns, &correction->ts_ns);
    codec_i64(codec, &correction->id);
    visit_from(codec, correction->id, &correction->new_id);
    codec_i64(codec, &correction->old_price);
    codec_i64(codec, &correction->old_qty);
    codec_i64(codec, &correction->price);
    codec_i64(codec, &correction->qty);
    codec_text(codec, correction->code, sizeof correction->code);
}

static void visit_depth(struct visit *visit, struct market_depth *depth)
{
    codec_u64(visit->codec, &depth->first_id);
    visit_from_u64(visit->codec, depth->first_id, &depth->last_id);
    visit_both_sides(visit, &depth->bids, &depth->n_bids, &depth->asks, &depth->n_asks);
}

static void visit_market_event(struct visit *visit, struct market_event *market)
{
    struct codec *codec = visit->codec;
    codec_enum(codec, &market->kind, MARKET_KINDS);
    visit_index(codec, &market->symbol, SYMBOLS_MAX);
    codec_i64(codec, &market->event_ns);
    if (codec->failed)
        return;
    switch (market->kind) {
    case MARKET_TRADE:
    case MARKET_AGG_TRADE:
        visit_trade(codec, market->event_ns, &market->trade);
        break;
    case MARKET_KLINE:
    case MARKET_REVISION:
        codec_i64(codec, &market->kline.interval_ns);
        engine_visit_bar(codec, &market->kline.bar);
        codec_bool(codec, &market->kline.closed);
        break;
    case MARKET_QUOTE:
        visit_quote(codec, &market->quote);
        break;
    case MARKET_DEPTH:
    case MARKET_BOOK:
        visit_depth(visit, &market->depth);
        break;
    case MARKET_TICKER:
        codec_i64(codec, &market->ticker.open);
        codec_i64(codec, &market->ticker.high);
        codec_i64(codec, &market->ticker.low);
        codec_i64(codec, &market->ticker.close);
        codec_i128(codec, &market->ticker.volume);
        break;
    case MARKET_CORRECTION:
    case MARKET_CANCEL:
        visit_correction(codec, market->event_ns, &market->correction);
        break;
    case MARKET_STATUS:
        codec_enum(codec, &market->status.trading, MARKET_TRADINGS);
        codec_text(codec, market->status.code, sizeof market->status.code);
        codec_text(codec, market->status.reason, sizeof market->status.reason);
        break;
    case MARKET_BANDS:
        codec_i64(codec, &market->bands.up);
        codec_i64(codec, &market->bands.down);
        break;
    case MARKET_IMBALANCE:
        codec_i64(codec, &market->imbalance_price);
        break;
    default:
        codec->failed = true;
        break;
    }
}

static void visit_snapshot(struct visit *visit, struct event_snapshot *snapshot)
{
    visit_index(visit->codec, &snapshot->symbol, SYMBOLS_MAX);
    codec_u64(visit->codec, &snapshot->last_id);
    visit_both_sides(visit, &snapshot->bids, &snapshot->n_bids, &snapshot->asks, &snapshot->n_asks);
}

static void visit_bars(struct visit *visit, struct event_bars *bars)
{
    struct codec *codec = visit->codec;
    struct event_memory *memory = visit->memory;
    visit_index(codec, &bars->symbol, SYMBOLS_MAX);
    codec_bool(codec, &bars->missed);
    engine_visit_count(codec, &bars->n, BARS_MOST, BAR_BYTES);
    if (codec->failed || (!codec->saving && !reserve(visit, (void **)&memory->bars, &memory->cap_bars,
                                                     bars->n, sizeof *memory->bars)))
        return;
    for (uint32_t i = 0; i < bars->n && !codec->failed; i++) {
        struct bar bar = codec->saving ? bars->bars[i] : (struct bar){0};
        engine_visit_bar(codec, &bar);
        if (!codec->saving)
            memory->bars[i] = bar;
    }
    if (!codec->saving)
        bars->bars = memory->bars;
}

/* A text of any length; NULL is distinguished from an empty one. */
static void visit_text(struct visit *visit, const char **text)
{
    struct codec *codec = visit->codec;
    uint32_t size = codec->saving && *text ? (uint32_t)strnlen(*text, TEXT_MOST - 1) + 1 : 0;
    codec_u32(codec, &size);
    if (codec->failed || size == 0) {
        if (!codec->saving)
            *text = NULL;
        return;
    }
    if (codec->saving) {
        codec_bytes(codec, (void *)(uintptr_t)*text, size - 1);
        return;
    }
    struct event_memory *memory = visit->memory;
    codec->failed |= size > TEXT_MOST || size - 1 > codec->len - codec->at;
    if (codec->failed || !reserve(visit, (void **)&memory->text, &memory->cap_text, size, 1))
        return;
    codec_bytes(codec, memory->text, size - 1);
    memory->text[size - 1] = '\0';
    codec->failed |= strlen(memory->text) != size - 1;
    *text = memory->text;
}

static void visit_money(struct codec *codec, struct event_command *command)
{
    codec_int(codec, &command->money.account, INT_MIN, INT_MAX);
    codec_int(codec, &command->money.to, INT_MIN, INT_MAX);
    codec_i64(codec, &command->money.amount);
}

static void visit_configure(struct visit *visit, struct event_command *command)
{
    struct codec *codec = visit->codec;
    struct event_memory *memory = visit->memory;
    codec_int(codec, &command->configure.n, 0, ACCOUNTS_MAX);
    size_t n = codec->failed ? 0 : (size_t)command->configure.n;
    if (!codec->saving &&
        !reserve(visit, (void **)&memory->accounts, &memory->cap_accounts, n, sizeof *memory->accounts))
        return;
    if (!codec->saving && n > 0)
        command->configure.accounts = memset(memory->accounts, 0, n * sizeof *memory->accounts);
    for (size_t i = 0; i < n && !codec->failed; i++)
        visit->unknown_strategy |= !engine_visit_spec(codec, &command->configure.accounts[i]);
}

static void visit_command(struct visit *visit, struct event_command *command)
{
    struct codec *codec = visit->codec;
    codec_enum(codec, &command->kind, COMMAND_KINDS);
    codec_u64(codec, &command->command_id);
    codec_text(codec, command->key, sizeof command->key);
    codec_i64(codec, &command->peer_uid);
    codec_i64(codec, &command->peer_pid);
    visit_text(visit, &command->args);
    if (codec->failed || visit->no_memory)
        return;
    switch (command->kind) {
    case COMMAND_PAUSE:
    case COMMAND_RESUME:
    case COMMAND_FLATTEN:
        break;
    case COMMAND_ORDER:
        codec_enum(codec, &command->order.grouping, ORDER_GROUPINGS);
        codec_int(codec, &command->order.n_legs, 0, ORDER_LEGS_MAX);
        if (!codec->saving)
            command->order.legs = memset(visit->memory->legs, 0, sizeof visit->memory->legs);
        for (int i = 0; i < command->order.n_legs && !codec->failed; i++)
            codec_asked(codec, &record_orders, &command->order.legs[i]);
        break;
    case COMMAND_CANCEL:
        codec_u64(codec, &command->order_id);
        break;
    case COMMAND_AMEND:
        engine_visit_amend(codec, &command->amend);
        break;
    case COMMAND_ACCOUNT_CREATE:
        visit->unknown_strategy = !engine_visit_spec(codec, &command->account);
        break;
    case COMMAND_ACCOUNT_DEPOSIT:
    case COMMAND_ACCOUNT_RESET:
    case COMMAND_ACCOUNT_TRANSFER:
    case COMMAND_ACCOUNT_RESUME:
    case COMMAND_ACCOUNT_CLOSE:
        visit_money(codec, command);
        break;
    case COMMAND_ACCOUNT_POLICY:
        codec_int(codec, &command->policy.account, INT_MIN, INT_MAX);
        codec_bool(codec, &command->policy.close);
        visit->unknown_strategy = !engine_visit_policy(codec, &command->policy.policy);
        break;
    case COMMAND_CONFIGURE:
        visit_configure(visit, command);
        break;
    case COMMAND_KINDS:
        codec->failed = true;
        break;
    }
}

static void visit_action(struct codec *codec, struct corporate_action *action)
{
    codec_text(codec, action->id, sizeof action->id);
    codec_enum(codec, &action->kind, CORPORATE_ACTION_KINDS);
    codec_i64(codec, &action->ex_ns);
    codec_i64(codec, &action->shares);
    codec_i64(codec, &action->per);
    codec_i64(codec, &action->cash);
    if (codec->version >= 13)
        codec_i64s(codec, &action->record_ns, &action->pay_ns);
    else if (!codec->saving)
        action->record_ns = action->pay_ns = 0;
}

static void visit_calendar(struct visit *visit, struct event_calendar *event)
{
    struct codec *codec = visit->codec;
    struct event_memory *memory = visit->memory;
    struct trading_calendar *calendar = &event->calendar;
    engine_visit_calendar(codec, calendar);
    codec_bytes(codec, event->hash, sizeof event->hash);
    if (codec->failed || (!codec->saving && !reserve(visit, (void **)&memory->days, &memory->cap_days,
                                                     calendar->n, sizeof *memory->days)))
        return;
    if (!codec->saving)
        calendar->days = memory->days;
    engine_visit_days(codec, (struct trading_day *)(uintptr_t)calendar->days, calendar->n); /* as above */
}

static void visit_duplicate(struct codec *codec, struct event_venue_order *event)
{
    visit_index(codec, &event->duplicate.symbol, SYMBOLS_MAX);
    codec_enum(codec, &event->duplicate.side, ORDER_SELL + 1);
    codec_enum(codec, &event->duplicate.type, ORDER_TYPES);
    codec_enum(codec, &event->duplicate.tif, ORDER_TIFS);
    codec_i64s(codec, &event->duplicate.qty, &event->duplicate.price, &event->duplicate.stop_price);
}

static void visit_venue_order(struct codec *codec, struct event_venue_order *event)
{
    visit_index(codec, &event->account, ACCOUNTS_MAX);
    codec_u64(codec, &event->order_id);
    codec_enum(codec, &event->update, VENUE_UPDATES);
    codec_text(codec, event->venue_id, sizeof event->venue_id);
    codec_text(codec, event->text, sizeof event->text);
    if (!codec->failed && event->update == VENUE_UPDATE_DUPLICATE)
        visit_duplicate(codec, event);
    if (codec->failed || event->update != VENUE_UPDATE_FILL)
        return;
    codec_i64s(codec, &event->fill.price, &event->fill.qty, &event->fill.cumulative, &event->fill.notional,
               &event->fill.fee);
    codec_text(codec, event->fill.fee_asset, sizeof event->fill.fee_asset);
    codec_bool(codec, &event->fill.maker);
    codec_text(codec, event->fill.trade_id, sizeof event->fill.trade_id);
    codec_i64(codec, &event->fill.ts_ns);
}

static void visit_venue_account(struct visit *visit, struct event_venue_account *event)
{
    struct codec *codec = visit->codec;
    struct event_memory *memory = visit->memory;
    visit_index(codec, &event->account, ACCOUNTS_MAX);
    codec_enum(codec, &event->update, VENUE_ACCOUNT_UPDATES);
    codec_text(codec, event->prefix, sizeof event->prefix);
    codec_text(codec, event->text, sizeof event->text);
    codec_int(codec, &event->n, 0, ACCOUNT_ASSETS_MAX);
    size_t n = codec->failed ? 0 : (size_t)event->n;
    if (!codec->saving &&
        !reserve(visit, (void **)&memory->totals, &memory->cap_totals, n, sizeof *memory->totals))
        return;
    for (size_t i = 0; i < n && !codec->failed; i++) {
        struct venue_total total = codec->saving ? event->totals[i] : (struct venue_total){0};
        codec_text(codec, total.asset, sizeof total.asset);
        codec_int(codec, &total.scale, 0, DECIMAL_SCALE_MAX);
        codec_i64(codec, &total.total);
        if (!codec->saving)
            memory->totals[i] = total;
    }
    if (!codec->saving)
        event->totals = memory->totals;
}

static void visit_kept(struct visit *visit, struct strategy_kept *kept)
{
    struct codec *codec = visit->codec;
    struct event_memory *memory = visit->memory;
    engine_visit_count(codec, &kept->len, STRATEGY_KEPT_MAX, 1);
    if (codec->failed || (!codec->saving && !reserve(visit, (void **)&memory->kept, &memory->cap_kept,
                                                     kept->len, sizeof *memory->kept)))
        return;
    if (!codec->saving)
        kept->bytes = memory->kept;
    codec_bytes(codec, (void *)(uintptr_t)kept->bytes, kept->len); /* saving does not change them */
}

static bool room_for_decision(struct visit *visit)
{
    struct event_memory *memory = visit->memory;
    if (!memory->decision && !(memory->decision = malloc(sizeof *memory->decision)))
        visit->no_memory = true;
    return memory->decision != NULL;
}

static void visit_decision(struct visit *visit, struct event_decision *event)
{
    struct codec *codec = visit->codec;
    struct strategy_decision loaded = {0}, *decision = &loaded;
    if (codec->saving)
        loaded = *event->decision;
    visit_index(codec, &event->account, ACCOUNTS_MAX);
    visit_index(codec, &event->symbol, SYMBOLS_MAX);
    codec_i64(codec, &event->open_ns);
    codec_enum(codec, &decision->outcome, STRATEGY_OUTCOMES);
    codec_text(codec, decision->fault, sizeof decision->fault);
    engine_visit_count(codec, &decision->n, STRATEGY_SAID_MAX, 1);
    for (uint32_t i = 0; i < decision->n && i < STRATEGY_DECISION_MAX && !codec->failed; i++)
        engine_visit_intent(codec, &decision->intents[i], decision->whys[i]);
    codec_bool(codec, &decision->keeps);
    if (decision->keeps && !codec->failed)
        visit_kept(visit, &decision->state);
    if (codec->saving || codec->failed || visit->no_memory || !room_for_decision(visit))
        return;
    decision = visit->memory->decision;
    *decision = loaded;
    for (uint32_t i = 0; i < decision->n && i < STRATEGY_DECISION_MAX; i++)
        decision->intents[i].why = decision->whys[i];
    event->decision = decision;
}

static void visit_column(struct codec *codec, struct event_column *event)
{
    codec_int(codec, &event->symbol, -1, SYMBOLS_MAX - 1);
    codec_text(codec, event->name, sizeof event->name);
    engine_visit_column_value(codec, &event->value);
}

static void visit_event(struct visit *visit, struct event *event)
{
    struct codec *codec = visit->codec;
    codec_enum(codec, &event->kind, EVENT_KINDS);
    if (codec->failed)
        return;
    switch (event->kind) {
    case EVENT_MARKET:
        visit_market_event(visit, &event->market);
        break;
    case EVENT_SNAPSHOT:
        visit_snapshot(visit, &event->snapshot);
        break;
    case EVENT_BARS:
        visit_bars(visit, &event->bars);
        break;
    case EVENT_SYMBOL:
        visit_index(codec, &event->symbol.index, SYMBOLS_MAX);
        engine_visit_symbol(codec, &event->symbol.listed);
        break;
    case EVENT_CONNECTION:
        if (codec->version >= 6)
            codec_text(codec, event->connection.venue, sizeof event->connection.venue);
        codec_bool(codec, &event->connection.up);
        break;
    case EVENT_SYMBOL_CONNECTION:
        visit_index(codec, &event->symbol_connection.symbol, SYMBOLS_MAX);
        codec_bool(codec, &event->symbol_connection.up);
        break;
    case EVENT_STALE:
        visit_index(codec, &event->stale.symbol, SYMBOLS_MAX);
        codec_bool(codec, &event->stale.stale);
        break;
    case EVENT_UNIVERSE:
        visit_index(codec, &event->universe.symbol, SYMBOLS_MAX);
        codec_bool(codec, &event->universe.in);
        break;
    case EVENT_STORAGE:
        codec_bool(codec, &event->storage_ok);
        break;
    case EVENT_TIMER:
    case EVENT_STOP:
        break;
    case EVENT_COMMAND:
        visit_command(visit, &event->command);
        break;
    case EVENT_SESSION:
        codec_text(codec, event->session.calendar, sizeof event->session.calendar);
        codec_enum(codec, &event->session.phase, MARKET_PHASES);
        codec_i64(codec, &event->session.next_ns);
        codec_bool(codec, &event->session.extended);
        break;
    case EVENT_ACTION:
        visit_index(codec, &event->action.symbol, SYMBOLS_MAX);
        visit_action(codec, &event->action.action);
        break;
    case EVENT_CALENDAR:
        visit_calendar(visit, &event->calendar);
        break;
    case EVENT_VENUE_CLOCK:
        codec_text(codec, event->venue_clock.venue, sizeof event->venue_clock.venue);
        codec_i64(codec, &event->venue_clock.ahead_ns);
        break;
    case EVENT_VENUE_ORDER:
        visit_venue_order(codec, &event->venue_order);
        break;
    case EVENT_VENUE_ACCOUNT:
        visit_venue_account(visit, &event->venue_account);
        break;
    case EVENT_DECISION:
        visit_decision(visit, &event->decision);
        break;
    case EVENT_COLUMN:
        visit_column(codec, &event->column);
        break;
    default:
        codec->failed = true;
        break;
    }
}

/* The part of an event that its kind uses. */
static void copy_event(const struct event *from, struct event *to)
{
    to->kind = from->kind;
    switch (from->kind) {
    case EVENT_MARKET:
        to->market = from->market;
        break;
    case EVENT_COMMAND:
        to->command = from->command;
        break;
    default:
        *to = *from;
        break;
    }
}

int event_encode(const struct event *event, struct codec *codec)
{
    struct event copy; /* a codec takes a pointer that it could change */
    struct visit visit = {.codec = codec};
    uint32_t version = EVENT_RECORD_VERSION;
    copy_event(event, &copy);
    codec_save(codec);
    codec_u32(codec, &version);
    codec->version = version;
    visit_event(&visit, &copy);
    return codec->failed ? -ENOMEM : 0;
}

int event_decode(const void *bytes, size_t len, struct event_memory *memory, struct event *ret)
{
    struct event event = {0};
    struct codec codec;
    struct visit visit = {.codec = &codec, .memory = memory};
    uint32_t version = 0;
    codec_load(&codec, bytes, len);
    codec.policies = memory->policies;
    codec_u32(&codec, &version);
    if (codec.failed || version == 0)
        return -EBADMSG;
    if (version > EVENT_RECORD_VERSION)
        return -ENOTSUP;
    codec.version = version;
    visit_event(&visit, &event);
    if (visit.no_memory)
        return -ENOMEM;
    if (codec.failed)
        return -EBADMSG;
    if (visit.unknown_strategy) {
        memory->no_policy = codec.no_policy;
        memcpy(memory->policy_id, codec.policy_id, sizeof memory->policy_id);
        return -ENOPKG;
    }
    if (!codec_complete(&codec))
        return -EBADMSG;
    event.seq = ret->seq;
    event.recv_ns = ret->recv_ns;
    *ret = event;
    return 0;
}

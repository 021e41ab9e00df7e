#include "exchange/replay/render.h"

#include <string.h>

static const int64_t unit_ns[STREAM_UNITS] = {1000000, 1000};

enum { NS_PER_MS = 1000000 };

static void head(struct text *out, int unit, const char *event, int64_t event_ns, const char *symbol)
{
    text_lit(out, "{\"e\":\"");
    text_str(out, event);
    text_lit(out, "\",\"E\":");
    text_int(out, event_ns / unit_ns[unit]);
    text_lit(out, ",\"s\":\"");
    text_str(out, symbol);
    text_lit(out, "\"");
}

static void key_e8(struct text *out, const char *key, int64_t value)
{
    text_str(out, key);
    text_e8(out, value);
}

static void key_int(struct text *out, const char *key, int64_t value)
{
    text_str(out, key);
    text_int(out, value);
}

static void key_bool(struct text *out, const char *key, bool value)
{
    text_str(out, key);
    text_str(out, value ? "true" : "false");
}

void replay_render_trade(struct text *out, int unit, const char *symbol, const struct tape_trade *trade)
{
    head(out, unit, "trade", trade->event_ns, symbol);
    key_int(out, ",\"t\":", trade->id);
    key_e8(out, ",\"p\":", trade->price);
    key_e8(out, ",\"q\":", trade->qty);
    key_int(out, ",\"T\":", trade->ts_ns / unit_ns[unit]);
    key_bool(out, ",\"m\":", trade->buyer_maker);
    text_lit(out, ",\"M\":true}");
}

void replay_render_agg_trade(struct text *out, int unit, const char *symbol, const struct tape_trade *trade,
                             int64_t agg_id, int64_t first_id, int64_t last_id, int64_t qty)
{
    head(out, unit, "aggTrade", trade->event_ns, symbol);
    key_int(out, ",\"a\":", agg_id);
    key_e8(out, ",\"p\":", trade->price);
    key_e8(out, ",\"q\":", qty);
    key_int(out, ",\"f\":", first_id);
    key_int(out, ",\"l\":", last_id);
    key_int(out, ",\"T\":", trade->ts_ns / unit_ns[unit]);
    key_bool(out, ",\"m\":", trade->buyer_maker);
    text_lit(out, ",\"M\":true}");
}

static void key_sum(struct text *out, const char *key, int128_t value, int scale)
{
    text_str(out, key);
    text_sum(out, value, scale);
}

void replay_render_kline(struct text *out, int unit, const char *symbol, int64_t event_ns, int interval,
                         const struct candle *candle, bool closed)
{
    head(out, unit, "kline", event_ns, symbol);
    key_int(out, ",\"k\":{\"t\":", candle->open_ns / unit_ns[unit]);
    key_int(out, ",\"T\":", replay_candle_end_time(interval, candle->open_ns) / unit_ns[unit] - 1);
    text_lit(out, ",\"s\":\"");
    text_str(out, symbol);
    text_lit(out, "\",\"i\":\"");
    text_str(out, replay_candle_interval_name(interval));
    key_int(out, "\",\"f\":", candle->first_id);
    key_int(out, ",\"L\":", candle->last_id);
    key_e8(out, ",\"o\":", candle->open);
    key_e8(out, ",\"c\":", candle->close);
    key_e8(out, ",\"h\":", candle->high);
    key_e8(out, ",\"l\":", candle->low);
    key_sum(out, ",\"v\":", candle->volume, 8);
    key_int(out, ",\"n\":", candle->trades);
    key_bool(out, ",\"x\":", closed);
    key_sum(out, ",\"q\":", candle->quote_volume, 16);
    key_sum(out, ",\"V\":", candle->taker_volume, 8);
    key_sum(out, ",\"Q\":", candle->taker_quote_volume, 16);
    text_lit(out, ",\"B\":\"0\"}}");
}

void replay_render_quote(struct text *out, const char *symbol, uint64_t id, int64_t bid, int64_t bid_qty,
                         int64_t ask, int64_t ask_qty)
{
    key_int(out, "{\"u\":", (int64_t)id);
    text_lit(out, ",\"s\":\"");
    text_str(out, symbol);
    key_e8(out, "\",\"b\":", bid);
    key_e8(out, ",\"B\":", bid_qty);
    key_e8(out, ",\"a\":", ask);
    key_e8(out, ",\"A\":", ask_qty);
    text_lit(out, "}");
}

void replay_render_levels(struct text *out, const struct level *levels, size_t n, int step)
{
    text_lit(out, "[");
    for (size_t i = 0; i < n; i++) {
        const struct level *level = levels + (ptrdiff_t)i * step;
        text_str(out, i > 0 ? ",[" : "[");
        text_e8(out, level->price);
        text_lit(out, ",");
        text_e8(out, level->qty);
        text_lit(out, "]");
    }
    text_lit(out, "]");
}

void replay_render_depth(struct text *out, int unit, const char *symbol, int64_t event_ns, uint64_t first_id,
                         uint64_t last_id, const struct level *bids, size_t n_bids, const struct level *asks,
                         size_t n_asks)
{
    head(out, unit, "depthUpdate", event_ns, symbol);
    key_int(out, ",\"U\":", (int64_t)first_id);
    key_int(out, ",\"u\":", (int64_t)last_id);
    text_lit(out, ",\"b\":");
    replay_render_levels(out, bids, n_bids, 1);
    text_lit(out, ",\"a\":");
    replay_render_levels(out, asks, n_asks, 1);
    text_lit(out, "}");
}

void replay_render_mini_ticker(struct text *out, int unit, const char *symbol, int64_t event_ns,
                               const struct candle *day)
{
    head(out, unit, "24hrMiniTicker", event_ns, symbol);
    key_e8(out, ",\"c\":", day->close);
    key_e8(out, ",\"o\":", day->open);
    key_e8(out, ",\"h\":", day->high);
    key_e8(out, ",\"l\":", day->low);
    key_sum(out, ",\"v\":", day->volume, 8);
    key_sum(out, ",\"q\":", day->quote_volume, 16);
    text_lit(out, "}");
}

void replay_render_kline_row(struct text *out, int interval, const struct candle *candle)
{
    key_int(out, "[", candle->open_ns / NS_PER_MS);
    key_e8(out, ",", candle->open);
    key_e8(out, ",", candle->high);
    key_e8(out, ",", candle->low);
    key_e8(out, ",", candle->close);
    key_sum(out, ",", candle->volume, 8);
    key_int(out, ",", replay_candle_end_time(interval, candle->open_ns) / NS_PER_MS - 1);
    key_sum(out, ",", candle->quote_volume, 16);
    key_int(out, ",", candle->trades);
    key_sum(out, ",", candle->taker_volume, 8);
    key_sum(out, ",", candle->taker_quote_volume, 16);
    text_lit(out, ",\"0\"]");
}

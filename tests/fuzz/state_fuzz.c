/* Whatever the bytes: no state, or an engine that can be looked at, saved and loaded again as the same bytes,
 * and continues: with the market, a session, a split and a correction. */
#include <stdlib.h>
#include <string.h>

#include "engine/event.h"
#include "engine/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct engine_sink sink = {0};
    char err[ENGINE_ERROR_MAX];
    struct engine *engine;
    if (engine_load(data, size, &sink, NULL, &engine, err) < 0)
        return 0;
    struct codec codec = {0};
    codec_save(&codec);
    bool newest = engine_state_layout(data, size) == ENGINE_STATE_VERSION; /* older ones lack what it holds */
    if (engine_save(engine, &codec) < 0 ||
        (newest && (codec.len != size || memcmp(codec.bytes, data, size) != 0)))
        abort();
    codec_finish(&codec);
    for (int s = 0; s < engine_symbols(engine); s++) {
        struct engine_symbol_view view;
        engine_symbol_view(engine, s, &view);
    }
    struct event event = {.seq = 1, .recv_ns = engine_now(engine), .kind = EVENT_TIMER};
    engine_handle(engine, &event);
    event.kind = EVENT_CONNECTION;
    engine_handle(engine, &event);
    event.kind = EVENT_MARKET;
    event.market.kind = MARKET_TRADE;
    event.market.trade =
        (struct market_trade){.ts_ns = event.recv_ns, .id = 1 << 20, .price = 100000000, .qty = 1000};
    engine_handle(engine, &event);
    event.market.kind = MARKET_QUOTE;
    event.market.quote = (struct market_quote){UINT64_MAX, 99000000, 1000, 100000000, 1000};
    engine_handle(engine, &event);
    event.market = (struct market_event){.kind = MARKET_CANCEL, .correction = {.id = 1 << 20}};
    engine_handle(engine, &event);
    event = (struct event){.seq = 2, .recv_ns = engine_now(engine), .kind = EVENT_SESSION};
    event.session.phase = MARKET_PHASE_OPEN;
    memcpy(event.session.calendar, engine_symbol(engine, 0)->calendar, sizeof event.session.calendar);
    engine_handle(engine, &event);
    event = (struct event){.seq = 3, .recv_ns = engine_now(engine), .kind = EVENT_ACTION};
    event.action.action = (struct corporate_action){"x", ACTION_SPLIT, event.recv_ns, 3, 2, 0};
    engine_handle(engine, &event);
    event.action.action = (struct corporate_action){"y", ACTION_DIVIDEND, event.recv_ns, 0, 0, 1000000000};
    engine_handle(engine, &event);
    event = (struct event){.seq = 4, .recv_ns = engine_now(engine), .kind = EVENT_COMMAND};
    event.command.kind = COMMAND_FLATTEN;
    engine_handle(engine, &event);
    engine_destroy(engine);
    return 0;
}

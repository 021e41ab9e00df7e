/* Whatever the bytes: no state, or an engine that can be looked at, saved and loaded again as the same bytes.
 */
#include <stdlib.h>
#include <string.h>

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
    if (engine_save(engine, &codec) < 0 || codec.len != size || memcmp(codec.bytes, data, size) != 0)
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
    event = (struct event){.seq = 2, .recv_ns = engine_now(engine), .kind = EVENT_COMMAND};
    event.command.kind = COMMAND_FLATTEN;
    engine_handle(engine, &event);
    engine_destroy(engine);
    return 0;
}

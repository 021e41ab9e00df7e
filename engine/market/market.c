#include "engine/market/market.h"

#include <stdlib.h>

#include "engine/market/image.h"

size_t market_store_row_at(const struct market *market, int64_t ns)
{
    if (ns <= market->start_ns)
        return 0;
    if (market->open_ns)
        return bars_row_at(market->open_ns, market->rows, ns);
    uint64_t after = (uint64_t)ns - (uint64_t)market->start_ns, interval = (uint64_t)market->interval_ns;
    uint64_t row = after / interval + (after % interval != 0);
    return row < market->rows ? row : market->rows;
}

void market_store_close(struct market *market)
{
    struct market_image *image = (struct market_image *)market;
    if (!image)
        return;
    market_store_blob_release(&image->blob);
    free(image->open_ns);
    free(image->marks);
    free(image);
}

/* External columns as a part of the state. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/column.h"
#include "engine/core.h"
#include "engine/visit.h"

void engine_visit_column_value(struct codec *codec, struct column_value *value)
{
    codec_i64s(codec, &value->timestamp_ns, &value->published_ns);
    codec_double(codec, &value->value);
}

/* Each is as engine_column_check() takes it. */
static int load_values(struct codec *codec, struct engine *engine, const struct column_values *head)
{
    struct event_column event = {.symbol = head->symbol};
    char why[COLUMN_ERROR_MAX];
    memcpy(event.name, head->name, sizeof event.name);
    for (uint32_t i = 0; i < head->n && !codec->failed; i++) {
        engine_visit_column_value(codec, &event.value);
        codec->failed |= !codec->failed && engine_column_check(engine, &event, why) < 0;
        int r = codec->failed ? 0 : engine_column_push(engine, event.symbol, event.name, &event.value);
        if (r < 0)
            return r;
    }
    return 0;
}

static int visit_column(struct codec *codec, struct engine *engine, uint32_t index)
{
    struct column_values head = {0};
    if (codec->saving)
        head = engine->columns[index];
    codec_text(codec, head.name, sizeof head.name);
    codec_int(codec, &head.symbol, -1, engine->n_symbols - 1);
    engine_visit_count(codec, &head.n, COLUMN_VALUES_MAX, 10);
    if (!codec->saving)
        return codec->failed ? 0 : load_values(codec, engine, &head);
    for (uint32_t i = 0; i < head.n; i++)
        engine_visit_column_value(codec, &head.values[i]);
    return 0;
}

int engine_visit_columns(struct codec *codec, struct engine *engine)
{
    uint32_t n = engine->n_columns;
    int r = 0;
    if (codec->saving ? n == 0 : codec->at == codec->len)
        return 0;
    engine_visit_count(codec, &n, COLUMN_SERIES_MAX, 3);
    codec->failed |= n == 0;
    for (uint32_t i = 0; i < n && r == 0 && !codec->failed; i++)
        r = visit_column(codec, engine, i);
    return r;
}

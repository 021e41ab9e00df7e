/* An engine that continues with what it saved, as after a restart. */
#ifndef TESTS_ENGINE_RELOAD_H
#define TESTS_ENGINE_RELOAD_H

#include "engine/core.h"
#include "engine/state.h"
#include "record/codec.h"
#include "tests/check.h"

/* Replaces the engine by one loaded from its own bytes, which saves the same bytes again; its sink stays. */
static inline void reload_engine(struct engine **engine)
{
    struct codec codec = {0}, again = {0};
    const struct engine_sink sink = (*engine)->sink;
    struct engine *loaded = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    codec_save(&codec);
    codec_save(&again);
    CHECK_INT(engine_save(*engine, &codec), 0);
    CHECK_INT(engine_load(codec.bytes, codec.len, &sink, NULL, &loaded, err), 0);
    if (!loaded) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
    CHECK_INT(engine_save(loaded, &again), 0);
    CHECK(codec.len == again.len && memcmp(codec.bytes, again.bytes, codec.len) == 0);
    codec_finish(&codec);
    codec_finish(&again);
    engine_destroy(*engine);
    *engine = loaded;
}

#endif

/* An engine with the tape of its outputs, and a second one that is loaded from the first one's state and has
 * to continue as it does. */
#ifndef TESTS_ENGINE_VOICE_H
#define TESTS_ENGINE_VOICE_H

#include "engine/state.h"
#include "record/codec.h"
#include "tests/check.h"
#include "tests/engine/tape.h"

struct voice {
    struct engine *engine;
    struct tape tape;
};

static inline bool voice_same_bytes(const struct codec *a, const struct codec *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static inline void voice_save(const struct engine *engine, struct codec *codec)
{
    codec_save(codec);
    CHECK_INT(engine_save(engine, codec), 0);
}

/* A second engine from the first one's bytes, that has given the same outputs so far. */
static inline bool voice_follow(const struct voice *first, struct voice *second)
{
    static struct codec saved, again;
    char err[ENGINE_ERROR_MAX] = "";
    struct engine_sink sink = tape_sink(&second->tape);
    voice_save(first->engine, &saved);
    if (second->engine) {
        voice_save(second->engine, &again);
        CHECK(voice_same_bytes(&saved, &again));
        engine_destroy(second->engine);
        second->engine = NULL;
    }
    second->tape = first->tape;
    int r = engine_load(saved.bytes, saved.len, &sink, NULL, &second->engine, err);
    CHECK_STR(err, "");
    CHECK_INT(r, 0);
    if (r < 0)
        return false;
    voice_save(second->engine, &again);
    CHECK(voice_same_bytes(&saved, &again));
    CHECK(tape_view(first->engine) == tape_view(second->engine));
    return true;
}

#endif

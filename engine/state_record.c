#include <errno.h>

#include "engine/record.h"
#include "engine/state.h"

static const char *const names[STATE_WHYS] = {
    [STATE_NEW_RUN] = "new run",
    [STATE_ROTATION] = "rotation",
    [STATE_AFTER_HOLE] = "after a hole",
    [STATE_STOP] = "stop",
};

const char *state_why_name(enum state_why why)
{
    return names[why];
}

static void visit(struct codec *codec, struct state_record *record)
{
    uint32_t version = STATE_RECORD_VERSION;
    codec_u32(codec, &version);
    codec->version = version;
    if (version > STATE_RECORD_VERSION)
        return;
    codec_u64(codec, &record->run);
    codec_enum(codec, &record->why, STATE_WHYS);
    codec_text(codec, record->program, sizeof record->program);
}

int state_record_encode(const struct engine *engine, uint64_t run, enum state_why why, struct codec *codec)
{
    struct state_record record = {.run = run, .why = why, .program = PAPERTAPE_VERSION};
    codec_save(codec);
    visit(codec, &record);
    return engine_save(engine, codec);
}

int state_record_decode(const void *bytes, size_t len, struct state_record *ret)
{
    struct state_record record = {0};
    struct codec codec;
    codec_load(&codec, bytes, len);
    visit(&codec, &record);
    if (codec.failed || codec.version == 0)
        return -EBADMSG;
    if (codec.version > STATE_RECORD_VERSION)
        return -ENOTSUP;
    record.state = (const uint8_t *)bytes + codec.at;
    record.len = len - codec.at;
    *ret = record;
    return 0;
}

#include <errno.h>

#include "engine/record.h"
#include "engine/state.h"

static const char *const names[STATE_WHYS] = {
    [STATE_NEW_RUN] = "new run",
    [STATE_ROTATION] = "rotation",
    [STATE_AFTER_HOLE] = "after a hole",
    [STATE_STOP] = "stop",
};

const char *engine_state_why_name(enum state_why why)
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

/* Bytes that belong to the daemon: copied when saving, within the record's bytes when loading. */
static void visit_beside(struct codec *codec, struct state_record *record)
{
    codec_size(codec, &record->beside_len, SIZE_MAX / 2);
    if (codec->saving) {
        codec_bytes(codec, (void *)(uintptr_t)record->beside, record->beside_len);
        return;
    }
    codec->failed |= record->beside_len > codec->len - codec->at;
    if (codec->failed)
        return;
    record->beside = codec->bytes + codec->at;
    codec->at += record->beside_len;
}

int engine_state_record_encode(const struct engine *engine, uint64_t run, enum state_why why,
                               const void *beside, size_t beside_len, struct codec *codec)
{
    struct state_record record = {
        .run = run, .why = why, .program = PAPERTAPE_VERSION, .beside = beside, .beside_len = beside_len};
    codec_save(codec);
    visit(codec, &record);
    visit_beside(codec, &record);
    return engine_save(engine, codec);
}

int engine_state_record_decode(const void *bytes, size_t len, struct state_record *ret)
{
    struct state_record record = {0};
    struct codec codec;
    codec_load(&codec, bytes, len);
    visit(&codec, &record);
    if (codec.failed || codec.version == 0)
        return -EBADMSG;
    if (codec.version > STATE_RECORD_VERSION)
        return -ENOTSUP;
    if (codec.version >= 2)
        visit_beside(&codec, &record);
    if (codec.failed)
        return -EBADMSG;
    record.state = (const uint8_t *)bytes + codec.at;
    record.len = len - codec.at;
    *ret = record;
    return 0;
}

#include "daemon/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_VERSION = 2, KEPT_NO_EVENTS = 1 /* the last without them */ };

struct kept_command {
    uint64_t id;
    uint8_t *bytes;
    size_t len;
};

static void visit_text(struct codec *codec, const char **text, char **owned)
{
    size_t len = codec->saving && *text ? strlen(*text) : 0;
    codec_size(codec, &len, SIZE_MAX / 2);
    if (codec->saving) {
        codec_bytes(codec, (void *)(uintptr_t)*text, len);
        return;
    }
    codec->failed |= len > codec->len - codec->at;
    if (codec->failed || !(*owned = calloc(1, len + 1)))
        return;
    codec_bytes(codec, *owned, len);
    *text = *owned;
}

enum { TEXTS = 4 };

static void visit_row(struct codec *codec, struct db_command *row, uint32_t version,
                      char *owned[static TEXTS])
{
    codec_u64(codec, &row->id);
    codec_i64(codec, &row->ts_ns);
    codec_i64(codec, &row->peer_uid);
    codec_i64(codec, &row->peer_pid);
    codec_enum(codec, &row->state, DB_COMMAND_REFUSED + 1);
    codec_u64(codec, &row->order_id);
    if (version > KEPT_NO_EVENTS)
        codec_u64(codec, &row->event);
    visit_text(codec, &row->key, &owned[0]);
    visit_text(codec, &row->cmd, &owned[1]);
    visit_text(codec, &row->args, &owned[2]);
    visit_text(codec, &row->result, &owned[3]);
}

static struct kept_command *at(const struct kept *kept, size_t i)
{
    return &kept->commands[(kept->first + i) % KEPT_COMMANDS_MAX];
}

static void drop_oldest(struct kept *kept)
{
    struct kept_command *oldest = at(kept, 0);
    kept->bytes -= oldest->len;
    free(oldest->bytes);
    kept->first = (kept->first + 1) % KEPT_COMMANDS_MAX;
    kept->n--;
}

void daemon_kept_add(struct kept *kept, const struct db_command *row)
{
    struct codec codec = {0};
    char *none[TEXTS];
    struct db_command copy = *row;
    if (row->state == DB_COMMAND_PENDING || !row->key || !*row->key)
        return;
    if (!kept->commands && !(kept->commands = calloc(KEPT_COMMANDS_MAX, sizeof *kept->commands)))
        return;
    codec_save(&codec);
    visit_row(&codec, &copy, KEPT_VERSION, none);
    if (codec.failed) {
        codec_finish(&codec);
        return;
    }
    if (kept->n > 0 && at(kept, kept->n - 1)->id == row->id) {
        kept->bytes -= at(kept, kept->n - 1)->len;
        free(at(kept, --kept->n)->bytes);
    }
    while (kept->n > 0 && (kept->n == KEPT_COMMANDS_MAX || kept->bytes + codec.len > KEPT_BYTES_MAX))
        drop_oldest(kept);
    uint8_t *bytes = realloc(codec.bytes, codec.len); /* the codec's own block is larger */
    *at(kept, kept->n) = (struct kept_command){row->id, bytes ? bytes : codec.bytes, codec.len};
    kept->n++;
    kept->bytes += codec.len;
}

void daemon_kept_finish(struct kept *kept)
{
    while (kept->n > 0)
        drop_oldest(kept);
    free(kept->commands);
    codec_finish(&kept->codec);
    *kept = (struct kept){0};
}

int daemon_kept_encode(struct kept *kept, uint64_t last_command, uint64_t last_alert, const void **ret_bytes,
                       size_t *ret_len)
{
    struct codec *codec = &kept->codec;
    uint32_t version = KEPT_VERSION;
    codec_save(codec);
    codec_u32(codec, &version);
    codec_u64(codec, &last_command);
    codec_u64(codec, &last_alert);
    codec_size(codec, &kept->n, KEPT_COMMANDS_MAX);
    for (size_t i = 0; i < kept->n; i++)
        codec_bytes(codec, at(kept, i)->bytes, at(kept, i)->len);
    if (codec->failed)
        return -ENOMEM;
    *ret_bytes = codec->bytes;
    *ret_len = codec->len;
    return 0;
}

static int decode_row(struct codec *codec, uint32_t version,
                      void (*each)(void *ctx, const struct db_command *row), void *ctx)
{
    struct db_command row = {0};
    char *owned[TEXTS] = {0};
    visit_row(codec, &row, version, owned);
    bool whole = owned[0] && owned[1] && owned[2] && owned[3];
    if (whole && !codec->failed)
        each(ctx, &row);
    for (int i = 0; i < TEXTS; i++)
        free(owned[i]);
    return codec->failed ? -EBADMSG : whole ? 0 : -ENOMEM;
}

int daemon_kept_decode(const void *bytes, size_t len, void (*row)(void *ctx, const struct db_command *row),
                       void *ctx, uint64_t *ret_last_command, uint64_t *ret_last_alert)
{
    struct codec codec;
    uint32_t version = 0;
    uint64_t last_command = 0, last_alert = 0;
    size_t n = 0;
    int r = 0;
    codec_load(&codec, bytes, len);
    if (len > 0)
        codec_u32(&codec, &version);
    if (version > KEPT_VERSION)
        return -ENOTSUP;
    if (len > 0) {
        codec_u64(&codec, &last_command);
        codec_u64(&codec, &last_alert);
        codec_size(&codec, &n, KEPT_COMMANDS_MAX);
    }
    for (size_t i = 0; i < n && r == 0 && !codec.failed; i++)
        r = decode_row(&codec, version, row, ctx);
    if (r == 0 && !codec_complete(&codec))
        r = -EBADMSG;
    if (r < 0)
        return r;
    *ret_last_command = last_command;
    *ret_last_alert = last_alert;
    return 0;
}

/* Checkpoints: a training's complete state, in one file that is written whole or not at all (temporary file,
 * fsync, rename, fsync of the folder). Little-endian: magic "PTCKPT\r\n", version, the host's byte order
 * mark, number of pieces, their table (name, offset, bytes), the pieces, and the XXH3-128 of all before.
 * docs/training.md describes every byte. */
#ifndef TRAINER_CHECKPOINT_H
#define TRAINER_CHECKPOINT_H

#include "trainer/ppo/learner.h"

enum {
    CHECKPOINT_VERSION = 1,
    CHECKPOINT_PIECES_MAX = 64,
    CHECKPOINT_NAME_MAX = 32,
    CHECKPOINT_ERROR_MAX = 512
};

struct checkpoint_piece {
    char name[CHECKPOINT_NAME_MAX];
    const void *bytes;
    size_t n;
};

/* 0, or -errno with a sentence (-ENOSPC: a full disk leaves what was there, and no temporary file). */
int checkpoint_write(const char *path, const struct checkpoint_piece *pieces, size_t n,
                     char err[static CHECKPOINT_ERROR_MAX]);

/* -EBADMSG: truncated or altered (checksum); -EINVAL: foreign, or of another version; err says which and what
 * would be right. */
struct checkpoint;
int checkpoint_read(const char *path, struct checkpoint **ret, char err[static CHECKPOINT_ERROR_MAX]);
void checkpoint_destroy(struct checkpoint *checkpoint); /* NULL is fine */
const void *checkpoint_find(const struct checkpoint *checkpoint, const char *name,
                            size_t *ret_n);                       /* 64-byte aligned */
const char *checkpoint_path(const struct checkpoint *checkpoint); /* the file that it was read from */

/* A folder of them: NAME-STEPS.ckpt. checkpoint_keep() writes the next one and keeps the last `keep` (>= 1)
 * up to it; checkpoint_latest() opens the newest good one, and reports each bad one to the callback. -ENOENT:
 * there is none. */
int checkpoint_keep(const char *dir, const char *name, int64_t steps, int keep,
                    const struct checkpoint_piece *pieces, size_t n, char err[static CHECKPOINT_ERROR_MAX]);
int checkpoint_latest(const char *dir, const char *name, void (*rejected)(void *ctx, const char *reason),
                      void *ctx, struct checkpoint **ret, char err[static CHECKPOINT_ERROR_MAX]);

/* The steps of the newest, good or not; -1: there is none. */
int checkpoint_newest(const char *dir, const char *name, int64_t *ret, char err[static CHECKPOINT_ERROR_MAX]);
/* Removes all except that of `steps`. */
int checkpoint_alone(const char *dir, const char *name, int64_t steps, char err[static CHECKPOINT_ERROR_MAX]);

#endif

/* TensorBoard's event files, written without its libraries: TFRecord framing (length, masked CRC-32C of the
 * length, bytes, masked CRC-32C of the bytes) around the protobuf message Event
 * (tensorflow/core/util/event.proto) of scalars. One file a run,
 * DIR/NAME/events.out.tfevents.SECONDS.HOST.PID. */
#ifndef TRAINER_TELEMETRY_TENSORBOARD_H
#define TRAINER_TELEMETRY_TENSORBOARD_H

#include <stddef.h>
#include <stdint.h>

enum { TENSORBOARD_ERROR_MAX = 512, TENSORBOARD_TAG_MAX = 128 };

struct tensorboard_scalar {
    const char *tag; /* "loss/policy", less than TENSORBOARD_TAG_MAX */
    double value;    /* NaN: left out */
};

struct tensorboard;

/* Makes the folders and starts a file; for a run that continues at `resumed` steps (>= 0; -1: a new run)
 * readers then discard what was written beyond. 0, for telemetry_tensorboard_close(); -errno with "what:
 * where: what would be right". */
int telemetry_tensorboard_open(const char *dir, const char *name, int64_t resumed, struct tensorboard **ret,
                               char err[static TENSORBOARD_ERROR_MAX]);
/* Flushed at once. 0 or -errno: what was written before stays readable. */
int telemetry_tensorboard_add(struct tensorboard *board, int64_t step,
                              const struct tensorboard_scalar *scalars, size_t n);
void telemetry_tensorboard_close(struct tensorboard *board); /* NULL is fine */

/* CRC-32C (Castagnoli, RFC 3720 appendix B.4), and TFRecord's mask of it. */
uint32_t telemetry_crc32c(const void *bytes, size_t n);
uint32_t telemetry_crc32c_masked(const void *bytes, size_t n);

#endif

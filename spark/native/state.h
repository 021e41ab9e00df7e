/* A run's memory as bytes. */
#ifndef SPARK_NATIVE_STATE_H
#define SPARK_NATIVE_STATE_H

#include "spark/native/run.h"

/* Layout, 8 bytes each, little endian: "PTSPARK" and the version, the computation's meaning, the time of the
 * last bar in ns, the number of fields, then the fields in the order of their visit. */

/* Returns the number of bytes, and writes them where that is at most `cap`. */
size_t spark_state_save(const struct spark_computation *computation, void *ctx, int64_t last_ns, uint8_t *buf,
                        size_t cap);

/* 0; -EINVAL and a sentence for what no computation of this meaning and version saved. */
int spark_state_load(const struct spark_computation *computation, void *ctx, const char *data, size_t n,
                     int64_t *ret_last_ns, char *err, size_t err_cap);

#endif

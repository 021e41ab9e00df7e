/* Indicators on the GPU, by the indicators' module that is loaded at run time (indicators_gpu/module.h):
 * whole symbols at once, with the reference's bits. A device belongs to one thread at a time. */
#ifndef SPARK_NATIVE_DEVICE_H
#define SPARK_NATIVE_DEVICE_H

#include <stddef.h>

struct ArrowArray;
struct ArrowSchema;

#pragma GCC visibility push(default)

struct papertape_spark_device;

/* Loads the module: `module` names its file, NULL searches as gpu_module_open() does. `specs` are a line
 * each. 0; -EINVAL for a spec that is none; -ENOENT, -ENOEXEC, -ENODEV and others where there is no module or
 * no device, with the reason and what would be right. */
int papertape_spark_device_open(const char *module, const char *specs, struct papertape_spark_device **ret,
                                char *err, size_t err_cap);
void papertape_spark_device_close(struct papertape_spark_device *device); /* NULL is fine */

/* The device's name; as long as it is open. */
const char *papertape_spark_device_name(const struct papertape_spark_device *device);

/* All bars of one symbol, oldest first, as one batch, which is released whatever the outcome; symbols in
 * rising order, as papertape_spark.h has them. Its columns,
 * float64, as papertape_spark_indicators() names them, null before a first output. -EINVAL for a bar that is
 * refused, -ENOMEM and -EIO of the device, with a sentence. */
int papertape_spark_device_compute(struct papertape_spark_device *device, struct ArrowArray *batch,
                                   struct ArrowSchema *schema, struct ArrowArray *ret_batch,
                                   struct ArrowSchema *ret_schema, char *err, size_t err_cap);

#pragma GCC visibility pop

#endif

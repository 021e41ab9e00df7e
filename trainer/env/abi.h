/* For languages that do not read C headers: the library's version and the size of its structures, so that a
 * binding that declares them itself (trainer/python) detects a library of another version. */
#ifndef TRAINER_ENV_ABI_H
#define TRAINER_ENV_ABI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

const char *env_version(void); /* "0.1.0" */

/* sizeof(struct NAME) of a structure that a caller fills in or reads: "env_params", "env_options", "symbol" …
 * 0: none of that name. */
size_t env_struct_size(const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif

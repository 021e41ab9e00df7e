/* Where they are not built: no kernel of these sets exists. */
#include "trainer/env/view.h"

const struct env_kernels env_avx2_kernels = {.observe = NULL}, env_avx512_kernels = {.observe = NULL};

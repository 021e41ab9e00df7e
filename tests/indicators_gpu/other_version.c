/* A module of a version that this program does not know. */
#include "indicators_gpu/cuda/abi.h"

__attribute__((visibility("default"))) extern const struct gpu_indicators_api papertape_gpu_indicators;
const struct gpu_indicators_api papertape_gpu_indicators = {.abi = 4000000000u};

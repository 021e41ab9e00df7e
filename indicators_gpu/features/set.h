/* Between the files of features/. */
#ifndef INDICATORS_GPU_FEATURES_SET_H
#define INDICATORS_GPU_FEATURES_SET_H

#include "indicators_gpu/features/features.h"

/* The text of a built-in set, or NULL. */
const char *feature_builtin_text(const char *name);

#endif

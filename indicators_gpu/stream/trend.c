#include "indicators_gpu/step/trend.h"

#include "indicators_gpu/stream/visit.h"

#include "indicators_gpu/step/statistics.h"

#include "indicators_gpu/stream/visit.h"

#include "indicators_gpu/step/volume.h"

#include "indicators_gpu/stream/visit.h"

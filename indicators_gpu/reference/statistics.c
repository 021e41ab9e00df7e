#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/recurrence.h"

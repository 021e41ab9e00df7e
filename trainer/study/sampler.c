#include "trainer/study/sampler.h"

#include "trainer/study/overfit.h"

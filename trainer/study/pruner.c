#include "trainer/study/pruner.h"

#include "trainer/study/space.h"

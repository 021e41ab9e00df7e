#include "trainer/study/gate.h"

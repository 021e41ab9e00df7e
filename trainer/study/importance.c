#include "trainer/study/importance.h"

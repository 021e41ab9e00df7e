#include "trainer/study/validation.h"

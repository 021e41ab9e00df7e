#include "trainer/search/trial.h"

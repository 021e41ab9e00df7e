#include "trainer/search/settings.h"

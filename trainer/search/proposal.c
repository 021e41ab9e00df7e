#include "trainer/search/proposal.h"

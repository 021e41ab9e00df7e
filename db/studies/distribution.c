#include "db/studies/distribution.h"

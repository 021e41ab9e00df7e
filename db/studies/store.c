#include "db/studies/store.h"

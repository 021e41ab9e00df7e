#include "db/studies/study.h"

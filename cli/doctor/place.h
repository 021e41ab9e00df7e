/* Where the state is, or will be. */
#ifndef CLI_DOCTOR_PLACE_H
#define CLI_DOCTOR_PLACE_H

#include "db/state.h"

/* The path, or the nearest folder above it that exists: in whose file system it will be made. */
void cli_doctor_place(const char *path, char ret[static STATE_PATH_MAX]);

#endif

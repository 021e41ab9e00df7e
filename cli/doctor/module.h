/* The GPU module, opened and closed; apart from gpu.c, since its header and daemon/gpu's share names. */
#ifndef CLI_DOCTOR_MODULE_H
#define CLI_DOCTOR_MODULE_H

#include <stddef.h>

#include "cli/doctor/doctor.h"

/* 0 with the device's name in `reason`; else as gpu_module_open(). */
int cli_doctor_module(char *reason, size_t size);

#endif

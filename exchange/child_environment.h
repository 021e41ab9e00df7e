/* The environment of a program that this one starts. */
#ifndef EXCHANGE_CHILD_ENVIRONMENT_H
#define EXCHANGE_CHILD_ENVIRONMENT_H

#include <stdbool.h>

enum { CHILD_ENVIRONMENT_MAX = 1024 }; /* with the NULL at its end; what is beyond is left out */

/* Our variables, not copied, without what a service manager meant for this process alone; the folder of its
 * credentials only where the program is to read them. */
void child_environment_list(bool credentials, char *ret[static CHILD_ENVIRONMENT_MAX]);

#endif

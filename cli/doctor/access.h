/* Files as the user sees them that the daemon runs as. */
#ifndef CLI_DOCTOR_ACCESS_H
#define CLI_DOCTOR_ACCESS_H

#include "cli/doctor/doctor.h"

/* What the configuration names, and the state: may that user read it, and write where it has to? Root asks as
 * that user, that user for itself; of others nothing is known, and the results say so. `user` is its name. */
void cli_doctor_access(const struct doctor *doctor, uid_t uid, const char *user,
                       struct doctor_results *results);

#endif

/* The parts of a state: is each what a start expects in its place, and there where another shows that it was?
 */
#ifndef CLI_DOCTOR_PARTS_H
#define CLI_DOCTOR_PARTS_H

#include "cli/doctor/doctor.h"

/* Adds an error for each that a start would refuse for what it is. */
void cli_doctor_kinds(const struct state_dir *state, struct doctor_results *results);

/* Of the check of a part that is not there: adds what is known of its loss. False: nothing shows that it ever
 * was. */
bool cli_doctor_gone(const struct doctor *doctor, enum doctor_check_name check,
                     struct doctor_results *results);

#endif

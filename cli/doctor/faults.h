/* Faults of libraries, kernel and drivers that concern papertape, each with the version that cures it. */
#ifndef CLI_DOCTOR_FAULTS_H
#define CLI_DOCTOR_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

enum { DOCTOR_VERSION_MAX = 32 };

struct doctor_fault {
    const char *of; /* "SQLite": as cli_doctor_version() knows it */
    const char *from,
        *cure; /* the first version that has it, "" where any earlier one has; the first without */
    const char
        *branches;     /* older branches that are cured from this version of theirs on: "3.44.6 3.50.7"; "" */
    const char *words; /* what happens */
    const char *avoided; /* how papertape avoids it; NULL: it does not */
    const char *source;
};

extern const struct doctor_fault cli_doctor_faults[];
extern const size_t cli_doctor_faults_n;

/* Compares versions of numbers with dots; what follows the numbers does not count. */
int cli_doctor_version_compare(const char *a, const char *b);

/* Has that version the fault? */
bool cli_doctor_fault_has(const struct doctor_fault *fault, const char *version);

/* The numbers of what this process is linked with, or of this machine's: false where `of` is not known by
 * that name; "" where it is not here. */
bool cli_doctor_version(const char *of, char ret[static DOCTOR_VERSION_MAX]);

#endif

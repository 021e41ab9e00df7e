/* papertape events list|verify|show|export|import: the event log, and recordings in its form. */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/selected.h"

/* The arguments of all five. */
struct events_asked {
    struct db_selection selection; /* list: segments that reach into its period */
    const char *verb;              /* "events show" */
    const char *out;
    const char *path; /* the log: the argument, or the state directory's; NULL for import */
    char *const *files;
    int n_files; /* import */
    bool json;
    enum stored_form form;
    int64_t at_ns, seq, n; /* EVENTS_NOT_GIVEN */
};

enum { EVENTS_NOT_GIVEN = -1 };

/* Each returns an exit status, after its line on stderr. */
int cli_events_list(const struct events_asked *asked);
int cli_events_verify(const struct events_asked *asked);
int cli_events_show(const struct events_asked *asked);
int cli_events_export(const struct events_asked *asked);
int cli_events_import(const struct events_asked *asked);

#endif

/* The configuration as a start, --check-config and a reload read it: the file, what the command line says in
 * its place, and everything that both name. */
#ifndef DAEMON_CONFIG_LOAD_H
#define DAEMON_CONFIG_LOAD_H

#include "daemon/config.h"

struct policy_set;

/* Of the command line; NULL: not given. */
struct daemon_config_given {
    const char *file;
    const char *venue_url, *rest_url, *ca_file, *clock, *log_level, *record;
};

/* The defaults, the file, then the command line, checked together. 0 or -errno with one line for each error:
 * "FILE:LINE: …", or "[SECTION] KEY: …" for daemon_config_place(). *ret_read: the file itself is good. */
int daemon_config_load(const struct daemon_config_given *given, struct daemon_config *ret, bool *ret_read,
                       char error[static CONFIG_ERRORS_MAX]);

/* Can the certificates and the policies that it names be used? 0 with *ret_policies for
 * daemon_policy_set_destroy(), or -errno with one line, as above. */
int daemon_config_check_files(const struct daemon_config_given *given, const struct daemon_config *config,
                              struct policy_set **ret_policies, char error[static CONFIG_ERROR_MAX]);

#endif

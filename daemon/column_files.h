/* The files of [market] columns: external columns for live strategies (engine/backtest/external.h has the
 * format). They are read at the start, and again, on a thread, when one has changed; each of their values
 * becomes an event once, over restarts too, since the engine knows the newest that it has of each column.
 *
 * Values are given as soon as they are read, those that are not published yet too: the engine shows none
 * before its time, and a bar that closes at that time sees it, however late the daemon reads the file. Of
 * what is long past only what the engine keeps is given. On the loop's thread only. */
#ifndef DAEMON_COLUMN_FILES_H
#define DAEMON_COLUMN_FILES_H

#include "daemon/config.h"
#include "engine/backtest/external.h"

struct daemon;
struct column_files;

/* Reads all files that the configuration names. 0 with *ret for backtest_external_finish(); -errno with one
 * line that begins with "[market] columns: ". */
int daemon_column_files_read(const struct daemon_config *config, struct external_columns *ret,
                             char error[static CONFIG_ERROR_MAX]);

/* Reads them, before the loop runs. NULL: there is no memory. A bad file is an alert once the session
 * has started. */
struct column_files *daemon_column_files_create(struct daemon *daemon);
/* The session takes events: gives what was read, before any bar. */
void daemon_column_files_started(struct column_files *files);
void daemon_column_files_stop(struct column_files *files);

#endif

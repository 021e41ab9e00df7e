/* The state directory: where a daemon keeps everything, and where other programs find it. */
#ifndef DB_STATE_H
#define DB_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A sentence for something that a state directory does not have yet, and the program that makes it. */
#define DB_NOT_YET(what, maker) "there is no " what " yet: " maker " makes it"

/* In a state that `papertape restore` fills name by name: the folder where it is prepared, and from the first
 * name to the last, the list of what is moved. */
#define STATE_RESTORE_PART "restore.papertape-part"
#define STATE_RESTORE_LIST "restore.papertape-list"

enum {
    STATE_PATH_MAX = 512,
    STATE_SOCKET_MAX = 107, /* struct sockaddr_un's path, without its NUL */
};

struct state_dir {
    char path[STATE_PATH_MAX];
    char database[STATE_PATH_MAX]; /* papertape.db */
    char policies[STATE_PATH_MAX], checkpoints[STATE_PATH_MAX], events[STATE_PATH_MAX];
    char socket[STATE_PATH_MAX];      /* control.sock, in $RUNTIME_DIRECTORY unless --state was given */
    char socket_read[STATE_PATH_MAX]; /* control-read.sock, beside it: for who may only read */
    char lock[STATE_PATH_MAX];        /* papertaped.lock */
};

/* Finds the directory: `option` (--state) when not NULL, where @NAME is that of the instance
 * papertaped@NAME.service, else $STATE_DIRECTORY, else $XDG_STATE_HOME/papertape, else
 * ~/.local/state/papertape. Touches nothing. 0; -EINVAL for an empty or relative environment value or no
 * home; -ENAMETOOLONG. err: one sentence. */
int db_state_dir_find(const char *option, struct state_dir *ret, char *err, size_t err_size);

/* Is that, as --bars takes files, a state directory, or a database? Then its database's path. */
bool db_state_database(const char *given, char database[static STATE_PATH_MAX]);

/* For programs that read a daemon's state, or talk to it: without `option` and $STATE_DIRECTORY the
 * caller's own directory where it has a database or a socket, else the service's where that has one (which
 * root and the members of its group can see), else that of the only instance which has one, else the caller's
 * own. Returns as db_state_dir_find(); -EINVAL, with their names, where several instances have one. */
int db_state_dir_resolve(const char *option, struct state_dir *ret, char *err, size_t err_size);

/* Is nothing found in `state`, as db_state_dir_resolve() gave it for `option`, because this user may not read
 * there, or not in the service's? The words say where, and whose group may. */
bool db_state_dir_denied(const struct state_dir *state, const char *option, char *words, size_t size);
/* The same with another in the service's place. */
bool db_state_dir_denied_in(const char *service, const struct state_dir *state, const char *option,
                            char *words, size_t size);

/* The group that may only read, by the ACL of the unit's state. */
#define STATE_READERS "papertape-read"

/* The unit's StateDirectory=. */
#define STATE_SERVICE_DIR "/var/lib/papertape"
/* The same with another in its place. */
int db_state_dir_look_in(const char *service, const char *option, struct state_dir *ret, char *err,
                         size_t err_size);

/* For programs that use the socket: would the kernel accept its path? 0; -ENAMETOOLONG with a sentence. */
int db_state_dir_check_socket(const struct state_dir *state, char *err, size_t err_size);

/* Creates what is missing of the directory (its parents too) and its sub-directories, mode 0750, and checks
 * that it can be written. A sub-directory may be a symbolic link to one, as to a larger disk. 0 or -errno
 * with a sentence; -EPERM where others may write in it, it belongs to neither this user nor root, a link
 * leads nowhere, or the database's place is taken by something that is not a file of this user's own, such as
 * a symbolic link; -EACCES where this user may not read and write a directory, the database or the newest
 * segment of the event log, or not read an older one; -EBUSY while a restore fills it, or was killed. */
int db_state_dir_create(const struct state_dir *state, char *err, size_t err_size);

/* What is in the place of one of its parts: "a directory". */
const char *db_state_kind(mode_t mode);

/* Takes the daemon's lock, held until the descriptor is closed or the process ends; *ret_fd is
 * close-on-exec. 0; -EBUSY when another daemon holds it (the sentence has its pid); -EPERM where the lock's
 * name is used by something that is not a file of this user's own with no other name, which is not altered;
 * -errno. */
int db_state_dir_lock(const struct state_dir *state, int *ret_fd, char *err, size_t err_size);

/* Is the lock held? 1 with the holder's pid, as it wrote it (0: not known); 0; -errno. Takes nothing. */
int db_state_dir_holder(const struct state_dir *state, pid_t *ret_pid);

/* Called now and then for a lock that is held: was its file removed? 0: no; 1: it is restored, and held by
 * *fd; -EBUSY: another daemon has taken it meanwhile; -errno: it cannot be restored. */
int db_state_dir_keep_lock(const struct state_dir *state, int *fd, char *err, size_t err_size);

#endif

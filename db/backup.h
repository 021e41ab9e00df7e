/* Copies of databases that other processes write to meanwhile: each is one read transaction, so that no
 * commit makes it start over. */
#ifndef DB_BACKUP_H
#define DB_BACKUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/ledger_row.h"

/* Leaves the disk to others three quarters of the time: what a copy wrote is put on the disk a megabyte at a
 * time, and after each nothing is written for three times as long as that took. Otherwise a commit of the
 * daemon's would wait until the disk has all of it. */
struct db_backup_pace {
    int fd; /* the file that is written, without gaps */
    off_t stored;
};
/* Call often. 0 or -errno. */
int db_backup_pace(struct db_backup_pace *pace);

/* Is it a SQLite database? An empty file is none, nor is a link to one. */
bool db_backup_is_database(const char *path);

/* Copies a database into the new file `to` (mode 0640), with the rows of one moment and without free pages;
 * it can give pages back later (incremental vacuum), whether or not the original could. papertape.db
 * (`only_read`) is opened for reading only, since one process writes it; of others a rollback that a killed
 * writer left is finished first. A link is not followed (-ELOOP): the owner of the folder, whom root makes a
 * backup for, could put one there at any time. *stop set: -ECANCELED; `paced`: as db_backup_pace(). On
 * failure `to` is removed. 0; -EBADMSG, -EMEDIUMTYPE: it is damaged, or none; -errno; with a sentence.
 * Nothing is synced. */
struct db_backup_way {
    bool only_read, paced;
    const atomic_bool *stop; /* NULL: none */
};
int db_backup_copy(const char *from, const char *to, struct db_backup_way way, char *err, size_t err_size);

/* The moment at which a copy of papertape.db is. */
struct db_backup_moment {
    uint64_t event; /* the newest whose rows it has */
    int schema;
    uint64_t ledger_rows;
    uint8_t ledger_hash[LEDGER_HASH_SIZE]; /* of the last row; zeros without one */
};
/* 0; -errno with a sentence. */
int db_backup_moment(const char *copy, struct db_backup_moment *ret, char *err, size_t err_size);

#endif

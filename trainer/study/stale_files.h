/* What writers that were killed left of a study's files: names with whole_file_open()'s digits behind them.
 */
#ifndef TRAINER_STUDY_STALE_FILES_H
#define TRAINER_STUDY_STALE_FILES_H

/* What a file of a study has behind its name while it is written. */
#define STUDY_TEMPORARY ".new"

/* A file is written within seconds: what is older nobody writes any more. */
enum { STALE_FILES_AGE_S = 3600 };

/* Removes what is left of files in the open folder `fd` that are at least so many seconds old (0: all). What
 * cannot be removed stays. */
void study_stale_files_remove(int fd, int older_s);

/* The same in a study's FOLDER and those of its trials, FOLDER/N. Another process may be at the same study.
 */
void study_stale_files_remove_all(const char *folder, int older_s);

#endif

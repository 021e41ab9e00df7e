/* Temporary files of a study that killed writers left: names with whole_file_open()'s digits behind them. */
#ifndef TRAINER_STUDY_STALE_FILES_H
#define TRAINER_STUDY_STALE_FILES_H

/* The suffix of a study's file while it is written. */
#define STUDY_TEMPORARY ".new"

/* A file is written within seconds: an older one has no writer any more. */
enum { STALE_FILES_AGE_S = 3600 };

/* Removes temporary files in the open folder `fd` that are at least so many seconds old (0: all). What cannot
 * be removed stays. */
void study_stale_files_remove(int fd, int older_s);

/* The same in a study's FOLDER and those of its trials, FOLDER/N. Another process may be using the study. */
void study_stale_files_remove_all(const char *folder, int older_s);

#endif

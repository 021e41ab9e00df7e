/* Reads the samples of one device or process: the newest, and the day before them. */
#ifndef TUI_HISTORY_SAMPLES_H
#define TUI_HISTORY_SAMPLES_H

#include "db/reader.h"
#include "tui/history_devices.h"

/* All NaN. */
void tui_history_unknown(double *figures, int n);

/* Its last figures, the interval between its samples and the minute until now_ns. The samples after those of
 * the day's mean and greatest figures are added to them, so that a greatest is never below the last. 0, or
 * -errno of the reader. */
int tui_history_newest(struct db_reader *db, struct history_device *d, int64_t now_ns);
int tui_history_newest_of_process(struct db_reader *db, struct history_process *p, int64_t now_ns);

/* The day until its last sample, before its newest are read: those make the mean and the greatest figures of
 * it. 0, or -errno of the reader, or -ENOMEM. */
int tui_history_day(struct db_reader *db, struct history_device *d);
int tui_history_day_of_process(struct db_reader *db, struct history_process *p);

#endif

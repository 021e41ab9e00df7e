/* A screen on the GPU module's device: the same sets, the same rows. Indicators other than simple averages
 * are the module's batches, the rest is cuda/. */
#ifndef ENGINE_BACKTEST_SCREEN_DEVICE_H
#define ENGINE_BACKTEST_SCREEN_DEVICE_H

#include "engine/backtest/screen/screen.h"

/* backtest_screen_run() of a screen whose `device` is set, and which is covered. Device memory: 4 bytes a bar
 * and distinct indicator, and 0.5 KiB a set; where it does not suffice, fewer sets at once. Also errors of
 * indicators_gpu/module.h. */
int backtest_screen_device(const struct screen *screen, struct screen_row *rows, char *err, size_t err_size);

#endif

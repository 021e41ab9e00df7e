/* The thresholds of the alert rules (alert_rules.h), a row each: [alerts] of papertaped.ini, its page, and
 * struct alert_limits follow. */
#ifndef DAEMON_ALERT_KEYS_H
#define DAEMON_ALERT_KEYS_H

#include "record/config_duration.h"

#define ALERT_CELSIUS KEY_NUMBER(0, 150), .none = "off"
#define ALERT_SHARE   KEY_SHARE(1), .none = "off"
#define ALERT_USE     KEY_SHARE(0.9), .none = "off"
#define ALERT_FOR     KEY_DURATION, .none = "off"
/* From twice of what the file keeps at most (db/store.h). */
#define ALERT_WAL \
    KEY_OWN(config_key_read_size, config_key_print_size), .min = 0x1p25, .max = 0x1p46, .none = "off"
#define ALERT_COUNT KEY_NUMBER(0, 1000000), .none = "off"

/* ROW(type, member, name, kind, default, sentence, more). A limit of NaN or 0, and a duration of 0 where it
 * switches its rule (alert_table.c), are off. */
/* clang-format off */
#define ALERT_KEYS(ROW) \
    ROW(int64_t, gpu_lost_ns, "gpu_lost_for", ALERT_FOR, "30s", \
        "a device of which no figure has been known for so long, and was before, is a warning; 0 or off: none", \
        "The alert GPU_LOST, over once it is sampled again. A device that was not sampled since the daemon started is " \
        "not missed. A driver that hangs is noticed after three samples ([gpu] sample_s) at the earliest.") \
    ROW(double, gpu_temperature, "gpu_temperature", ALERT_CELSIUS, "80", \
        "a device so hot (degrees Celsius) or hotter is a warning; 0 or off: none", \
        "The alert GPU_TEMPERATURE. It is over at 3 degrees below, or more.") \
    ROW(double, gpu_temperature_critical, "gpu_temperature_critical", ALERT_CELSIUS, "85", \
        "from here on that alert is an error; 0 or off: never", \
        "The same alert becomes more severe, and is open again where it was acknowledged. At 3 degrees " \
        "below, or more, it is a warning again.") \
    ROW(double, gpu_memory, "gpu_memory", ALERT_SHARE, "95%", \
        "a device whose memory is used up to this share or more is a warning; 0 or off: none", \
        "The alert GPU_MEMORY, over at 3 % below, or more.") \
    ROW(double, gpu_utilisation, "gpu_utilisation", ALERT_USE, "50%", \
        "a device used less than this, while a training that runs on it updates, is a warning; 0 or off: none", \
        "The alert GPU_UTILISATION, over at 5 % more, or when the training ends. It is of trainings on a device (device " \
        "= cuda, or auto where it took one), never of one on the CPU. Only the time of its state update counts, through " \
        "rollouts in between. It needs to be known which device it uses: the only one of NVIDIA, or the one that lists " \
        "its worker among its processes.") \
    ROW(int64_t, gpu_utilisation_ns, "gpu_utilisation_for", KEY_DURATION, "30s", \
        "for which the utilisation must be so low; 0: at once", NULL) \
    ROW(int64_t, throttled_ns, "throttled_for", ALERT_FOR, "10s", \
        "a device that heat or its hardware (power brake, slowdown) slows down for so long is a warning; 0 or off: none", \
        "The alert GPU_THROTTLED. The power cap is no part of it: a device that works hard is at its cap.") \
    ROW(int64_t, power_capped_ns, "power_capped_for", ALERT_FOR, "off", \
        "one whose power cap slows it down for so long is a warning; 0 or off: none", \
        "The alert GPU_POWER_CAPPED. Off, since that is normal under load; 10m shows a cap that was lowered by " \
        "mistake.") \
    ROW(int64_t, recovered_ns, "recovered_for", KEY_DURATION, "30s", \
        "an alert of a device closes once its figure has been good for so long", \
        "An error becomes a warning again after as long.") \
    ROW(int64_t, no_trial_ns, "no_trial_for", ALERT_FOR, "1h", \
        "a study that searches, and of which no trial has finished for so long, is a warning; 0 or off: none", \
        "The alert NO_TRIAL, over with the next trial, or when it no longer searches. A daemon that was restarted counts " \
        "from its start where it does not know when the last trial finished.") \
    ROW(bool, new_best, "new_best", KEY_SWITCH("off on"), "on", \
        "a trial that is better than all before it is reported: on, or off", \
        "The alert NEW_BEST, of severity info. A study's first trial is not reported.") \
    ROW(double, orders_refused, "orders_refused", ALERT_COUNT, "10", \
        "so many refused orders of an account within a minute are a warning; 0 or off: none", \
        "The alert ORDERS_REFUSED, with the most frequent reason; a venue's rules, cash and limits all count.") \
    ROW(double, drawdown, "drawdown", ALERT_SHARE, "10%", \
        "an account that has lost this share of its highest equity is a warning; 0 or off: none", \
        "The alert DRAWDOWN, over at 1 % less. It changes nothing: limits are in [risk].") \
    ROW(double, drawdown_critical, "drawdown_critical", ALERT_SHARE, "20%", \
        "from here on that alert is an error; 0 or off: never", NULL) \
    ROW(double, drawdown_of_limit, "drawdown_of_limit", ALERT_SHARE, "80%", \
        "an account that has lost this share of its own limit ([risk] drawdown) is a warning; 0 or off: none", \
        "The alert DRAWDOWN_LIMIT; at the limit itself the account is closed, and the alert KILLED is an error.") \
    ROW(double, daily_loss_of_limit, "daily_loss_of_limit", ALERT_SHARE, "80%", \
        "the same of a day's loss and [risk] daily_loss; 0 or off: only once it is reached", \
        "The alert DAILY_LOSS, an error once the limit is reached: nothing is opened until midnight UTC.") \
    ROW(double, concentration, "concentration", ALERT_SHARE, "80%", \
        "an account with this share of its equity, or more, in one symbol is a warning; 0 or off: none", \
        "The alert CONCENTRATION, over at 5 % less. A strategy that holds one symbol on purpose needs off.") \
    ROW(int64_t, no_trades_ns, "no_trades_for", ALERT_FOR, "off", \
        "an account with a strategy or a policy that has not traded for so long is a warning; 0 or off: none", \
        "The alert NO_TRADES, over with the next fill. Off, since how often it should trade is the strategy's; hours in " \
        "which its market is closed count.") \
    ROW(double, sharpe_p, "sharpe_below", ALERT_USE, "1%", \
        "an account whose days make it less probable than this that its Sharpe ratio is at least its backtest's is a " \
        "warning; 0 or off: none", \
        "The alert SHARPE_LOW, of accounts with backtest_sharpe, from 20 days on. The probability is the probabilistic " \
        "Sharpe ratio of Bailey and Lopez de Prado. It is looked at every day: within a year a strategy that is as good " \
        "as its backtest raises it more often than once in a hundred.") \
    ROW(double, disk, "disk", ALERT_SHARE, "90%", \
        "a file system of the state directory that is used up to this share is a warning; 0 or off: none", \
        "The alert DISK, over at 2 % less. Looked at every ten seconds, on a thread.") \
    ROW(double, disk_critical, "disk_critical", ALERT_SHARE, "95%", \
        "from here on that alert is an error; 0 or off: never", NULL) \
    ROW(uint64_t, wal_bytes, "wal", ALERT_WAL, "64MiB", \
        "papertape.db's write-ahead log of this size, from 32MiB on, is a warning; 0 or off: none", \
        "The alert WAL_LARGE, over at half of it. A reader that keeps a transaction open is the cause, as a sqlite3 shell " \
        "or a notebook with a query half read: the log grows until it ends. Looked at every ten seconds, on a thread.") \
    ROW(int64_t, clock_offset_ns, "clock_offset", ALERT_FOR, "5s", \
        "a clock so far from the venue's, either way, is a warning; 0 or off: none", \
        "The alert CLOCK_OFFSET; not with clock = feed, whose time is not the machine's.") \
    ROW(int64_t, backup_old_ns, "backup_for", ALERT_FOR, "off", \
        "no backup that succeeded for so long is a warning; 0 or off: none", \
        "The alert BACKUP_OLD, once there was a first backup; 36h fits papertape-backup.timer. A backup that fails is the " \
        "alert BACKUP_FAILED, an error, in any case.") \
    ROW(int64_t, sink_failing_ns, "sink_failing_for", ALERT_FOR, "5m", \
        "a sink that has failed for so long is a warning; 0 or off: none", \
        "The alert SINK_FAILING, which goes to the other sinks, not to that one.")
/* clang-format on */

struct alert_limits {
#define ALERT_MEMBER_(type, member, ...) type member;
    ALERT_KEYS(ALERT_MEMBER_)
#undef ALERT_MEMBER_
};

#endif

/* Notifies the service manager, by the protocol of sd_notify(3). Without libsystemd, or without a manager
 * that listens, every function does nothing. Only net_notify_ready() waits for one that does not read. */
#ifndef EXCHANGE_NET_NOTIFY_H
#define EXCHANGE_NET_NOTIFY_H

#include <stdint.h>

/* READY=1, with a STATUS= line. */
void net_notify_ready(const char *status);

/* STATUS=, a line for `systemctl status`; newlines become spaces. */
void net_notify_status(const char *status);

/* EXTEND_TIMEOUT_USEC=: the start, or the stop, takes up to so much longer from now. */
void net_notify_extend(uint64_t seconds);

/* STOPPING=1. */
void net_notify_stopping(void);

/* WATCHDOG=1: the process lives. */
void net_notify_watchdog(void);

/* How often net_notify_watchdog() is due, ms: half of what the manager waits. 0: it does not watch this
 * process.
 */
uint64_t net_notify_watchdog_ms(void);

#endif

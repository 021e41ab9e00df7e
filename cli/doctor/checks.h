/* The checks of `papertape doctor`: what each needs, and what it looks at, for help and manual page. */
#ifndef CLI_DOCTOR_CHECKS_H
#define CLI_DOCTOR_CHECKS_H

/* Bits. A check that lacks one of these is not made, and the report says why. */
enum {
    DOCTOR_NEEDS_NOTHING = 0,
    DOCTOR_NEEDS_CONFIG = 1,   /* a configuration without errors */
    DOCTOR_NEEDS_NETWORK = 2,  /* not with --offline */
    DOCTOR_NEEDS_STATE = 4,    /* a state directory */
    DOCTOR_NEEDS_DATABASE = 8, /* papertape.db in it */
    DOCTOR_NEEDS_LOG = 16,     /* events/ in it */
};

/* X(NAME, needs, words, late): cli_doctor_NAME() makes the check. `late`: the verb that does the same without
 * a limit, where it is no fault that the check is cut short; NULL: one that does not end is a fault. */
#define DOCTOR_CHECKS(X) \
    X(versions, DOCTOR_NEEDS_NOTHING, \
      "libraries, kernel and NVIDIA driver against known faults, and whether papertape avoids them", NULL) \
    X(clock, DOCTOR_NEEDS_NOTHING, \
      "whether the kernel's clock is synchronised, and its offset to each venue's, with the bound of its " \
      "error", \
      NULL) \
    X(space, DOCTOR_NEEDS_NOTHING, "room and inodes of the file systems of the state and of its event log", \
      NULL) \
    X(disk, DOCTOR_NEEDS_NOTHING, \
      "how fast the state's file system writes and syncs, by a scratch file without a name in it", NULL) \
    X(permissions, DOCTOR_NEEDS_STATE, \
      "kinds, modes and owners: the state and what is in it, sockets, the files of keys, tokens and passwords " \
      "(which are not read); missing credentials; whether the daemon's user may read what the configuration names", \
      NULL) \
    X(daemon, DOCTOR_NEEDS_STATE, \
      "whether a daemon runs, answers, stores, is of this version, listens for [metrics] and lost no line of its " \
      "log; what waits for a restart; another process at a place of [metrics]; sockets that one left", \
      NULL) \
    X(sinks, DOCTOR_NEEDS_STATE, "whether the sinks of alerts accept, and no notice was lost", NULL) \
    X(gpu, DOCTOR_NEEDS_NOTHING, "devices, their drivers, and whether the GPU module can use them", NULL) \
    X(network, DOCTOR_NEEDS_CONFIG | DOCTOR_NEEDS_NETWORK, \
      "of each venue the look-up of its names, REST and the websocket", NULL) \
    X(certificates, DOCTOR_NEEDS_CONFIG | DOCTOR_NEEDS_NETWORK, \
      "of each host of the venues: names, issuer, expiry", NULL) \
    X(unit, DOCTOR_NEEDS_NOTHING, \
      "the installed units' exposure by systemd-analyze security: at most 1.6 is expected", NULL) \
    X(database, DOCTOR_NEEDS_DATABASE, \
      "the schema's version, SQLite's own checks and the seals of rows, the newest first, for 3 s", NULL) \
    X(ledger, DOCTOR_NEEDS_DATABASE, "what `ledger verify` checks", "papertape ledger verify") \
    X(events, DOCTOR_NEEDS_LOG, "the hashes of the event log's segments, the newest first, for 3 s", NULL) \
    X(backup, DOCTOR_NEEDS_STATE, \
      "whether the last backup succeeded, within [alerts] backup_for, or a week where that is off", NULL) \
    X(configuration, DOCTOR_NEEDS_NOTHING, \
      "what `papertaped --check-config` checks: keys, strategies, files of policies and certificates; and " \
      "accounts against the database", \
      NULL) \
    X(symbols, DOCTOR_NEEDS_CONFIG | DOCTOR_NEEDS_NETWORK, \
      "whether the venues list the configured symbols, and trade them", NULL)

#endif

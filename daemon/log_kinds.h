/* The kinds of events that the log marks in the journal: one row each. PAPERTAPE_EVENT, MESSAGE_ID, the
 * catalog (papertape.catalog) and the table of docs/logging.md follow from the rows (daemon/log_catalog.c).
 */
#ifndef DAEMON_LOG_KINDS_H
#define DAEMON_LOG_KINDS_H

#include "daemon/config.h"

/* KIND(ENUM, PAPERTAPE_EVENT, its usual level, MESSAGE_ID, subject, explanation). A kind's id and name are
 * never changed or used again. In the explanation @FIELD@ is that field of the entry: only one that every
 * entry of the kind has. */
/* clang-format off */
#define LOG_KINDS(KIND) \
    KIND(STARTED, "started", INFO, "20a19e3f8752479481c65e6c190a8196", "Papertape has started", \
        "The state is read, the control socket listens, and the feeds are being connected.") \
    KIND(STOPPING, "stopping", INFO, "c15e13a3069b46aa9308070ef8660100", "Papertape stops", \
        "It was asked to. What is queued is stored first; positions and orders are kept.") \
    KIND(STOPPED, "stopped", INFO, "2aa7189d1f90451b8718689211e7dcba", "Papertape has stopped", \
        "Everything that was acknowledged is stored, unless a line before this one says otherwise.") \
    KIND(FAILED, "failed", ERROR, "4222367e080f49b592db421ffa085b2e", "Papertape ends by a failure", \
        "The line says what failed, where, and what would be right. After exit status 2 systemd does not start " \
        "it again, since another start would find the same.") \
    KIND(CRASHED, "crashed", ERROR, "4b6e9de03a9e42b588ea03bebeece03d", "Papertape has crashed", \
        "A signal ended the process: a fault in the program, or the watchdog (SIGABRT). The lines before this " \
        "one were still on their way to the journal. systemd starts it again; nothing that was acknowledged is " \
        "lost. Please report it with these lines.") \
    KIND(LOG_LOST, "log-lost", WARNING, "069c0158d9ae4bd58d8905e04f74e9c3", "Lines of the log are lost", \
        "The journal took no entries for so long that the queue was full: @PAPERTAPE_LOST@ lines were dropped, " \
        "so that trading did not wait for it. See systemctl status systemd-journald.") \
    KIND(FILL, "fill", INFO, "25c0d496b618484d98ff5d62a8d8fda2", "Order @ORDER@ is filled", \
        "A paper order in @SYMBOL@ traded, wholly or in part. papertape fills lists all fills, papertape explain " \
        "@ORDER@ the cause of the order.") \
    KIND(ORDER_REFUSED, "order-refused", INFO, "9e13500e65a6458a8a10312bcc5b2eab", "Order @ORDER@ is refused", \
        "It broke a rule of the venue, a limit of risk, or needs more than the account has; the line names the " \
        "reason. papertape explain @ORDER@ shows what it was checked against.") \
    KIND(ACCOUNT_HALTED, "account-halted", ERROR, "eb0e300c73c145c4baffd93f6ed9ccaf", \
        "Account @ACCOUNT@ is halted", \
        "It lost more than its limit of drawdown: its positions are closed, and it opens nothing until papertape " \
        "account resume @ACCOUNT@.") \
    KIND(MARGIN_CALL, "margin-call", WARNING, "0d6fd9531702444c96cf057d164ec78d", \
        "Account @ACCOUNT@ has a margin call", \
        "Its equity does not cover what its positions need: positions are closed until it does.") \
    KIND(SYMBOL_HALTED, "symbol-halted", WARNING, "fdc72287be5d45d7b07f5776c0c002b1", "@SYMBOL@ is not traded", \
        "The venue halted it, or lists it no longer. Orders of a halted symbol wait; those of one that is gone are " \
        "cancelled, and what is held of it stays.") \
    KIND(FEED_LOST, "feed-lost", WARNING, "e030471a15bd46c2b9d8127fc8bf7409", "The feed of @VENUE@ is lost", \
        "No market data comes from the venue; the line has the cause. The daemon tries again by itself, at most " \
        "once a minute. Orders wait; missing bars are fetched once it is back.") \
    KIND(FEED_BACK, "feed-back", INFO, "92b6f7a5345044a9b07bbbb6dc0a064f", "The feed of @VENUE@ is connected", \
        "Market data comes from the venue.") \
    KIND(STREAM_STALE, "stream-stale", WARNING, "c20546083cef4a88bbaafc29643b1d7d", "A stream of @VENUE@ is silent", \
        "The connection is open, but one stream has sent nothing for longer than its limit. What depends on it opens " \
        "no positions.") \
    KIND(STREAM_BACK, "stream-back", INFO, "645acd15df004f3d872cff8cd768fe5a", \
        "A stream of @VENUE@ sends again", "It was silent before.") \
    KIND(RELOADED, "reloaded", INFO, "4d2e0a1975684eb993421a583a3ff7b2", "The configuration was read again", \
        "It is in force, except for the keys that the lines before name as needing a restart.") \
    KIND(RELOAD_REFUSED, "reload-refused", ERROR, "bd56f5ab7907452f8cfb7edfcb851532", \
        "The configuration is refused", \
        "Nothing has changed: the lines before name each error by file and line. papertaped --check-config checks " \
        "a file without a daemon.") \
    KIND(POLICY, "policy", INFO, "c3b2f021f0a84074a7134b67aa53b9b0", "A policy has another role", \
        "It was promoted or retired, by a command or by the daemon, or trades again. See papertape policy list.") \
    KIND(POLICY_REFUSED, "policy-refused", WARNING, "d5a10b828dfd4fa783c9e8272d1fc963", "A policy is refused", \
        "Its file cannot be read, is not for this market, or failed a gate; the line has the reason. It does not " \
        "trade.") \
    KIND(TRAINING, "training", WARNING, "faa40d8c012a4715857c0793eae89306", "Training @TRAINING@ has a problem", \
        "Its worker failed or is stalled. papertape train list shows its state; it continues from its last checkpoint " \
        "where it can.") \
    KIND(NEW_BEST, "new-best", INFO, "37e88d24bccd4a53b1967cdbd3d6597c", \
        "A study has a new best trial", "A trial of it is better than all before.") \
    KIND(TRAINER, "trainer", INFO, "4b7f9d0a15164493868109ab0b58663c", "The co-process that trains", \
        "It was found, went away, or does not answer; the line says which. Trading does not depend on it.") \
    KIND(STORAGE_FAILING, "storage-failing", ERROR, "55bfa2d50b5744649223716fd6feef2f", "Nothing can be stored", \
        "The disk is full, fails, or is read-only. No positions are opened and no command is acknowledged until it " \
        "stores again, which needs no restart: make room, or repair it.") \
    KIND(STORAGE_BACK, "storage-back", WARNING, "1bf5f0557b9b42bdba633a82d00de850", "Storing works again", \
        "What the disk has was compared with what was written.") \
    KIND(DATABASE_REBUILT, "database-rebuilt", WARNING, "d04e701d968d4416ab365b6eac6d6262", \
        "The database is built again", \
        "It was damaged, missing or did not agree with the event log, from which it is built again.") \
    KIND(PARITY_OK, "parity-ok", INFO, "85b11ab96dbd43ff980f68b585032ce4", "Parity holds", \
        "Playing the event log again gave the same orders, fills and ledger.") \
    KIND(PARITY_FAILED, "parity-failed", ERROR, "1f611d71a9854f549860725bf0d9d554", "Parity does not hold, or was not checked", \
        "The line has the first difference between the event log and the ledger, or why they could not be compared. " \
        "See papertape parity.") \
    KIND(ANCHOR, "anchor", INFO, "70689c618b664b0a8553f0e28b4043a5", "The books are anchored", \
        "With [ledger] anchor = journal the line is the anchor itself, for papertape ledger verify --anchor.") \
    KIND(ANCHOR_FAILED, "anchor-failed", WARNING, "339e6de2554547f087b71ceeab51a585", "The books are not anchored", \
        "The line says why an anchor could not be made, or that it has no time stamp. It is tried again after an " \
        "hour.") \
    KIND(CLOCK, "clock", WARNING, "9e28c754bc344661a79e7bdc8a183240", "The clock stepped, or is behind", \
        "Events keep their order by the last one's time. Check the machine's time synchronisation.") \
    KIND(COMMAND, "command", INFO, "c05ca5e082c84916b79a9526618f52b6", "A command came by the control socket", \
        "The line has its name, the user who gave it, and how it ended.") \
    KIND(ALERT, "alert", WARNING, "ac6484281703429e8864748862b9e4db", "Alert @PAPERTAPE_ALERT@", \
        "The daemon, or a rule of [alerts], found this. papertape alerts list shows it until it is over; " \
        "docs/control.md has each code.") \
    KIND(ALERT_OVER, "alert-over", INFO, "8df6b812d7434fce8206a2f72f2e999e", "Alert @PAPERTAPE_ALERT@ is over", \
        "What it reported is over.") \
    KIND(DEVICE, "device", INFO, "d7e6ff51f96a4bbfbae2860201c03444", "The device that computes", \
        "A GPU was found, failed, or is silent; the line says which. The CPU does the work meanwhile.")
/* clang-format on */

#define LOG_KIND_(name, event, level, id, subject, text) LOG_##name,
enum log_kind { LOG_KINDS(LOG_KIND_) LOG_KINDS_N, LOG_PLAIN = -1 /* a line that is of no kind */ };
#undef LOG_KIND_

struct log_kind_row {
    const char *event;
    enum log_level level;
    const char *id; /* MESSAGE_ID: 32 hexadecimal digits */
    const char *subject, *text;
};
extern const struct log_kind_row daemon_log_kinds[LOG_KINDS_N];

/* The fields that an entry has beside journald's own: FIELD(member, NAME, what it is). */
#define LOG_FIELDS(FIELD) \
    FIELD(symbol, "SYMBOL", "the symbol, as the venue's list has it") \
    FIELD(account, "ACCOUNT", "the paper account") \
    FIELD(policy, "POLICY", "the policy") \
    FIELD(training, "TRAINING", "the training or study") \
    FIELD(venue, "VENUE", "the venue, by its name in `papertape venues`") \
    FIELD(alert, "PAPERTAPE_ALERT", "the code of an alert")

#endif

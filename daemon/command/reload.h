/* A reload: the configuration is read again on a thread and compared with the running one; venues are asked
 * whether they list what is new; then all of it takes effect in one turn of the loop, or nothing does.
 * Internal to daemon/command/reload*.c. */
#ifndef DAEMON_COMMAND_RELOAD_H
#define DAEMON_COMMAND_RELOAD_H

#include "daemon/command/internal.h"
#include "daemon/config_changes.h"
#include "daemon/config_load.h"
#include "daemon/feed/feeds.h"
#include "daemon/feed/keys.h"

/* Symbols that the file names, or no longer names. */
struct reload_symbols {
    char (*names)[SYMBOL_NAME_MAX];
    uint8_t *venues; /* of the configuration, going up */
    int n;
};

struct reload {
    struct commands *commands; /* NULL: they are gone, and it frees itself */
    uv_work_t work;
    struct request request; /* its call NULL: by a signal */
    bool early;             /* it began before the session: no venue had answered */
    struct control_peer peer;

    /* Of the thread, until it is done. */
    const struct daemon_config_given *given;
    const struct daemon_config *running;
    struct daemon_config *read, *merged;
    struct daemon_config_changes changes;
    int *lines;                            /* [changes.n] of the file; 0: it has none of it */
    struct feed_keys *keys;                /* secret; [merged->n_venues], where the venue has some */
    struct execution_keys *execution_keys; /* secret; [read->n_accounts]; NULL: no account has any */
    struct net_trust *trust;               /* the certificates of [market] ca_file */
    struct reload_symbols added, removed;

    struct symbol *listed; /* [added.n] as its venue lists it, without a name where it is streamed already */
    int asked;             /* venues that have not answered */
    json_t *contents;      /* keys whose file has other contents, once it has taken effect */
    char errors[CONFIG_ERRORS_MAX]; /* lines, each with its '\n'; "" */
};

/* Adds a line to the errors. */
void daemon_reload_add_line(struct reload *reload, const char *line);
/* Adds "FILE:LINE: words", of words that begin with "[SECTION] KEY: ", or a line without a place. */
void daemon_reload_refuse(struct reload *reload, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- reload_read.c ---- */

/* On the thread: everything that it is given then, or errors. */
void daemon_reload_read(struct reload *reload);

/* ---- reload_symbols.c ---- */

/* On the thread: what is in one and not in the other. 0 or -ENOMEM. */
int daemon_reload_compare(struct reload *reload);
void daemon_reload_symbols_finish(struct reload *reload);
/* Asks the venues for the added ones; daemon_reload_go() is called once all have answered, maybe from
 * within. */
void daemon_reload_ask(struct reload *reload);
void daemon_reload_go(struct reload *reload);
/* Can all of them be added now, and is a symbol left? What cannot becomes an error. */
void daemon_reload_judge(struct reload *reload);
void daemon_reload_remove(struct reload *reload);
void daemon_reload_add(struct reload *reload);

/* ---- reload_apply.c ---- */

/* The accounts that change, as they are from then on: *ret_n of them, the caller's to free; NULL without
 * memory. */
struct account_spec *daemon_reload_accounts(const struct reload *reload, int *ret_n);
/* All but the accounts. */
void daemon_reload_apply(struct reload *reload);
/* Before the session has started: takes all of it, and asks the venues again. 0, or -errno with an error
 * added: then all is as before. */
int daemon_reload_apply_early(struct reload *reload);

#endif

/* What a daemon takes over from the run before it, in the form of engine_restore_*() of engine/engine.h. */
#ifndef DB_RECOVER_H
#define DB_RECOVER_H

#include "db/reader.h"

enum { DB_RECOVERED_KEYS_MAX = 100000, DB_AT_VENUE_KEY_MAX = ACCOUNT_NAME_MAX + 16 };

/* The row of `meta` that says how an account stands at its venue: engine_venue_prefix(). */
void db_at_venue_key(const char *account, char ret[static DB_AT_VENUE_KEY_MAX]);
enum { DB_AT_VENUE_MAX = 9 };
/* Its value; "" where there is none. 0 or -errno. */
int db_reader_at_venue(struct db_reader *reader, const char *account, char ret[static DB_AT_VENUE_MAX]);

struct db_recovered_account {
    struct db_account account; /* accounts[i].account.number == i */
    struct account_spec spec;  /* the same, as the engine takes it */
    int64_t deposits; /* of its currency, since its last reset: deposits and transfers in less those out */
    int64_t peak, day, day_equity, killed_ns;
    int64_t point, day_base; /* of its curve; both day_equity where it has no point */
    int64_t interest_ns;     /* of its last row of interest; 0 without one */
    /* Did the arena have a policy trade for it? By the row of `policies` that names it and is not retired,
     * the champion's for DB_CHAMPION_ACCOUNT. spec.policy stays NULL: the caller finds the policy by its
     * id. */
    bool has_policy;
    uint8_t policy[POLICY_ID_SIZE];
    char at_venue[DB_AT_VENUE_MAX]; /* db_at_venue_key()'s; "": there is none */
};
struct db_recovered_balance {
    int account;
    char asset[ASSET_NAME_MAX];
    int scale;
    int64_t total, borrowed;
};
struct db_recovered_position {
    int account, symbol;
    struct position position;
    struct lots lots; /* of the position */
};
/* A split or a dividend that took effect. */
struct db_recovered_action {
    int symbol;
    char id[ACTION_ID_MAX];
    int64_t ex_ns;
};
/* A command with a key. */
struct db_recovered_key {
    char key[COMMAND_KEY_MAX];
    uint64_t command, order_id, event; /* event: 0 for not known */
    enum db_command_state state;
    int64_t ts_ns, peer_uid, peer_pid;
    const char *cmd, *args, *result; /* as in the table; they live as long as what was recovered */
};

struct db_recovered {
    struct db_recovered_account *accounts;
    int n_accounts;
    struct db_recovered_balance *balances;
    size_t n_balances;
    struct db_recovered_position *positions;
    size_t n_positions;
    struct order *orders; /* live, oldest first */
    size_t n_orders;
    struct db_recovered_action *actions; /* of these symbols, in the order in which they took effect */
    size_t n_actions;
    struct receivable_row *receivables; /* that are booked, and neither paid nor written off */
    size_t n_receivables;
    struct fee_rate_change *fee_rates; /* [n_accounts] each one's last; id 0: none. `tiers` is NULL */
    struct db_recovered_volume {
        int account;
        int64_t day, notional;
    } * volumes; /* of fills quoted in the account's currency, by UTC day: the newest FEE_VOLUME_DAYS + 1 */
    size_t n_volumes;
    uint64_t last_receivable, last_fee_rate;
    struct db_session *sessions; /* by calendar: each market's last phase */
    size_t n_sessions;
    struct db_recovered_key *keys; /* of the newest DB_RECOVERED_KEYS_MAX commands with a key, sorted by it */
    size_t n_keys;
    void *key_texts;
    uint64_t last_order, last_fill, last_ledger, last_command, last_alert, last_run; /* 0: none yet */
    uint8_t ledger_hash[LEDGER_HASH_SIZE]; /* of the last row; zeros before the first */
    uint64_t event_seq;                    /* newest event whose rows are stored; 0: none */
    bool paused;
};

/* Reads one snapshot of the database; symbols are named by their index in `symbols`, as the engine will. Of
 * an empty database everything is 0. 0; -ENOENT when a position or a live order is of a symbol that is not
 * among `symbols`, or an account runs a strategy that this program does not have; -EINVAL when a symbol's
 * assets or scales are not those stored; -EBADMSG when the sums of the ledger and its running balances
 * differ; -ENOMEM; -errno. err: one sentence. */
int db_recover(struct db_reader *reader, const struct symbol *symbols, int n_symbols,
               struct db_recovered **ret, char *err, size_t err_size);
void db_recovered_destroy(struct db_recovered *recovered);

#endif

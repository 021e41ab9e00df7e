#include "daemon/execution/executions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/credential.h"
#include "daemon/feed/feeds.h"
#include "daemon/log.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/net/secret.h"

#define ALERT "VENUE_ACCOUNT"

enum { TICK_MS = 1000, CLOCK_WAIT_MS = 10000 };
/* recvWindow, and what the venue's engine may take then; or, where ids are for life, how long a request may
 * be on its way. */
#define SETTLE_NS      INT64_C(15000000000)
#define SETTLE_LIFE_NS INT64_C(30000000000)

struct slot {
    struct executions *executions;
    struct account_config config; /* as of the start */
    const char *venue;
    struct execution_keys *keys; /* its own of struct executions */
    struct venue_execution *execution;
    uv_timer_t timer;
};

struct executions {
    struct daemon *daemon;
    struct slot *slots;
    struct execution_keys *keys; /* secret; [config.n_accounts] as of the start, NULL without slots */
    int n, open_handles;
    uv_timer_t tick;
    int64_t started_ms; /* 0: not yet */
};

static struct feed *feed_of(const struct slot *slot)
{
    return feeds_find(slot->executions->daemon->feeds, slot->venue);
}

/* ---- struct execution_host ---- */

static const struct engine *host_engine(void *ctx)
{
    const struct slot *slot = ctx;
    return daemon_session_engine(slot->executions->daemon->session);
}

static void host_event(void *ctx, struct event *event)
{
    const struct slot *slot = ctx;
    daemon_session_event(slot->executions->daemon->session, event);
}

static uint64_t host_ticket(void *ctx)
{
    const struct slot *slot = ctx;
    return db_writer_last(daemon_session_writer(slot->executions->daemon->session));
}

static struct case_time host_now(void *ctx)
{
    const struct slot *slot = ctx;
    const struct feed *feed = feed_of(slot);
    return (struct case_time){.now_ns = clock_boot_ns(), .venue_ns = feed ? feed_known_clock_ns(feed) : 0};
}

static void on_due(uv_timer_t *timer)
{
    const struct slot *slot = timer->data;
    venue_execution_tick(slot->execution);
}

static void host_due(void *ctx, int64_t at_ns)
{
    struct slot *slot = ctx;
    int64_t wait_ns = at_ns - clock_boot_ns();
    uv_timer_stop(&slot->timer);
    if (at_ns == INT64_MAX)
        return;
    uv_update_time(slot->timer.loop);
    uv_timer_start(&slot->timer, on_due, wait_ns > 0 ? (uint64_t)(wait_ns / 1000000 + 1) : 0, 0);
}

static void host_prefix(void *ctx, char ret[static 9])
{
    uint32_t random;
    (void)ctx;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        random = (uint32_t)uv_hrtime();
    snprintf(ret, 9, "%08x", random);
}

static void host_alert(void *ctx, const char *text)
{
    const struct slot *slot = ctx;
    struct session *session = slot->executions->daemon->session;
    char about[ACCOUNT_NAME_MAX + 16], words[DB_ALERT_TEXT_MAX];
    snprintf(about, sizeof about, "account %s ", slot->config.name);
    if (!text) {
        daemon_session_alert_over(session, ALERT, about);
        return;
    }
    snprintf(words, sizeof words, "%s%s", about, text);
    daemon_log_event(LOG_ALERT, LOG_OF(.account = slot->config.name, .venue = slot->venue, .alert = ALERT),
                     "%s", words);
    daemon_session_alert_lasting(session, DB_WARNING, ALERT, about, words);
}

static void host_bad_timestamp(void *ctx)
{
    struct feed *feed = feed_of(ctx);
    if (feed)
        feed_renew_clock(feed);
}

/* ---- keys ---- */

static int read_keys(const struct account_config *account, struct execution_keys *keys, char *err,
                     size_t err_size)
{
    char why[CONFIG_ERROR_MAX - ACCOUNT_NAME_MAX - 16];
    int r = daemon_execution_keys_read(account->execution_keys, keys, why, sizeof why);
    if (r < 0)
        snprintf(err, err_size, "[account %s] %s", account->name, why);
    return r;
}

/* An account at a venue is one account here: two would both book its fills. */
static const char *same_keys(const struct daemon_config *config, const struct execution_keys *keys, int a)
{
    int venue = daemon_config_execution_venue(config, &config->accounts[a]);
    for (int j = 0; j < a; j++)
        if (keys[j].id[0] && strcmp(keys[j].id, keys[a].id) == 0 &&
            daemon_config_execution_venue(config, &config->accounts[j]) == venue)
            return config->accounts[j].name;
    return NULL;
}

static bool any_at_venue(const struct daemon_config *config)
{
    int a = 0;
    while (a < config->n_accounts && config->accounts[a].execution != EXECUTION_VENUE_PAPER)
        a++;
    return a < config->n_accounts;
}

int daemon_executions_read_keys(const struct daemon_config *config, struct execution_keys **ret,
                                const char **ret_unseen, char error[static CONFIG_ERROR_MAX])
{
    struct execution_keys *keys =
        any_at_venue(config) ? net_secret_alloc((size_t)config->n_accounts * sizeof *keys) : NULL;
    int r = keys || !any_at_venue(config) ? 0 : fail_with(-ENOMEM, error, CONFIG_ERROR_MAX, "out of memory");
    for (int a = 0; keys && a < config->n_accounts && r == 0; a++) {
        const struct account_config *account = &config->accounts[a];
        if (account->execution != EXECUTION_VENUE_PAPER)
            continue;
        if (ret_unseen && daemon_credential_unseen(account->execution_keys)) {
            *ret_unseen = account->execution_keys;
            continue;
        }
        r = read_keys(account, &keys[a], error, CONFIG_ERROR_MAX);
        const char *other = r == 0 ? same_keys(config, keys, a) : NULL;
        if (other)
            r = fail_with(-ENOKEY, error, CONFIG_ERROR_MAX,
                          "[account %s] execution_keys: [account %s] has these keys", account->name, other);
    }
    if (r == 0) {
        *ret = keys;
        return 0;
    }
    net_secret_free(keys);
    return r;
}

int daemon_executions_check_keys(const struct daemon_config *config, const char **ret_unseen,
                                 char error[static CONFIG_ERROR_MAX])
{
    struct execution_keys *keys = NULL;
    *ret_unseen = NULL;
    int r = daemon_executions_read_keys(config, &keys, ret_unseen, error);
    net_secret_free(keys);
    return r;
}

/* ---- its life ---- */

static void free_executions(struct executions *executions)
{
    for (int i = 0; i < executions->n; i++)
        venue_execution_destroy(executions->slots[i].execution);
    net_secret_free(executions->keys);
    free(executions->slots);
    free(executions);
}

static int make_slot(struct executions *executions, int a)
{
    const struct daemon_config *config = &executions->daemon->config;
    const struct account_config *account = &config->accounts[a];
    struct slot *slot = &executions->slots[executions->n++];
    const struct venue *venue = config->venues[daemon_config_execution_venue(config, account)].venue;
    *slot = (struct slot){.executions = executions,
                          .config = *account,
                          .venue = venue->format->name,
                          .keys = &executions->keys[a]};
    const struct venue_execution_config wanted = {
        .account = account->name,
        .venue = slot->venue,
        .accounts = venue->accounts,
        .settle_ns = venue->accounts->id_for_life ? SETTLE_LIFE_NS : SETTLE_NS,
        .reconcile_ns = account->execution_reconcile_ns,
        .host = {slot, host_engine, host_event, host_ticket, host_now, host_due, host_prefix, host_alert,
                 host_bad_timestamp},
    };
    return venue_execution_create(&wanted, &slot->execution);
}

int daemon_executions_create(struct daemon *daemon, struct executions **ret, char *err, size_t err_size)
{
    const struct daemon_config *config = &daemon->config;
    struct executions *executions = calloc(1, sizeof *executions);
    if (executions)
        executions->slots = calloc((size_t)config->n_accounts, sizeof *executions->slots);
    if (!executions || !executions->slots) {
        free(executions);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    executions->daemon = daemon;
    char why[CONFIG_ERROR_MAX] = "out of memory";
    int r = daemon_executions_read_keys(config, &executions->keys, NULL, why);
    if (r < 0 && r != -EIO && r != -ENOMEM)
        r = -ENOKEY;
    for (int a = 0; a < config->n_accounts && r == 0; a++)
        if (config->accounts[a].execution == EXECUTION_VENUE_PAPER)
            r = make_slot(executions, a);
    if (r < 0) {
        snprintf(err, err_size, "%s", why);
        free_executions(executions);
        return r;
    }
    uv_timer_init(daemon->loop, &executions->tick);
    executions->tick.data = executions;
    for (int i = 0; i < executions->n; i++) {
        uv_timer_init(daemon->loop, &executions->slots[i].timer);
        executions->slots[i].timer.data = &executions->slots[i];
    }
    *ret = executions;
    return 0;
}

static struct slot *slot_of(const struct executions *executions, const char *account)
{
    for (int i = 0; executions && i < executions->n; i++)
        if (strcmp(executions->slots[i].config.name, account) == 0)
            return &executions->slots[i];
    return NULL;
}

const char *daemon_executions_lack(const struct executions *executions, const struct daemon_config *config)
{
    for (int a = 0; a < config->n_accounts; a++)
        if (config->accounts[a].execution == EXECUTION_VENUE_PAPER &&
            !slot_of(executions, config->accounts[a].name))
            return config->accounts[a].name;
    return NULL;
}

static void open_slot(struct slot *slot)
{
    const struct account_config *config = &slot->config;
    struct feed *feed = feed_of(slot);
    struct venue_account_config open = {
        .rest_url = config->execution_rest_url[0] ? config->execution_rest_url : NULL,
        .ws_url = config->execution_ws_url[0] ? config->execution_ws_url : NULL,
        .keys = {slot->keys->id, slot->keys->secret},
        .jitter_seed = uv_hrtime(),
    };
    if (!feed)
        return;
    bool waited = clock_now_ms() - slot->executions->started_ms >= CLOCK_WAIT_MS;
    if (!waited && feed_known_clock_ns(feed) == 0)
        return;
    feed_account_config(feed, &open);
    int r = venue_execution_open(slot->execution, &open);
    if (r < 0) {
        char text[DB_ALERT_TEXT_MAX];
        snprintf(text, sizeof text, "cannot be opened at %s: %s", slot->venue,
                 r == -EINVAL ? "a URL, or the keys, are none" : strerror(-r));
        host_alert(slot, text);
    }
}

/* Orders of accounts that this configuration no longer has: no request of them is sent. */
static void refuse_others(const struct executions *executions)
{
    struct session *session = executions->daemon->session;
    const struct engine *engine = daemon_session_engine(session);
    for (size_t i = 0; i < engine_orders(engine);) {
        const struct order *order = engine_order(engine, i);
        const struct account *account = engine_account(engine, order->account);
        struct event event = {.kind = EVENT_VENUE_ORDER,
                              .venue_order = {.account = order->account,
                                              .order_id = order->id,
                                              .update = VENUE_UPDATE_ABSENT,
                                              .text = "the account is not configured"}};
        bool lost = account->rules.execution == EXECUTION_VENUE_PAPER && order->state == ORDER_PENDING &&
                    !engine_venue_waits(engine, order->id) && !slot_of(executions, account->name);
        if (lost)
            daemon_session_event(session, &event);
        i = lost ? 0 : i + 1;
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct executions *executions = timer->data;
    for (int i = 0; i < executions->n; i++)
        open_slot(&executions->slots[i]);
    refuse_others(executions);
}

void daemon_executions_start(struct executions *executions)
{
    executions->started_ms = clock_now_ms();
    uv_timer_start(&executions->tick, on_tick, 0, TICK_MS);
}

static void on_closed(uv_handle_t *handle)
{
    struct executions *executions = handle->data;
    if (--executions->open_handles == 0)
        free_executions(executions);
}

static void on_slot_closed(uv_handle_t *handle)
{
    struct slot *slot = handle->data;
    handle->data = slot->executions;
    on_closed(handle);
}

void daemon_executions_stop(struct executions *executions)
{
    if (!executions)
        return;
    executions->open_handles = executions->n + 1;
    for (int i = 0; i < executions->n; i++) {
        venue_execution_destroy(executions->slots[i].execution);
        executions->slots[i].execution = NULL;
        uv_close((uv_handle_t *)&executions->slots[i].timer, on_slot_closed);
    }
    uv_close((uv_handle_t *)&executions->tick, on_closed);
}

/* ---- what others say ---- */

bool daemon_executions_take_keys(struct executions *executions, const struct account_config *account,
                                 const struct execution_keys *keys)
{
    struct slot *slot = slot_of(executions, account->name);
    if (!slot || !keys->id[0] || strcmp(slot->config.execution_keys, account->execution_keys) != 0 ||
        !venue_execution_again(slot->execution))
        return false;
    bool others = strcmp(slot->keys->id, keys->id) != 0 || strcmp(slot->keys->secret, keys->secret) != 0;
    *slot->keys = *keys;
    return others;
}

void daemon_executions_request(struct executions *executions, enum engine_venue_request request,
                               const struct order *order)
{
    const struct engine *engine = daemon_session_engine(executions->daemon->session);
    const struct slot *slot = slot_of(executions, engine_account(engine, order->account)->name);
    if (slot)
        venue_execution_request(slot->execution, request, order);
}

void daemon_executions_committed(struct executions *executions, uint64_t ticket)
{
    for (int i = 0; i < executions->n; i++)
        venue_execution_committed(executions->slots[i].execution, ticket);
}

void daemon_executions_hold(struct executions *executions, const char *venue, int64_t until_ns,
                            const char *why)
{
    for (int i = 0; executions && i < executions->n; i++)
        if (strcmp(executions->slots[i].venue, venue) == 0)
            venue_execution_hold(executions->slots[i].execution, until_ns, why);
}

void daemon_executions_clock_renewed(struct executions *executions, const char *venue)
{
    for (int i = 0; executions && i < executions->n; i++)
        if (strcmp(executions->slots[i].venue, venue) == 0)
            venue_execution_clock_renewed(executions->slots[i].execution);
}

bool daemon_executions_view(const struct executions *executions, const char *account,
                            struct venue_execution_view *ret)
{
    const struct slot *slot = slot_of(executions, account);
    if (slot)
        venue_execution_view(slot->execution, ret);
    return slot != NULL;
}

#include "exchange/replay/binance/limits.h"

#include <string.h>

#include "exchange/decimal.h"

#define MINUTE_MS 60000
#define FIVE_MS   300000

enum { NUMBER_MAX = 1000000000 };

int64_t replay_limits_weight(const struct limits *l)
{
    return l->weight_most ? l->weight_most : LIMITS_WEIGHT;
}

int64_t replay_limits_requests(const struct limits *l)
{
    return l->requests_most ? l->requests_most : LIMITS_REQUESTS;
}

static int64_t attempts_most(const struct limits *l)
{
    return l->attempts_most ? l->attempts_most : LIMITS_ATTEMPTS;
}

/* NAME=N: the name's length, or 0. */
static size_t read_spec(const char *spec, int64_t *ret)
{
    const char *equals = strchr(spec, '=');
    if (!equals || equals == spec || equals - spec >= LIMITS_NAME_MAX ||
        decimal_parse(equals + 1, strlen(equals + 1), 0, ret) != 0 || *ret < 0 || *ret > NUMBER_MAX)
        return 0;
    return (size_t)(equals - spec);
}

bool replay_limits_set(struct limits *l, const char *spec)
{
    const struct {
        const char *name;
        int64_t *at;
    } all[] = {
        {"weight", &l->weight_most}, {"requests", &l->requests_most}, {"connections", &l->attempts_most}};
    int64_t number = 0;
    const size_t len = read_spec(spec, &number);
    for (size_t i = 0; number > 0 && i < sizeof(all) / sizeof(*all); i++) {
        if (strlen(all[i].name) == len && strncmp(all[i].name, spec, len) == 0) {
            *all[i].at = number;
            return true;
        }
    }
    return false;
}

bool replay_limits_set_weight(struct limits *l, const char *spec)
{
    struct limits_weight with = {.weight = 0};
    const size_t len = read_spec(spec, &with.weight);
    size_t at = 0;
    if (len == 0 || memchr(spec, '/', len))
        return false;
    memcpy(with.name, spec, len);
    while (at < l->n_weights && strcmp(l->weights[at].name, with.name) != 0)
        at++;
    if (at == LIMITS_WEIGHTS_MAX)
        return false;
    l->n_weights += at == l->n_weights;
    l->weights[at] = with;
    return true;
}

int replay_limits_weigh(const struct limits *l, const char *path, int weight)
{
    const char *last = strrchr(path, '/');
    for (size_t i = 0; weight > 0 && i < l->n_weights; i++)
        if (strcmp(l->weights[i].name, last ? last + 1 : path) == 0)
            return (int)l->weights[i].weight;
    return weight;
}

static int64_t use(struct limits_window *w, int64_t now_ms, int64_t length_ms, int64_t amount)
{
    int64_t index = now_ms / length_ms;
    if (index != w->index)
        *w = (struct limits_window){.index = index};
    return w->used += amount;
}

static int64_t seconds(int64_t ms)
{
    return ms > 0 ? (ms + 999) / 1000 : 1;
}

static int banned(const struct limits *l, int64_t now_ms, int64_t *ret_wait_s)
{
    if (now_ms >= l->banned_until_ms)
        return 0;
    *ret_wait_s = seconds(l->banned_until_ms - now_ms);
    return LIMITS_BANNED;
}

/* The limit of a window of that length is exceeded: wait for the next one. */
static int too_many(struct limits *l, int64_t now_ms, int64_t length_ms, int64_t *ret_wait_s)
{
    int64_t until_ms = (now_ms / length_ms + 1) * length_ms;
    if (now_ms >= l->wait_until_ms)
        l->ignored = 0;
    if (until_ms > l->wait_until_ms)
        l->wait_until_ms = until_ms;
    if (++l->ignored > LIMITS_IGNORED) {
        int64_t ban_s = LIMITS_BAN_S;
        for (int i = 0; i < l->bans && ban_s < LIMITS_BAN_MAX_S; i++)
            ban_s *= 2;
        l->bans++;
        l->ignored = 0;
        replay_limits_ban(l, now_ms, (ban_s < LIMITS_BAN_MAX_S ? ban_s : LIMITS_BAN_MAX_S) * 1000);
        return banned(l, now_ms, ret_wait_s);
    }
    *ret_wait_s = seconds(until_ms - now_ms);
    return LIMITS_TOO_MANY;
}

int replay_limits_request(struct limits *l, int64_t now_ms, int64_t *ret_wait_s)
{
    int status = banned(l, now_ms, ret_wait_s);
    if (status == 0 && use(&l->requests, now_ms, FIVE_MS, 1) > replay_limits_requests(l))
        status = too_many(l, now_ms, FIVE_MS, ret_wait_s);
    if (status == 0 && use(&l->weight, now_ms, MINUTE_MS, 0) >= replay_limits_weight(l))
        status = too_many(l, now_ms, MINUTE_MS, ret_wait_s);
    return status;
}

int replay_limits_attempt(struct limits *l, int64_t now_ms, int64_t *ret_wait_s)
{
    int status = banned(l, now_ms, ret_wait_s);
    if (status == 0 && use(&l->attempts, now_ms, FIVE_MS, 1) > attempts_most(l))
        status = too_many(l, now_ms, FIVE_MS, ret_wait_s);
    return status;
}

int replay_limits_charge(struct limits *l, int64_t now_ms, int weight, int64_t *ret_wait_s)
{
    return use(&l->weight, now_ms, MINUTE_MS, weight) > replay_limits_weight(l)
               ? too_many(l, now_ms, MINUTE_MS, ret_wait_s)
               : 0;
}

int64_t replay_limits_used(const struct limits *l, int64_t now_ms)
{
    return l->weight.index == now_ms / MINUTE_MS ? l->weight.used : 0;
}

void replay_limits_ban(struct limits *l, int64_t now_ms, int64_t length_ms)
{
    if (now_ms + length_ms > l->banned_until_ms)
        l->banned_until_ms = now_ms + length_ms;
}

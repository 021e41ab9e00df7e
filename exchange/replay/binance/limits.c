#include "exchange/replay/binance/limits.h"

#define MINUTE_MS 60000
#define FIVE_MS   300000

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
    if (status == 0 && use(&l->requests, now_ms, FIVE_MS, 1) > LIMITS_REQUESTS)
        status = too_many(l, now_ms, FIVE_MS, ret_wait_s);
    if (status == 0 && use(&l->weight, now_ms, MINUTE_MS, 0) >= LIMITS_WEIGHT)
        status = too_many(l, now_ms, MINUTE_MS, ret_wait_s);
    return status;
}

int replay_limits_attempt(struct limits *l, int64_t now_ms, int64_t *ret_wait_s)
{
    int status = banned(l, now_ms, ret_wait_s);
    if (status == 0 && use(&l->attempts, now_ms, FIVE_MS, 1) > LIMITS_ATTEMPTS)
        status = too_many(l, now_ms, FIVE_MS, ret_wait_s);
    return status;
}

int replay_limits_charge(struct limits *l, int64_t now_ms, int weight, int64_t *ret_wait_s)
{
    return use(&l->weight, now_ms, MINUTE_MS, weight) > LIMITS_WEIGHT
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

#include "exchange/net/link.h"

enum link_failure net_link_failure_of(int http_status, bool final)
{
    if (http_status == 429)
        return LINK_LIMITED;
    if (http_status == 418)
        return LINK_BANNED;
    if (http_status >= 400 && http_status < 500 && http_status != 408)
        return final ? LINK_ENDED : LINK_REFUSED;
    return LINK_LOST;
}

int64_t net_link_wait_ms(enum link_failure failure, int64_t said_ms)
{
    if (failure != LINK_LIMITED && failure != LINK_BANNED)
        return -1;
    return said_ms >= 0 ? said_ms : failure == LINK_BANNED ? LINK_BANNED_MS : LINK_LIMITED_MS;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void net_link_init(struct link *link, const struct link_config *config, int64_t now_ms)
{
    *link = (struct link){.config = *config, .attempt = LINK_ATTEMPT_DUE, .retry_ms = now_ms};
    int64_t min_ms = config->backoff_min_ms > 0 ? config->backoff_min_ms : LINK_BACKOFF_MIN_MS;
    int64_t max_ms = config->backoff_max_ms > 0 ? config->backoff_max_ms : LINK_BACKOFF_MAX_MS;
    net_backoff_init(&link->backoff, min_ms, later(min_ms, max_ms), config->jitter_seed);
}

static void due(struct link *link, int64_t at_ms)
{
    link->attempt = LINK_ATTEMPT_DUE;
    link->retry_ms = at_ms;
    link->refused = link->budget_short = false;
}

/* When a reconnection without a failure may be made. */
static int64_t at_once(struct link *link, int64_t now_ms)
{
    if (link->at_once_used && now_ms - link->at_once_ms < LINK_AT_ONCE_MS)
        return now_ms + net_backoff_next(&link->backoff);
    link->at_once_used = true;
    link->at_once_ms = now_ms;
    return now_ms;
}

static struct link_step wait_until(int64_t at_ms)
{
    return (struct link_step){LINK_WAIT, at_ms};
}

static struct link_step connect_now(struct link *link, int64_t now_ms)
{
    if (now_ms < link->hold_ms) { /* banned meanwhile */
        due(link, link->hold_ms);
        return wait_until(link->hold_ms);
    }
    if (!net_budget_take(link->config.budget, now_ms)) {
        due(link, net_budget_next_ms(link->config.budget, now_ms) + net_backoff_jitter(&link->backoff, 1000));
        link->budget_short = true;
        return wait_until(link->retry_ms);
    }
    link->attempt = LINK_ATTEMPT_CONNECTING;
    link->attempts++;
    return (struct link_step){LINK_CONNECT, now_ms};
}

struct link_step net_link_next(struct link *link, int64_t now_ms)
{
    if (link->attempt == LINK_ATTEMPT_NONE && link->up && now_ms >= link->renew_ms)
        due(link, now_ms);
    switch (link->attempt) {
    case LINK_ATTEMPT_NONE:
        return wait_until(link->up ? link->renew_ms : INT64_MAX);
    case LINK_ATTEMPT_DUE: {
        int64_t at_ms = later(link->retry_ms, link->hold_ms);
        if (now_ms < at_ms)
            return wait_until(at_ms);
        link->attempt = LINK_ATTEMPT_RESOLVING;
        link->refused = link->budget_short = false;
        return (struct link_step){LINK_RESOLVE, now_ms};
    }
    case LINK_ATTEMPT_RESOLVED:
        return connect_now(link, now_ms);
    default:
        return wait_until(INT64_MAX);
    }
}

void net_link_resolved(struct link *link, int n_addresses)
{
    if (link->attempt != LINK_ATTEMPT_RESOLVING)
        return;
    link->attempt = LINK_ATTEMPT_RESOLVED;
    link->n_addresses = n_addresses;
    link->address = 0;
}

void net_link_opened(struct link *link, int64_t now_ms)
{
    const struct link_config *config = &link->config;
    int64_t renew_ms =
        config->age_max_ms > 0 && !config->alone
            ? now_ms + config->age_max_ms + net_backoff_jitter(&link->backoff, config->age_jitter_ms)
            : INT64_MAX;
    link->connects++;
    link->reconnects += link->lost;
    link->lost = false;
    link->received = link->steady = false;
    if (link->up) {
        link->attempt = LINK_ATTEMPT_OPEN;
        link->renew2_ms = renew_ms;
        return;
    }
    link->attempt = LINK_ATTEMPT_NONE;
    link->up = true;
    link->renew_ms = renew_ms;
}

void net_link_received(struct link *link, int64_t now_ms)
{
    if (!link->received)
        link->received_ms = now_ms;
    link->received = true;
    if (link->steady || now_ms - link->received_ms < LINK_STEADY_MS)
        return;
    link->steady = true;
    net_backoff_reset(&link->backoff);
}

/* An attempt, or the connection that was up. */
static int64_t after(struct link *link, int64_t now_ms, enum link_failure failure, int64_t retry_after_ms)
{
    if (link->attempt == LINK_ATTEMPT_ENDED)
        return INT64_MAX;
    if (failure == LINK_ENDED) {
        link->attempt = LINK_ATTEMPT_ENDED;
        return INT64_MAX;
    }
    if (failure == LINK_UNREACHED && link->attempt == LINK_ATTEMPT_CONNECTING &&
        ++link->address < link->n_addresses) {
        link->attempt = LINK_ATTEMPT_RESOLVED;
        return now_ms;
    }
    int64_t least_ms = later(retry_after_ms, 0), delay_ms = net_backoff_next(&link->backoff);
    int64_t wait_ms = net_link_wait_ms(failure, retry_after_ms);
    if (failure == LINK_REFUSED)
        least_ms = link->config.refused_ms > 0 ? link->config.refused_ms : LINK_REFUSED_MS;
    if (wait_ms >= 0) { /* of the address, whatever else happens */
        least_ms = wait_ms;
        net_link_hold(link, now_ms + wait_ms);
    }
    due(link, now_ms + least_ms + delay_ms);
    link->refused = failure == LINK_REFUSED;
    return later(link->retry_ms, link->hold_ms);
}

int64_t net_link_failed(struct link *link, int64_t now_ms, enum link_failure failure, int64_t retry_after_ms)
{
    link->failures += link->attempt != LINK_ATTEMPT_ENDED;
    return after(link, now_ms, failure, retry_after_ms);
}

int64_t net_link_lost(struct link *link, int64_t now_ms, enum link_failure failure, int64_t retry_after_ms)
{
    if (link->attempt == LINK_ATTEMPT_OPEN) {
        net_link_took_over(link);
        return now_ms;
    }
    bool trying = link->attempt != LINK_ATTEMPT_NONE;
    link->lost |= link->up;
    link->up = false;
    if (failure == LINK_ENDED)
        trying = false;
    /* Another is being made already, or refused for good. */
    if (trying && link->attempt != LINK_ATTEMPT_DUE)
        return link->attempt == LINK_ATTEMPT_ENDED ? INT64_MAX : now_ms;
    return after(link, now_ms, failure, retry_after_ms);
}

void net_link_again(struct link *link, int64_t now_ms)
{
    bool was_up = link->up;
    link->up = false;
    if (link->attempt == LINK_ATTEMPT_OPEN)
        net_link_took_over(link);
    else if (link->attempt == LINK_ATTEMPT_NONE || link->attempt == LINK_ATTEMPT_DUE)
        due(link, at_once(link, now_ms));
    link->lost |= was_up && !link->up;
}

void net_link_renew(struct link *link, int64_t now_ms)
{
    if (link->up && !link->config.alone && link->attempt == LINK_ATTEMPT_NONE)
        due(link, at_once(link, now_ms));
}

void net_link_rest(struct link *link)
{
    if (link->attempt == LINK_ATTEMPT_ENDED)
        return;
    link->up = link->lost = false;
    link->attempt = LINK_ATTEMPT_DUE;
}

void net_link_took_over(struct link *link)
{
    if (link->attempt != LINK_ATTEMPT_OPEN)
        return;
    link->attempt = LINK_ATTEMPT_NONE;
    link->up = true;
    link->renew_ms = link->renew2_ms;
    link->renewals++;
}

void net_link_hold(struct link *link, int64_t until_ms)
{
    link->hold_ms = later(link->hold_ms, until_ms);
}

enum venue_link net_link_state(const struct link *link)
{
    if (link->up)
        return VENUE_UP;
    switch (link->attempt) {
    case LINK_ATTEMPT_RESOLVING:
        return VENUE_RESOLVING;
    case LINK_ATTEMPT_RESOLVED:
    case LINK_ATTEMPT_CONNECTING:
        return VENUE_CONNECTING;
    case LINK_ATTEMPT_ENDED:
        return VENUE_FINAL;
    case LINK_ATTEMPT_DUE:
        return link->refused ? VENUE_FAILED : VENUE_WAITING;
    default:
        return VENUE_DOWN;
    }
}

int64_t net_link_retry_ms(const struct link *link)
{
    return link->attempt == LINK_ATTEMPT_DUE ? later(link->retry_ms, link->hold_ms) : 0;
}

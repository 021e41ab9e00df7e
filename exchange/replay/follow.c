#include "exchange/replay/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct follow_kept {
    uint64_t first_id, last_id;
    size_t n_bids, n_asks;
};

void replay_follow_init(struct follow *follow)
{
    *follow = (struct follow){.bids.bid = true};
}

void replay_follow_finish(struct follow *follow)
{
    replay_ladder_finish(&follow->bids);
    replay_ladder_finish(&follow->asks);
    free(follow->kept);
    free(follow->levels);
    replay_follow_init(follow);
}

static int set_all(struct replay_ladder *side, const struct level *levels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (replay_ladder_set(side, levels[i].price, levels[i].qty) < 0)
            return -ENOMEM;
    return 0;
}

/* From the worst on, so that each level is appended. */
static int set_snapshot(struct replay_ladder *side, const struct level *levels, size_t n)
{
    side->n = 0;
    for (size_t i = n; i > 0; i--)
        if (replay_ladder_set(side, levels[i - 1].price, levels[i - 1].qty) < 0)
            return -ENOMEM;
    return 0;
}

static int apply(struct follow *follow, uint64_t last_id, const struct level *bids, size_t n_bids,
                 const struct level *asks, size_t n_asks)
{
    if (set_all(&follow->bids, bids, n_bids) < 0 || set_all(&follow->asks, asks, n_asks) < 0)
        return -ENOMEM;
    follow->last_id = last_id;
    return 0;
}

static void drop_kept(struct follow *follow)
{
    follow->n_kept = follow->n_levels = 0;
}

static int keep(struct follow *follow, const struct follow_kept *what, const struct frame_levels *l)
{
    size_t n = l->n_bids + l->n_asks;
    if (follow->n_kept == follow->cap_kept) {
        size_t cap = follow->cap_kept ? 2 * follow->cap_kept : 64;
        struct follow_kept *grown = reallocarray(follow->kept, cap, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        follow->kept = grown;
        follow->cap_kept = cap;
    }
    if (follow->n_levels + n > follow->cap_levels) {
        size_t cap = 2 * (follow->n_levels + n);
        struct level *grown = reallocarray(follow->levels, cap, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        follow->levels = grown;
        follow->cap_levels = cap;
    }
    follow->kept[follow->n_kept++] = *what;
    if (l->n_bids > 0)
        memcpy(follow->levels + follow->n_levels, l->bids, l->n_bids * sizeof(*l->bids));
    if (l->n_asks > 0)
        memcpy(follow->levels + follow->n_levels + l->n_bids, l->asks, l->n_asks * sizeof(*l->asks));
    follow->n_levels += n;
    return 0;
}

int replay_follow_snapshot(struct follow *follow, uint64_t last_id, const struct frame_levels *levels)
{
    bool old = follow->has_snapshot && last_id <= follow->last_id;
    bool apart = follow->n_kept > 0 && last_id + 1 < follow->kept[0].first_id;
    if (old || apart)
        return 0;
    if (set_snapshot(&follow->bids, levels->bids, levels->n_bids) < 0 ||
        set_snapshot(&follow->asks, levels->asks, levels->n_asks) < 0)
        return -ENOMEM;
    follow->last_id = last_id;
    follow->has_snapshot = true;
    follow->lost = false;
    const struct level *at = follow->levels;
    for (size_t i = 0; i < follow->n_kept; i++) {
        const struct follow_kept *k = &follow->kept[i];
        if (k->last_id > follow->last_id &&
            apply(follow, k->last_id, at, k->n_bids, at + k->n_bids, k->n_asks) < 0)
            return -ENOMEM;
        at += k->n_bids + k->n_asks;
    }
    drop_kept(follow);
    return 0;
}

int replay_follow_update(struct follow *follow, uint64_t first_id, uint64_t last_id,
                         const struct frame_levels *levels, bool keep_it)
{
    const struct follow_kept what = {first_id, last_id, levels->n_bids, levels->n_asks};
    uint64_t known = follow->n_kept > 0 ? follow->kept[follow->n_kept - 1].last_id : follow->last_id;
    bool hole = known > 0 && first_id > known + 1;
    if (last_id <= known)
        return 0;
    if (hole) {
        drop_kept(follow);
        follow->lost = follow->has_snapshot;
        if (!follow->lost)
            follow->bids.n = follow->asks.n = 0;
    }
    if (follow->lost)
        return keep_it ? keep(follow, &what, levels) : 0;
    return apply(follow, last_id, levels->bids, levels->n_bids, levels->asks, levels->n_asks);
}

bool replay_follow_book(const struct follow *follow, struct source_book *ret)
{
    if (follow->last_id == 0 || follow->lost)
        return false;
    *ret = (struct source_book){&follow->bids, &follow->asks, follow->last_id};
    return true;
}

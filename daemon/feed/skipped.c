/* Parts of a venue's replies that were not used: each is reported once, however often the venue sends it. */
#include "daemon/feed/internal.h"

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static bool is_new(struct feed *feed, uint64_t hash)
{
    for (size_t i = 0; i < FEED_SKIPPED_MAX && i < feed->n_skipped; i++)
        if (feed->skipped[i] == hash)
            return false;
    feed->skipped[feed->n_skipped++ % FEED_SKIPPED_MAX] = hash;
    return true;
}

void feed_skipped(struct feed *feed, const struct venue_reply *reply)
{
    const struct venue_skipped *said = reply->skipped;
    if (reply->error || !said)
        return;
    for (size_t i = 0; i < said->n && i < VENUE_SKIPPED_MAX; i++)
        if (is_new(feed, hash_of(said->list[i].text)))
            feed_alert(feed, DB_WARNING, "left-out", "%s", said->list[i].text);
    if (said->n > VENUE_SKIPPED_MAX && is_new(feed, said->n))
        feed_alert(feed, DB_WARNING, "left-out", "%zu more of one reply are left out",
                   said->n - VENUE_SKIPPED_MAX);
}

#include "exchange/binance/renew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct held {
    struct held *next;
    uint64_t id, hash;
    size_t len;
    char data[];
};

/* One stream. Its emitted messages are known by the last id and the hashes that were emitted with that id. */
struct entry {
    char name[RENEW_NAME_MAX];
    size_t name_len;
    bool emitted, joined, first_known;
    bool reached[2]; /* by side (while one is alone: RENEW_OLD): has it brought the last that was emitted? */
    uint64_t last_id, last[RENEW_TIES_MAX];
    size_t n_last;            /* since that id began; the ring holds the newest */
    uint64_t first_id, first; /* of the new one: id and hash */
    struct held *held, **held_end;
};

struct renew {
    renew_emit *emit;
    void *user;
    bool active, both;
    struct entry **entries; /* open addressing, by name; a power of two */
    size_t n, cap;
    size_t held, held_bytes;
    size_t behind; /* while one is alone: streams of which it has not brought yet what the user had */
    uint64_t doubled;
};

struct renew *binance_renew_create(renew_emit *emit, void *user)
{
    struct renew *renew = calloc(1, sizeof(*renew));
    if (!renew)
        return NULL;
    renew->emit = emit;
    renew->user = user;
    return renew;
}

static void drop_held(struct renew *renew, struct entry *entry)
{
    struct held *held = entry->held;
    entry->held = held->next;
    if (!entry->held)
        entry->held_end = &entry->held;
    renew->held--;
    renew->held_bytes -= held->len;
    free(held);
}

void binance_renew_reset(struct renew *renew)
{
    for (size_t i = 0; i < renew->cap; i++) {
        struct entry *entry = renew->entries[i];
        while (entry && entry->held)
            drop_held(renew, entry);
        free(entry);
    }
    free(renew->entries);
    renew->entries = NULL;
    renew->n = renew->cap = renew->behind = 0;
    renew->active = renew->both = false;
}

void binance_renew_destroy(struct renew *renew)
{
    if (!renew)
        return;
    binance_renew_reset(renew);
    free(renew);
}

static uint64_t hash_name(struct json_text name)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * 1099511628211u;
    return hash ^ hash >> 32;
}

/* The slot where the name is, or would be. */
static struct entry **slot_of(struct renew *renew, struct json_text name)
{
    for (size_t i = hash_name(name);; i++) {
        struct entry **slot = &renew->entries[i & (renew->cap - 1)];
        if (!*slot || ((*slot)->name_len == name.len && memcmp((*slot)->name, name.data, name.len) == 0))
            return slot;
    }
}

static bool grow(struct renew *renew)
{
    size_t cap = renew->cap ? renew->cap * 2 : 64, old_cap = renew->cap;
    struct entry **old = renew->entries, **entries = calloc(cap, sizeof(*entries));
    if (!entries)
        return false;
    renew->entries = entries;
    renew->cap = cap;
    for (size_t i = 0; i < old_cap; i++)
        if (old[i])
            *slot_of(renew, (struct json_text){old[i]->name, old[i]->name_len}) = old[i];
    free(old);
    return true;
}

static struct entry *entry_of(struct renew *renew, struct json_text name)
{
    if (name.len >= RENEW_NAME_MAX || (2 * renew->n >= renew->cap && !grow(renew)))
        return NULL;
    struct entry **slot = slot_of(renew, name);
    if (*slot)
        return *slot;
    struct entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    memcpy(entry->name, name.data, name.len);
    entry->name_len = name.len;
    entry->held_end = &entry->held;
    renew->n++;
    *slot = entry;
    return entry;
}

/* Does the user have this message, or a later one of its stream? */
static bool was_emitted(const struct entry *entry, uint64_t id, uint64_t hash)
{
    if (!entry->emitted || id != entry->last_id)
        return entry->emitted && id < entry->last_id;
    for (size_t i = 0; i < entry->n_last && i < RENEW_TIES_MAX; i++)
        if (entry->last[i] == hash)
            return true;
    return false;
}

static void emit_message(struct renew *renew, struct entry *entry, enum renew_side side, uint64_t id,
                         uint64_t hash, const char *data, size_t len)
{
    if (!entry->emitted || id != entry->last_id)
        entry->n_last = 0;
    entry->emitted = true;
    entry->reached[side] = true;
    entry->reached[!side] = false;
    entry->last_id = id;
    entry->last[entry->n_last++ % RENEW_TIES_MAX] = hash;
    renew->emit(renew->user, data, len);
}

/* A message that the user has already. */
static void leave_out(struct renew *renew, struct entry *entry, enum renew_side side, uint64_t id,
                      uint64_t hash)
{
    renew->doubled++;
    if (id == entry->last_id && hash == entry->last[(entry->n_last - 1) % RENEW_TIES_MAX])
        entry->reached[side] = true;
}

/* Emits what is held of a stream, except what the user has. */
static void release(struct renew *renew, struct entry *entry)
{
    while (entry->held) {
        struct held *held = entry->held;
        if (was_emitted(entry, held->id, held->hash))
            leave_out(renew, entry, RENEW_NEW, held->id, held->hash);
        else
            emit_message(renew, entry, RENEW_NEW, held->id, held->hash, held->data, held->len);
        drop_held(renew, entry);
    }
}

static int hold(struct renew *renew, struct entry *entry, const struct binance_identity *identity,
                const char *data, size_t len)
{
    if (renew->held_bytes + len > RENEW_HELD_MAX)
        return -ENOBUFS;
    struct held *held = malloc(sizeof(*held) + len);
    if (!held)
        return -ENOMEM;
    held->next = NULL;
    held->id = identity->id;
    held->hash = identity->hash;
    held->len = len;
    memcpy(held->data, data, len);
    *entry->held_end = held;
    entry->held_end = &held->next;
    renew->held++;
    renew->held_bytes += len;
    return 0;
}

void binance_renew_begin(struct renew *renew)
{
    for (size_t i = 0; i < renew->cap; i++) {
        struct entry *entry = renew->entries[i];
        if (entry)
            entry->joined = entry->first_known = entry->reached[RENEW_NEW] = false;
    }
    renew->active = renew->both = true;
    renew->behind = 0;
}

/* Has the old one brought the new one's first message? */
static bool joins(const struct entry *entry)
{
    return entry->first_known && was_emitted(entry, entry->first_id, entry->first);
}

static int frame_of_both(struct renew *renew, struct entry *entry, enum renew_side side,
                         const struct binance_identity *identity, const char *data, size_t len)
{
    if (side == RENEW_NEW && !entry->joined) {
        if (!entry->first_known) {
            entry->first_known = true;
            entry->first_id = identity->id;
            entry->first = identity->hash;
        }
        entry->joined = joins(entry);
        if (!entry->joined)
            return hold(renew, entry, identity, data, len);
    }
    if (was_emitted(entry, identity->id, identity->hash))
        leave_out(renew, entry, side, identity->id, identity->hash);
    else
        emit_message(renew, entry, side, identity->id, identity->hash, data, len);
    if (!entry->joined && joins(entry)) {
        entry->joined = true;
        release(renew, entry);
    }
    return 0;
}

static int frame_of_one(struct renew *renew, struct entry *entry, const struct binance_identity *identity,
                        const char *data, size_t len)
{
    bool behind = entry->emitted && !entry->reached[RENEW_OLD];
    if (behind && was_emitted(entry, identity->id, identity->hash))
        leave_out(renew, entry, RENEW_OLD, identity->id, identity->hash);
    else
        emit_message(renew, entry, RENEW_OLD, identity->id, identity->hash, data, len);
    if (behind && entry->reached[RENEW_OLD] && --renew->behind == 0)
        binance_renew_reset(renew);
    return 0;
}

int binance_renew_frame(struct renew *renew, enum renew_side side, const struct binance_identity *identity,
                        const char *data, size_t len)
{
    if (!renew->active) {
        renew->emit(renew->user, data, len);
        return 0;
    }
    struct entry *entry = entry_of(renew, identity->stream);
    if (!entry) {
        if (side == RENEW_NEW && renew->both)
            return -ENOMEM;
        renew->emit(renew->user, data, len);
        return 0;
    }
    return renew->both ? frame_of_both(renew, entry, side, identity, data, len)
                       : frame_of_one(renew, entry, identity, data, len);
}

void binance_renew_end(struct renew *renew, enum renew_side gone)
{
    if (!renew->both)
        return;
    renew->both = false;
    renew->behind = 0;
    for (size_t i = 0; i < renew->cap; i++) {
        struct entry *entry = renew->entries[i];
        if (!entry)
            continue;
        if (gone == RENEW_OLD)
            release(renew, entry);
        while (entry->held)
            drop_held(renew, entry);
        entry->reached[RENEW_OLD] = entry->reached[!gone];
        renew->behind += entry->emitted && !entry->reached[RENEW_OLD];
    }
    if (renew->behind == 0)
        binance_renew_reset(renew);
}

bool binance_renew_active(const struct renew *renew)
{
    return renew->active;
}

bool binance_renew_both(const struct renew *renew)
{
    return renew->both;
}

bool binance_renew_caught_up(const struct renew *renew)
{
    return renew->held == 0;
}

uint64_t binance_renew_doubled(const struct renew *renew)
{
    return renew->doubled;
}

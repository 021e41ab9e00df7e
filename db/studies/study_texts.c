#include "db/studies/study_build.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64 };

struct slot {
    char *text; /* NULL: free */
    uint64_t hash;
    int index;
};
struct study_texts {
    struct slot *slots; /* [n_slots], a power of two, at most half full */
    size_t n_slots, n;
};

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

struct study_texts *study_texts_create(void)
{
    struct study_texts *texts = calloc(1, sizeof *texts);
    if (texts && !(texts->slots = calloc(SLOTS_FIRST, sizeof *texts->slots))) {
        free(texts);
        return NULL;
    }
    if (texts)
        texts->n_slots = SLOTS_FIRST;
    return texts;
}

void study_texts_destroy(struct study_texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->n_slots; i++)
        free(texts->slots[i].text);
    free(texts->slots);
    free(texts);
}

/* The slot of the text, or its free one. */
static struct slot *place(struct slot *slots, size_t n_slots, const char *text, uint64_t hash)
{
    size_t at = hash & (n_slots - 1);
    while (slots[at].text && (slots[at].hash != hash || strcmp(slots[at].text, text) != 0))
        at = (at + 1) & (n_slots - 1);
    return &slots[at];
}

int study_texts_find(const struct study_texts *texts, const char *text)
{
    const struct slot *slot = place(texts->slots, texts->n_slots, text, hash_of(text));
    return slot->text ? slot->index : -1;
}

int study_texts_add(struct study_texts *texts, const char *text, int index)
{
    uint64_t hash = hash_of(text);
    char *copy = strdup(text);
    if (!copy)
        return -ENOMEM;
    if (texts->n * 2 >= texts->n_slots) {
        size_t n_slots = texts->n_slots * 2;
        struct slot *slots = calloc(n_slots, sizeof *slots);
        if (!slots) {
            free(copy);
            return -ENOMEM;
        }
        for (size_t i = 0; i < texts->n_slots; i++)
            if (texts->slots[i].text)
                *place(slots, n_slots, texts->slots[i].text, texts->slots[i].hash) = texts->slots[i];
        free(texts->slots);
        texts->slots = slots;
        texts->n_slots = n_slots;
    }
    *place(texts->slots, texts->n_slots, text, hash) = (struct slot){copy, hash, index};
    texts->n++;
    return 0;
}

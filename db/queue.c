#include "db/queue.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_CAPACITY = 1 << 16 };

void db_queue_finish(struct db_queue *queue)
{
    free(queue->data);
    *queue = (struct db_queue){0};
}

static bool reserve(struct db_queue *queue, size_t more)
{
    if (more <= queue->capacity - queue->size)
        return true;
    size_t capacity = queue->capacity ? queue->capacity : FIRST_CAPACITY;
    while (capacity - queue->size < more)
        capacity *= 2;
    unsigned char *data = aligned_alloc(ALIGNMENT, capacity);
    if (!data)
        return false;
    if (queue->size)
        memcpy(data, queue->data, queue->size);
    free(queue->data);
    queue->data = data;
    queue->capacity = capacity;
    return true;
}

bool db_queue_append(struct db_queue *queue, enum db_row_kind kind, uint64_t ticket, uint64_t event,
                     const void *row, size_t row_size, const char *const *texts, int n_texts)
{
    size_t size = sizeof(struct db_row_header) + row_size;
    for (int i = 0; i < n_texts; i++)
        size += strlen(texts[i]) + 1;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > UINT32_MAX || !reserve(queue, size))
        return false;

    unsigned char *at = queue->data + queue->size;
    struct db_row_header header = {
        .size = (uint32_t)size, .kind = (uint16_t)kind, .ticket = ticket, .event = event};
    memcpy(at, &header, sizeof header);
    memcpy(at + sizeof header, row, row_size);
    char *text = (char *)at + sizeof header + row_size;
    for (int i = 0; i < n_texts; i++)
        text = stpcpy(text, texts[i]) + 1;
    queue->size += size;
    return true;
}

void db_queue_end_group(struct db_queue *queue, size_t last_row_offset)
{
    struct db_row_header *header = (struct db_row_header *)(void *)(queue->data + last_row_offset);
    header->group_end = 1;
}

bool db_queue_move(struct db_queue *to, struct db_queue *from)
{
    if (to->size == 0) {
        struct db_queue empty = *to;
        *to = *from;
        *from = empty;
        return true;
    }
    if (!reserve(to, from->size))
        return false;
    if (from->size)
        memcpy(to->data + to->size, from->data, from->size);
    to->size += from->size;
    from->size = 0;
    return true;
}

#include "daemon/log_ring.h"

static struct log_slot *slot_of(struct log_ring *ring, size_t number)
{
    return &ring->slots[number % LOG_RING_SLOTS];
}

void daemon_log_ring_init(struct log_ring *ring)
{
    for (size_t i = 0; i < LOG_RING_SLOTS; i++)
        atomic_init(&ring->slots[i].turn, i);
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->head, 0);
}

struct log_slot *daemon_log_ring_claim(struct log_ring *ring)
{
    size_t number = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (;;) {
        struct log_slot *slot = slot_of(ring, number);
        size_t turn = atomic_load_explicit(&slot->turn, memory_order_acquire);
        if (turn != number) {
            size_t now = atomic_load_explicit(&ring->tail, memory_order_relaxed);
            if (now == number)
                return NULL; /* it still has the entry of a round ago */
            number = now;
        } else if (atomic_compare_exchange_weak_explicit(&ring->tail, &number, number + 1,
                                                         memory_order_relaxed, memory_order_relaxed)) {
            return slot;
        }
    }
}

void daemon_log_ring_publish(struct log_slot *slot, size_t len)
{
    slot->len = len;
    atomic_fetch_add_explicit(&slot->turn, 1, memory_order_release);
}

struct log_slot *daemon_log_ring_oldest(struct log_ring *ring)
{
    size_t number = atomic_load_explicit(&ring->head, memory_order_relaxed);
    struct log_slot *slot = slot_of(ring, number);
    return atomic_load_explicit(&slot->turn, memory_order_acquire) == number + 1 ? slot : NULL;
}

void daemon_log_ring_drop(struct log_ring *ring)
{
    size_t number = atomic_load_explicit(&ring->head, memory_order_relaxed);
    atomic_store_explicit(&ring->head, number + 1, memory_order_relaxed);
    atomic_store_explicit(&slot_of(ring, number)->turn, number + LOG_RING_SLOTS, memory_order_release);
}

size_t daemon_log_ring_used(const struct log_ring *ring)
{
    size_t head = atomic_load(&ring->head), tail = atomic_load(&ring->tail);
    return tail > head ? tail - head : 0;
}

void daemon_log_ring_each(struct log_ring *ring, void (*see)(const char *bytes, size_t len))
{
    size_t tail = atomic_load(&ring->tail);
    for (size_t number = atomic_load(&ring->head); number < tail; number++) {
        const struct log_slot *slot = slot_of(ring, number);
        if (atomic_load_explicit(&slot->turn, memory_order_acquire) == number + 1)
            see(slot->bytes, slot->len);
    }
}

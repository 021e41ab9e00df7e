#include "exchange/replay/broker/faults.h"

#include <stdlib.h>
#include <uv.h>

enum order_fault { NO_FAULT, LOST_REQUEST, LOST_ANSWER, TWICE, DONE_5XX, NOT_DONE_5XX, LATE };

enum { LATE_MAX = 1000 };

static enum order_fault fault_of(struct broker_faults *of)
{
    const struct faults *f = of->faults;
    const struct {
        bool on;
        enum order_fault fault;
    } all[] = {{f->order_lost_request, LOST_REQUEST},
               {f->order_lost_answer, LOST_ANSWER},
               {f->order_twice, TWICE},
               {f->order_5xx_done, DONE_5XX},
               {f->order_5xx_not_done, NOT_DONE_5XX},
               {f->order_late_ns > 0, LATE}};
    enum order_fault set[sizeof(all) / sizeof(*all)];
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i].on)
            set[n++] = all[i].fault;
    const uint64_t number = of->placed++;
    if (n == 0 || number % FAULT_ORDER_EVERY != FAULT_ORDER_EVERY - 1)
        return NO_FAULT;
    return set[number / FAULT_ORDER_EVERY % n];
}

/* The answer is a timeout's; the order comes later. */
static void delay(struct broker_faults *of, const struct broker_placing *p)
{
    struct broker_late late = {.until_ns = INT64_MAX};
    if (!p->read(p->call, &late))
        return;
    if (!of->late)
        of->late = calloc(LATE_MAX, sizeof(*of->late));
    late.due_ns = uv_hrtime() + (uint64_t)of->faults->order_late_ns;
    if (of->late && of->n_late < LATE_MAX)
        of->late[of->n_late++] = late;
    p->unknown(p->call);
}

bool replay_broker_place_with_faults(struct broker_faults *of, const struct broker_placing *p)
{
    enum order_fault fault = fault_of(of);
    switch (fault) {
    case LOST_REQUEST:
        return false;
    case NOT_DONE_5XX:
        p->unknown(p->call);
        return true;
    case LATE:
        delay(of, p);
        return true;
    case TWICE:
        p->place(p->call);
        p->clear(p->call);
        break;
    case NO_FAULT:
    case LOST_ANSWER:
    case DONE_5XX:
        break;
    }
    p->place(p->call);
    if (fault == DONE_5XX)
        p->unknown(p->call);
    return fault != LOST_ANSWER;
}

void replay_broker_arrivals(struct broker_faults *of, int64_t server_ns,
                            void (*arrive)(void *user, const struct broker_late *late), void *user)
{
    const uint64_t now = uv_hrtime();
    size_t kept = 0;
    for (size_t i = 0; i < of->n_late; i++) {
        const struct broker_late late = of->late[i];
        if (late.due_ns > now)
            of->late[kept++] = late;
        else if (server_ns <= late.until_ns)
            arrive(user, &late);
    }
    of->n_late = kept;
}

void replay_broker_faults_finish(struct broker_faults *of)
{
    free(of->late);
    of->late = NULL;
    of->n_late = 0;
}

void replay_broker_event(struct broker_events *events, const struct faults *faults, char *text,
                         void (*say)(void *user, const char *text), void *user)
{
    if (!text)
        return;
    const bool hit = ++events->sent % FAULT_ORDER_EVERY == 0;
    if (hit && faults->user_reorder && !events->late) {
        events->late = text; /* after the next one */
        return;
    }
    if (!(hit && faults->user_drop))
        say(user, text);
    if (hit && faults->user_dup)
        say(user, text);
    if (events->late)
        say(user, events->late);
    free(events->late);
    events->late = NULL;
    free(text);
}

/* One answer for many: clients that ask for it wait for the next one that is built, and read that. */
#include <stdlib.h>

#include "exchange/net/control_internal.h"

void control_share(struct control_call *call)
{
    call->shared = true;
}

/* A client that still has an earlier text to read gets no other. */
static bool takes(const struct control_connection *connection)
{
    if (!connection || connection->n_shared > 0)
        return false;
    for (const struct control_call *call = connection->calls; call; call = call->next)
        if (call->shared)
            return true;
    return false;
}

bool control_shared_awaited(const struct control *control)
{
    for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (takes(control->connections[i]))
            return true;
    return false;
}

/* ---- what is unread ---- */

static const struct control_text *unread(const struct control_connection *connection)
{
    if (!connection || connection->n_shared == 0)
        return NULL;
    const struct control_output *output = connection->output;
    while (output && !output->text->shared)
        output = output->next;
    return output ? output->text : NULL;
}

/* The bytes of all texts that are unread, each once. */
static size_t unread_bytes(const struct control *control)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        const struct control_text *text = unread(control->connections[i]);
        unsigned before = 0;
        while (before < i && unread(control->connections[before]) != text)
            before++;
        bytes += text && before == i ? text->len : 0;
    }
    return bytes;
}

static void close_longest_unread(struct control *control)
{
    int found = -1;
    for (int i = 0; i < CONTROL_CLIENTS_MAX; i++)
        if (unread(control->connections[i]) &&
            (found < 0 || control->places.place[i].active_ns < control->places.place[found].active_ns))
            found = i;
    control->seen.displaced++;
    control_connection_close(control->connections[found]);
}

/* ---- building and sending ---- */

static void give(struct control *control, struct control_text *text)
{
    for (unsigned i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct control_connection *connection = control->connections[i];
        if (!takes(connection))
            continue;
        control_answer_shared(connection, text);
        if (connection->control)
            control_wake(connection);
    }
}

void control_shared_run(struct control *control)
{
    int64_t began_ns = control_now_ns();
    if (control->closing || began_ns < control->shared_from_ns || !control_shared_awaited(control))
        return;
    size_t max = control->places.limits.unread_shared;
    while (unread_bytes(control) > max)
        close_longest_unread(control);
    struct control_text *text = control->options.shared(control->options.ctx);
    if (text)
        text->shared = true;
    give(control, text);
    control_text_unref(text);
    int64_t end_ns = control_now_ns(), pause_ns = (end_ns - began_ns) * CONTROL_SHARED_PAUSE;
    if (pause_ns < CONTROL_SHARED_PAUSE_MIN_NS)
        pause_ns = CONTROL_SHARED_PAUSE_MIN_NS;
    control->shared_from_ns = end_ns + pause_ns;
}

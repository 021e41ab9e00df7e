/* A tape's messages as text, for tests of recordings. */
#ifndef TESTS_REPLAY_RECEIVED_H
#define TESTS_REPLAY_RECEIVED_H

#include "exchange/replay/source.h"
#include "tests/check.h"

/* The received messages, a line each: stream, space, data. */
struct received {
    char *text;
    size_t len, cap;
    size_t messages;
};

static void receive(void *user, struct replay_stream *stream, int unit, const char *data, size_t len)
{
    struct received *h = user;
    (void)unit;
    size_t more = stream->name_len + len + 3;
    if (h->cap - h->len < more) {
        h->cap = (h->cap + more) * 2;
        h->text = realloc(h->text, h->cap);
        if (!h->text)
            abort();
    }
    h->len += (size_t)sprintf(h->text + h->len, "%s %.*s\n", stream->name, (int)len, data);
    h->messages++;
}

static void listen_to(struct tape *tape, struct received *h, const char *const *names, size_t n)
{
    tape->deliver = receive;
    tape->user = h;
    for (size_t i = 0; i < n; i++)
        CHECK_INT(replay_tape_listen(tape, names[i], strlen(names[i]), h, true, STREAM_MS), 0);
}

static void play_all(struct replay_source *source)
{
    int64_t before = INT64_MIN;
    for (int64_t due; (due = source->ops->due(source)) != INT64_MAX; before = due) {
        CHECK(due >= before);
        CHECK_INT(source->ops->step(source), 0);
    }
}

#endif

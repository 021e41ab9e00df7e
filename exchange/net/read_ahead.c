#include "exchange/net/read_ahead.h"

#include <openssl/ssl.h>

#include "exchange/net/internal.h"

enum {
    AHEAD_BYTES = 64 << 10, /* as much as a read takes: 300 frames of 200 bytes */
    TURN_MAX = 512,         /* records of a connection before others have their turn */
    WRITE_EVERY = 64,
};

void net_reader_start(struct net_context *net, struct net_reader *reader, struct lws **wsi)
{
    SSL *tls = lws_get_ssl(*wsi);
    if (!tls || reader->here)
        return;
    SSL_set_default_read_buffer_len(tls, AHEAD_BYTES);
    SSL_set_read_ahead(tls, 1);
    reader->wsi = wsi;
    reader->next = net->readers;
    reader->here = &net->readers;
    if (reader->next)
        reader->next->here = &reader->next;
    net->readers = reader;
}

void net_reader_stop(struct net_reader *reader)
{
    if (!reader->here)
        return;
    *reader->here = reader->next;
    if (reader->next)
        reader->next->here = reader->here;
    reader->here = NULL;
}

/* Whole records, or the begin of one that was not yet followed by a read in vain. */
static bool has_more(const struct net_reader *reader)
{
    if (!reader->here || reader->held || !*reader->wsi)
        return false;
    SSL *tls = lws_get_ssl(*reader->wsi);
    return tls && SSL_has_pending(tls) && !SSL_want_read(tls);
}

/* Is there more after so many? Without progress libwebsockets waits for something else.
 *
 * After a record that was no data, as a ping, what is to be written leaves first, as between polls:
 * libwebsockets remembers one ping, and drops those that come before its pong has left. And now and then,
 * since a record may have data too; not always: that is a call to the kernel in libuv. */
static bool hand_on(struct net_context *net, struct net_reader *reader)
{
    uint64_t before = reader->received, last = before - 1;
    for (int n = 0; n < TURN_MAX && has_more(reader); n++) {
        short events =
            reader->received == last || n % WRITE_EVERY == 0 ? LWS_POLLIN | LWS_POLLOUT : LWS_POLLIN;
        struct lws_pollfd ready = {
            .fd = lws_get_socket_fd(*reader->wsi), .events = events, .revents = events};
        last = reader->received;
        lws_service_fd(net->lws, &ready);
    }
    return reader->received != before && has_more(reader);
}

static void on_no_wait(uv_idle_t *idle)
{
    (void)idle; /* only that the poll does not wait */
}

static void before_poll(uv_prepare_t *prepare)
{
    struct net_context *net = prepare->data;
    bool more = false;
    for (struct net_reader *reader = net->readers, *next; reader; reader = next) {
        more |= hand_on(net, reader);
        next = reader->next;
    }
    if (more)
        uv_idle_start(&net->no_wait, on_no_wait);
    else
        uv_idle_stop(&net->no_wait);
}

void net_read_ahead_init(struct net_context *net)
{
    uv_prepare_init(net->loop, &net->before_poll); /* neither of them can fail */
    uv_idle_init(net->loop, &net->no_wait);
    net->before_poll.data = net->no_wait.data = net;
    uv_prepare_start(&net->before_poll, before_poll);
    uv_unref((uv_handle_t *)&net->before_poll);
    net->handles += 2;
}

static void on_closed(uv_handle_t *handle)
{
    struct net_context *net = handle->data;
    net->handles--;
}

void net_read_ahead_finish(struct net_context *net)
{
    uv_close((uv_handle_t *)&net->before_poll, on_closed);
    uv_close((uv_handle_t *)&net->no_wait, on_closed);
}

#include "exchange/replay/client.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/bio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "exchange/replay/serve.h"
#include "exchange/replay/transcript.h"

enum {
    GATHER_BYTES = 64 << 10,
    WRITE_BYTES = 256 << 10, /* in one turn, so that other clients get theirs */
};

struct message *replay_message_new(enum lws_write_protocol protocol, size_t len)
{
    struct message *message = malloc(sizeof(*message) + LWS_PRE + len);
    if (message) {
        message->refs = 1;
        message->protocol = protocol;
        message->len = len;
    }
    return message;
}

void replay_message_unref(struct message *message)
{
    if (message && --message->refs == 0)
        free(message);
}

/* lws writes each frame by itself, at a TLS record and a system call each, which would be most of the work.
 * So the records of one turn are gathered in a buffering BIO and go to the socket together. */
static void gather_writes(struct client *client)
{
    client->ssl = lws_get_ssl(client->wsi);
    BIO *socket = client->ssl ? SSL_get_wbio(client->ssl) : NULL;
    BIO *gather = socket ? BIO_new(BIO_f_buffer()) : NULL;
    if (!gather || BIO_set_write_buffer_size(gather, GATHER_BYTES) != 1 || BIO_up_ref(socket) != 1) {
        BIO_free(gather);
        client->ssl = NULL;
        return;
    }
    SSL_set0_wbio(client->ssl, BIO_push(gather, socket));
}

int replay_client_init(struct client *client, struct server *server, struct lws *wsi)
{
    *client = (struct client){.server = server, .wsi = wsi};
    client->last_ping_ns = client->last_pong_ns = uv_hrtime();
    gather_writes(client);
    return 0;
}

void replay_client_drop_queue(struct client *client)
{
    for (; client->n_queued > 0; client->n_queued--) {
        replay_message_unref(client->queue[client->head]);
        client->head = (client->head + 1) % client->cap_queue;
    }
    client->queued_bytes = 0;
}

void replay_client_finish(struct client *client)
{
    replay_client_drop_queue(client);
    replay_message_unref(client->held);
    replay_message_unref(client->piece);
    free(client->queue);
    text_finish(&client->received);
}

static void ask_writable(struct client *client)
{
    if (!client->writable_asked) {
        client->writable_asked = true;
        lws_callback_on_writable(client->wsi);
    }
}

static bool grow_queue(struct client *client)
{
    size_t cap = client->cap_queue ? client->cap_queue * 2 : 256;
    struct message **queue = calloc(cap, sizeof(*queue));
    if (!queue)
        return false;
    for (size_t i = 0; i < client->n_queued; i++)
        queue[i] = client->queue[(client->head + i) % client->cap_queue];
    free(client->queue);
    client->queue = queue;
    client->cap_queue = cap;
    client->head = 0;
    return true;
}

void replay_client_push(struct client *client, struct message *message)
{
    if (client->close_code || client->end_code || client->frozen)
        return;
    if (client->n_queued == client->cap_queue && !grow_queue(client)) {
        replay_client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
        return;
    }
    if (client->queued_bytes + message->len > CLIENT_QUEUE_MAX) {
        fprintf(stderr,
                "papertape-replay: client too slow: %zu messages queued: read faster, or use --speed max\n",
                client->n_queued);
        replay_client_close(client, LWS_CLOSE_STATUS_POLICY_VIOLATION, "client too slow");
        return;
    }
    if (message->protocol == LWS_WRITE_TEXT || message->protocol == LWS_WRITE_BINARY)
        replay_transcript_message(client->server->transcript, client->number,
                                  message->protocol == LWS_WRITE_BINARY, message_text(message), message->len);
    message->refs++;
    client->queue[(client->head + client->n_queued++) % client->cap_queue] = message;
    client->queued_bytes += message->len;
    ask_writable(client);
}

void replay_client_say(struct client *client, const char *text, size_t len)
{
    struct message *message = replay_message_new(LWS_WRITE_TEXT, len);
    if (!message) {
        replay_client_close(client, LWS_CLOSE_STATUS_UNEXPECTED_CONDITION, "out of memory");
        return;
    }
    memcpy(message_text(message), text, len);
    replay_client_push(client, message);
    replay_message_unref(message);
}

void replay_client_ping(struct client *client, uint64_t number)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%" PRIu64, number);
    struct message *message = replay_message_new(LWS_WRITE_PING, (size_t)len);
    if (!message)
        return; /* the next one asks again */
    memcpy(message_text(message), text, (size_t)len);
    replay_client_push(client, message);
    replay_message_unref(message);
    client->last_ping_ns = uv_hrtime();
}

void replay_client_close(struct client *client, int code, const char *reason)
{
    if (client->close_code)
        return;
    replay_client_drop_queue(client);
    client->close_code = code;
    client->close_reason = reason;
    /* replay_client_turn() does it: a close from lws's WRITEABLE callback would send no close frame. */
}

void replay_client_end(struct client *client, int code, const char *reason)
{
    if (client->close_code || client->end_code)
        return;
    client->end_code = code;
    client->end_reason = reason;
    ask_writable(client);
}

bool replay_client_behind(const struct client *client)
{
    return client->paced && client->listening && !client->close_code &&
           client->ping_seq - client->pong_seq >= CLIENT_WINDOWS_AHEAD;
}

/* Hands gathered bytes to the socket; asks for another turn when it takes no more. */
static void flush(struct client *client)
{
    BIO *gather = client->ssl ? SSL_get_wbio(client->ssl) : NULL;
    if (gather && BIO_wpending(gather) > 0 && BIO_flush(gather) <= 0 && BIO_should_retry(gather))
        ask_writable(client);
}

/* Writes the next fragment of the message that is being sent: a third of it, or the rest. */
static int write_fragment(struct client *client)
{
    struct message *m = client->piece;
    size_t left = m->len - client->piece_at, n = m->len / 3 + 1;
    bool first = client->piece_at == 0, last = n >= left;
    unsigned char *at = message_text(m) + client->piece_at;
    unsigned char kept[LWS_PRE];
    if (last)
        n = left;
    int how = lws_write_ws_flags(m->protocol, first, last);
    /* libwebsockets writes a header before the bytes: the next client that gets them needs what is there
     * now. */
    memcpy(kept, at - LWS_PRE, LWS_PRE);
    int written = lws_write(client->wsi, at, n, (enum lws_write_protocol)how);
    memcpy(at - LWS_PRE, kept, LWS_PRE);
    client->piece_at += n;
    if (last) {
        replay_message_unref(m);
        client->piece = NULL;
    }
    return written < 0 ? -1 : (int)n;
}

static int write_next(struct client *client)
{
    const struct faults *faults = client->server->faults;
    if (client->piece)
        return write_fragment(client);
    struct message *message = client->queue[client->head];
    bool data = message->protocol == LWS_WRITE_TEXT || message->protocol == LWS_WRITE_BINARY;
    client->head = (client->head + 1) % client->cap_queue;
    client->n_queued--;
    client->queued_bytes -= message->len;
    if (data && (faults->fragment || client->cut) && message->len > 1) {
        client->piece = message;
        client->piece_at = 0;
        return write_fragment(client);
    }
    size_t len = message->len;
    int n = lws_write(client->wsi, message_text(message), len, message->protocol);
    replay_message_unref(message);
    return n < 0 ? -1 : (int)len;
}

int replay_client_write(struct client *client)
{
    size_t written = 0;
    bool slow = client->server->faults->slow_bytes_s > 0;
    client->writable_asked = false;
    while ((client->n_queued > 0 || client->piece) && written < WRITE_BYTES &&
           !lws_partial_buffered(client->wsi) && (!slow || client->allowance > 0)) {
        bool started = client->piece != NULL;
        int n = write_next(client);
        if (n < 0)
            return -1;
        written += (size_t)n;
        client->allowance -= slow ? n : 0;
        if (client->cut && !started && client->piece) {
            flush(client);
            return -1; /* half a message, and the socket is gone */
        }
    }
    bool empty = client->n_queued == 0 && !client->piece;
    if (client->end_code && empty)
        replay_client_close(client, client->end_code, client->end_reason);
    if (!empty && (!slow || client->allowance > 0))
        ask_writable(client);
    return 0;
}

void replay_client_allow(struct client *client, int64_t bytes)
{
    client->allowance = client->allowance + bytes < bytes ? client->allowance + bytes : bytes;
    if (client->n_queued > 0 || client->piece)
        ask_writable(client);
}

void replay_client_deflated(struct client *client)
{
    /* FIN, RSV1 and text: a message that says to be compressed. */
    static const unsigned char frame[] = {0xc1, 7, 0xaa, 0x56, 0x4a, 0x54, 0xb2, 0xaa, 0x05};
    BIO *gather = client->ssl ? SSL_get_wbio(client->ssl) : NULL;
    if (!gather || client->piece || lws_partial_buffered(client->wsi) ||
        BIO_wpending(gather) > GATHER_BYTES / 2)
        return;
    SSL_write(client->ssl, frame, sizeof(frame)); /* gathered: it cannot be written in part */
}

bool replay_client_farewell(struct client *client, const void *reason, size_t len)
{
    unsigned char frame[2 + 125] = {0x88, (unsigned char)len}; /* FIN and close */
    BIO *gather = client->ssl ? SSL_get_wbio(client->ssl) : NULL;
    if (!gather || len > 125 || client->piece || client->close_asked || lws_partial_buffered(client->wsi) ||
        BIO_wpending(gather) > GATHER_BYTES / 2)
        return false;
    if (len > 0)
        memcpy(frame + 2, reason, len);
    if (SSL_write(client->ssl, frame, (int)(2 + len)) <= 0 || BIO_flush(gather) <= 0)
        return false;
    replay_client_drop_queue(client);
    client->close_code = LWS_CLOSE_STATUS_NORMAL;
    client->close_asked = true;
    SSL_set_shutdown(client->ssl, SSL_get_shutdown(client->ssl) | SSL_SENT_SHUTDOWN);
    return true;
}

void replay_client_turn(struct client *client)
{
    flush(client);
    if (!client->close_code || client->close_asked)
        return;
    client->close_asked = true;
    lws_close_reason(client->wsi, (enum lws_close_status)client->close_code,
                     (unsigned char *)(uintptr_t)client->close_reason, strlen(client->close_reason));
    lws_set_timeout(client->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
}

/* The certificate authority of one run, and the server certificate that it signs: for 127.0.0.1, ::1 and
 * localhost. Keys are made at start (P-256) and never leave the memory. */
#ifndef EXCHANGE_REPLAY_CA_H
#define EXCHANGE_REPLAY_CA_H

#include <stdbool.h>
#include <stddef.h>

struct ca {
    char *ca_pem;     /* what clients trust */
    char *server_pem; /* certificate */
    char *key_pem;    /* its key, as OpenSSL reads it */
    size_t ca_len, server_len, key_len;
};

/* `expired`: the server's certificate was good until an hour ago. 0, or -EIO when OpenSSL fails. */
int replay_ca_make(struct ca *ret, bool expired);
void replay_ca_finish(struct ca *ca);

/* Writes the CA's certificate: to a new file beside it, then renamed, so that a reader sees a whole one. 0 or
 * -errno. */
int replay_ca_write(const struct ca *ca, const char *path);

#endif

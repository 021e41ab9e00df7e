/* Signatures of anchors: Ed25519 (RFC 8032), by OpenSSL. The signed text is the line as db_head_text() makes
 * it; in the line `,"signature":"BASE64"` then stands before its last brace, and behind it, of one with a
 * stamp, `,"stamp":"BASE64"`. The stamp is of the line with its signature. */
#ifndef DB_BOOKS_SIGN_H
#define DB_BOOKS_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db_sign_key; /* a private or a public key */

/* From PEM, as `openssl genpkey -algorithm ed25519` writes it, or with `public_` as `openssl pkey -pubout`
 * does. 0; -EINVAL with err, which quotes nothing of it; -ENOMEM. */
int db_sign_key_parse(const char *pem, size_t len, bool public_, struct db_sign_key **ret, char *err,
                      size_t err_size);
/* The same from a file. Of a private key it is root's or this user's, and others may not read it: else -EPERM
 * or -EACCES. `what` begins the sentence: "--sign". */
int db_sign_key_read(const char *what, const char *path, bool public_, struct db_sign_key **ret, char *err,
                     size_t err_size);
void db_sign_key_free(struct db_sign_key *key); /* NULL is fine */

/* The line with its signature, the caller's; NULL without memory. */
char *db_sign_line(const struct db_sign_key *key, const char *line);

/* Is the line signed by that key? 1; 0: it is not signed; -EBADMSG: not by that key, or it was altered. */
int db_sign_check(const struct db_sign_key *key, const char *line, size_t len);

/* A line with `,"NAME":"BASE64 of bytes"` before its last brace; the caller's. NULL without memory. */
char *db_sign_put(const char *line, size_t len, const char *name, const uint8_t *bytes, size_t n);

/* Such a member at the line's end: *ret_len is the length of the text before it, without the brace, and its
 * bytes are the caller's. False: there is none. */
bool db_sign_take(const char *line, size_t len, const char *name, size_t *ret_len, uint8_t **ret_bytes,
                  size_t *ret_n);

#endif

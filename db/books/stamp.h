/* Time stamps of anchors (RFC 3161), by OpenSSL: an authority's signature that a line was there at a time.
 * What is stamped is the SHA-256 of the line with its signature; the reply's DER stands at the line's end as
 * `,"stamp":"BASE64"` (db/books/sign.h). Nothing here uses the network. */
#ifndef DB_BOOKS_STAMP_H
#define DB_BOOKS_STAMP_H

#include <stddef.h>
#include <stdint.h>

/* Certificates that are trusted to have issued an authority's. */
struct db_stamp_authority;
/* From a file of PEM. 0; -errno with err. */
int db_stamp_authority_read(const char *path, struct db_stamp_authority **ret, char *err, size_t err_size);
void db_stamp_authority_free(struct db_stamp_authority *authority); /* NULL is fine */

/* The request for that line, in DER, the caller's; `nonce` is random. NULL without memory. */
uint8_t *db_stamp_request(const char *line, uint64_t nonce, size_t *ret_n);
/* Is that a reply which granted that request? The certificate is not checked. 0; -EBADMSG with err. */
int db_stamp_reply(const char *line, uint64_t nonce, const uint8_t *reply, size_t n, char *err,
                   size_t err_size);
/* The line with its stamp, the caller's; NULL without memory. */
char *db_stamp_put(const char *line, const uint8_t *reply, size_t n);

/* Is the line stamped by a trusted authority, within an hour of the time that it says itself? 1 with the
 * stamp's time; 0: it has no stamp; -EBADMSG with err; -ENOMEM. */
int db_stamp_check(const struct db_stamp_authority *authority, const char *line, size_t len, int64_t ts_ns,
                   int64_t *ret_ns, char *err, size_t err_size);

#endif

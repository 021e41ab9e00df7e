/* The lines of a bars file, or the rows of a JSON one, plain or gzip, recognised by content. */
#ifndef EXCHANGE_BARS_INPUT_H
#define EXCHANGE_BARS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BARS_LINE_MAX = 65536, BARS_INPUT_WHY_MAX = 128 };

struct bars_input;

/* `sha256`, unless NULL, takes the hash of the file's bytes as they lie on the disk, once the last line was
 * read. Returns 0 with *ret, or -errno. */
int bars_input_open(const char *path, uint8_t *sha256, struct bars_input **ret);
/* The same of bytes that are read by a callback, as those of a packed file: `ctx` is its own, and is closed
 * with the input, or where this fails. */
struct bars_bytes {
    ssize_t (*read)(void *ctx, void *buf, size_t size, const char **ret_why); /* 0 at the end; -errno */
    void (*close)(void *ctx);
    void *ctx;
};
int bars_input_open_bytes(const struct bars_bytes *bytes, struct bars_input **ret);
void bars_input_close(struct bars_input *in); /* NULL is fine */

/* The next line that is not blank, without white space at its end; a '\0' follows it. It lives until the next
 * call. Returns 1; 0 at the end; -EINVAL for one of BARS_LINE_MAX bytes or more; -EIO for a stream that is
 * damaged or breaks off, another -errno of reading. */
int bars_input_line(struct bars_input *in, char **ret_line, size_t *ret_len);

/* The first character that is neither white space nor a byte order mark, which stays to be read; '\0' in an
 * empty file; or -errno. Before the first line only. */
int bars_input_peek(struct bars_input *in);

/* At least the first `wanted` characters, or all of a shorter file, which stay to be read. 0 or -errno.
 * Before the first line only. */
int bars_input_first(struct bars_input *in, size_t wanted, const char **ret, size_t *ret_n);

/* The next row of a JSON array of arrays, without its brackets, as bars_input_line() gives a line. Returns 1;
 * 0 at the end of the outer array; -EINVAL for anything else, with bars_input_why(); -errno of reading. */
int bars_input_row(struct bars_input *in, char **ret_row, size_t *ret_len);

unsigned long bars_input_number(const struct bars_input *in); /* of that line, or row: 1… */
uint64_t bars_input_bytes(const struct bars_input *in);       /* of the file, as far as it was read */
const char *bars_input_why(const struct bars_input *in);      /* what -EIO, and -EINVAL of a row, met */

#endif

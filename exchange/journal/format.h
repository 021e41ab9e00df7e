/* Internal to the journal: the bytes of its files, as docs/journal.md specifies them. All numbers are
 * little-endian. */
#ifndef EXCHANGE_JOURNAL_FORMAT_H
#define EXCHANGE_JOURNAL_FORMAT_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/journal/journal.h"

enum {
    JOURNAL_FORMAT = 1,
    JOURNAL_FILE_HEADER = 128,
    JOURNAL_FILE_HEADER_MAX = 4096, /* of any format */
    JOURNAL_BLOCK_HEADER = 72,
    JOURNAL_BLOCK_TRAILER = JOURNAL_HASH_SIZE + 4,
    JOURNAL_BLOCK_MAX = JOURNAL_RECORD_MAX + 64, /* of records in a block, before compression */
    JOURNAL_NAME_MAX = 64,
    JOURNAL_SECTOR = 512, /* what a disk writes atomically */
};

/* SHA-256, one context for many hashes. */
struct journal_hash {
    EVP_MD *md;
    EVP_MD_CTX *ctx;
};
int journal_hash_init(struct journal_hash *hash); /* 0 or -ENOMEM; finish it in both cases */
void journal_hash_finish(struct journal_hash *hash);
struct journal_part {
    const void *bytes;
    size_t len;
};
/* Of n parts, one after the other. 0, or -ENOMEM from the library. */
int journal_hash_parts(struct journal_hash *hash, const struct journal_part *parts, int n,
                       uint8_t ret[static JOURNAL_HASH_SIZE]);

struct journal_file_header {
    uint32_t number; /* of the segment: 1, 2, 3 … through the journal's life */
    uint64_t first_seq;
    int64_t first_ns;
    uint8_t previous[JOURNAL_HASH_SIZE]; /* the hash of the last block of the segment before; zeros: none */
    uint8_t hash[JOURNAL_HASH_SIZE];     /* of this header: where the segment's chain begins */
};
int journal_file_header_write(struct journal_hash *hash, struct journal_file_header *header,
                              uint8_t bytes[static JOURNAL_FILE_HEADER]); /* sets header->hash */
/* The header's own size, of any format; 0 for bytes that are not a header. */
size_t journal_file_header_size(const uint8_t bytes[static JOURNAL_FILE_HEADER]);
/* 0; -EBADMSG; -ENOTSUP for a newer format, its number in *ret_format; -ENOMEM. */
int journal_file_header_read(struct journal_hash *hash, const uint8_t *bytes, size_t len,
                             struct journal_file_header *ret, uint32_t *ret_format);

struct journal_block_header {
    uint32_t number; /* in its segment: 0, 1, 2 … */
    uint32_t put;    /* which of the segment's puts it is part of: 0, 1, 2 … */
    uint32_t kinds;  /* bit k: it holds records of kind k */
    uint64_t first_seq, last_seq;
    int64_t first_ns, last_ns;
    uint32_t payload, raw; /* bytes of records, compressed and not */
    uint32_t records;
};
int journal_block_header_write(struct journal_hash *hash, const struct journal_block_header *header,
                               uint8_t bytes[static JOURNAL_BLOCK_HEADER]);
/* 0; -EBADMSG when it is not what was written; -ENOMEM. */
int journal_block_header_read(struct journal_hash *hash, const uint8_t bytes[static JOURNAL_BLOCK_HEADER],
                              struct journal_block_header *ret);

/* Follows a block's hash. Its last bit pattern is never one flip away from zero: scan.h's rule needs it. */
extern const uint8_t journal_end_mark[JOURNAL_BLOCK_TRAILER - JOURNAL_HASH_SIZE];

/* The most that a record takes in addition to its bytes, and the record's head into bytes: the length. */
enum { JOURNAL_RECORD_HEAD = 1 + 10 + 10 + 5 };
size_t journal_record_write(uint8_t bytes[static JOURNAL_RECORD_HEAD], const struct journal_record *record,
                            uint64_t before_seq, int64_t before_ns);
/* Reads a record that begins at *at, which it moves; ret->seq and recv_ns are those of the one before. false
 * for bytes that are none. */
bool journal_record_read(const uint8_t *bytes, size_t len, size_t *at, struct journal_record *ret);

/* "00000012-20261121T141240Z-345678.journal" */
void journal_name_format(const struct journal_file_header *header, char name[static JOURNAL_NAME_MAX]);
bool journal_name_parse(const char *name, uint32_t *ret_number);

#endif

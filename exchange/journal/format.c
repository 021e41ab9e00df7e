#include "exchange/journal/format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint8_t file_magic[8] = {0x89, 'P', 'T', 'J', '\r', '\n', 0x1a, '\n'};
static const uint8_t block_magic[4] = {'P', 'T', 'B', 'K'};
const uint8_t journal_end_mark[4] = {'E', 'N', 'D', '\n'};

enum { HEADER_CHECK = 8 };

/* ---- SHA-256 ---- */

int journal_hash_init(struct journal_hash *hash)
{
    hash->md = EVP_MD_fetch(NULL, "SHA256", NULL);
    hash->ctx = EVP_MD_CTX_new();
    return hash->md && hash->ctx ? 0 : -ENOMEM;
}

void journal_hash_finish(struct journal_hash *hash)
{
    EVP_MD_CTX_free(hash->ctx);
    EVP_MD_free(hash->md);
    *hash = (struct journal_hash){0};
}

int journal_hash_parts(struct journal_hash *hash, const struct journal_part *parts, int n,
                       uint8_t ret[static JOURNAL_HASH_SIZE])
{
    uint8_t digest[JOURNAL_HASH_SIZE];
    bool ok = EVP_DigestInit_ex2(hash->ctx, hash->md, NULL) == 1;
    for (int i = 0; ok && i < n; i++)
        ok = EVP_DigestUpdate(hash->ctx, parts[i].bytes, parts[i].len) == 1;
    if (!ok || EVP_DigestFinal_ex(hash->ctx, digest, NULL) != 1)
        return -ENOMEM;
    memcpy(ret, digest, sizeof digest);
    return 0;
}

static int hash_of(struct journal_hash *hash, const uint8_t *bytes, size_t len,
                   uint8_t ret[static JOURNAL_HASH_SIZE])
{
    struct journal_part part = {bytes, len};
    return journal_hash_parts(hash, &part, 1, ret);
}

/* ---- numbers ---- */

static void put_u32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static void put_u64(uint8_t *bytes, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint64_t get_u64(const uint8_t *bytes)
{
    return get_u32(bytes) | (uint64_t)get_u32(bytes + 4) << 32;
}

static size_t put_varint(uint8_t *bytes, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    return n;
}

static bool get_varint(const uint8_t *bytes, size_t len, size_t *at, uint64_t *ret)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && *at < len; shift += 7) {
        uint8_t byte = bytes[(*at)++];
        if (shift == 63 && byte > 1)
            return false;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* ---- file header ---- */

enum { FILE_HASHED = JOURNAL_FILE_HEADER - JOURNAL_HASH_SIZE };

int journal_file_header_write(struct journal_hash *hash, struct journal_file_header *header,
                              uint8_t bytes[static JOURNAL_FILE_HEADER])
{
    memset(bytes, 0, JOURNAL_FILE_HEADER);
    memcpy(bytes, file_magic, sizeof file_magic);
    put_u32(bytes + 8, JOURNAL_FORMAT);
    put_u32(bytes + 12, JOURNAL_FILE_HEADER);
    put_u32(bytes + 16, header->number);
    put_u64(bytes + 24, header->first_seq);
    put_u64(bytes + 32, (uint64_t)header->first_ns);
    memcpy(bytes + 40, header->previous, JOURNAL_HASH_SIZE);
    int r = hash_of(hash, bytes, FILE_HASHED, header->hash);
    memcpy(bytes + FILE_HASHED, header->hash, JOURNAL_HASH_SIZE);
    return r;
}

size_t journal_file_header_size(const uint8_t bytes[static JOURNAL_FILE_HEADER])
{
    if (memcmp(bytes, file_magic, sizeof file_magic) != 0)
        return 0;
    uint32_t size = get_u32(bytes + 12);
    return size > 16 + JOURNAL_HASH_SIZE && size <= JOURNAL_FILE_HEADER_MAX ? size : 0;
}

/* Every format keeps magic, format number and header size where they are, and ends the header with its
 * hash: so a newer format is distinguished from an altered header. */
int journal_file_header_read(struct journal_hash *hash, const uint8_t *bytes, size_t len,
                             struct journal_file_header *ret, uint32_t *ret_format)
{
    uint8_t digest[JOURNAL_HASH_SIZE];
    size_t size = len < JOURNAL_FILE_HEADER ? 0 : journal_file_header_size(bytes);
    if (size == 0 || size > len)
        return -EBADMSG;
    int r = hash_of(hash, bytes, size - JOURNAL_HASH_SIZE, digest);
    if (r < 0)
        return r;
    if (memcmp(digest, bytes + size - JOURNAL_HASH_SIZE, sizeof digest) != 0)
        return -EBADMSG;
    uint32_t format = get_u32(bytes + 8);
    if (format != JOURNAL_FORMAT) {
        *ret_format = format;
        return -ENOTSUP;
    }
    if (size != JOURNAL_FILE_HEADER)
        return -EBADMSG;
    *ret = (struct journal_file_header){
        .number = get_u32(bytes + 16),
        .first_seq = get_u64(bytes + 24),
        .first_ns = (int64_t)get_u64(bytes + 32),
    };
    memcpy(ret->previous, bytes + 40, JOURNAL_HASH_SIZE);
    memcpy(ret->hash, digest, JOURNAL_HASH_SIZE);
    return 0;
}

/* ---- block header ---- */

enum { BLOCK_HASHED = JOURNAL_BLOCK_HEADER - HEADER_CHECK };

int journal_block_header_write(struct journal_hash *hash, const struct journal_block_header *header,
                               uint8_t bytes[static JOURNAL_BLOCK_HEADER])
{
    uint8_t digest[JOURNAL_HASH_SIZE];
    memset(bytes, 0, JOURNAL_BLOCK_HEADER);
    memcpy(bytes, block_magic, sizeof block_magic);
    put_u32(bytes + 4, header->number);
    put_u32(bytes + 8, header->put);
    put_u32(bytes + 12, header->kinds);
    put_u64(bytes + 16, header->first_seq);
    put_u64(bytes + 24, header->last_seq);
    put_u64(bytes + 32, (uint64_t)header->first_ns);
    put_u64(bytes + 40, (uint64_t)header->last_ns);
    put_u32(bytes + 48, header->payload);
    put_u32(bytes + 52, header->raw);
    put_u32(bytes + 56, header->records);
    int r = hash_of(hash, bytes, BLOCK_HASHED, digest);
    memcpy(bytes + BLOCK_HASHED, digest, HEADER_CHECK);
    return r;
}

int journal_block_header_read(struct journal_hash *hash, const uint8_t bytes[static JOURNAL_BLOCK_HEADER],
                              struct journal_block_header *ret)
{
    uint8_t digest[JOURNAL_HASH_SIZE];
    if (memcmp(bytes, block_magic, sizeof block_magic) != 0)
        return -EBADMSG;
    int r = hash_of(hash, bytes, BLOCK_HASHED, digest);
    if (r < 0)
        return r;
    if (memcmp(digest, bytes + BLOCK_HASHED, HEADER_CHECK) != 0)
        return -EBADMSG;
    struct journal_block_header header = {
        .number = get_u32(bytes + 4),
        .put = get_u32(bytes + 8),
        .kinds = get_u32(bytes + 12),
        .first_seq = get_u64(bytes + 16),
        .last_seq = get_u64(bytes + 24),
        .first_ns = (int64_t)get_u64(bytes + 32),
        .last_ns = (int64_t)get_u64(bytes + 40),
        .payload = get_u32(bytes + 48),
        .raw = get_u32(bytes + 52),
        .records = get_u32(bytes + 56),
    };
    if (header.raw > JOURNAL_BLOCK_MAX || header.records == 0 || header.records > header.raw)
        return -EBADMSG;
    *ret = header;
    return 0;
}

/* ---- records ---- */

size_t journal_record_write(uint8_t bytes[static JOURNAL_RECORD_HEAD], const struct journal_record *record,
                            uint64_t before_seq, int64_t before_ns)
{
    size_t n = 0;
    bytes[n++] = (uint8_t)record->kind;
    n += put_varint(bytes + n, record->seq - before_seq);
    n += put_varint(bytes + n, zigzag((int64_t)((uint64_t)record->recv_ns - (uint64_t)before_ns)));
    n += put_varint(bytes + n, record->len);
    return n;
}

bool journal_record_read(const uint8_t *bytes, size_t len, size_t *at, struct journal_record *ret)
{
    uint64_t seq, ns, size;
    size_t next = *at;
    if (next >= len || bytes[next] < JOURNAL_STATE || bytes[next] >= JOURNAL_KINDS)
        return false;
    enum journal_kind kind = bytes[next++];
    if (!get_varint(bytes, len, &next, &seq) || !get_varint(bytes, len, &next, &ns) ||
        !get_varint(bytes, len, &next, &size) || size > len - next)
        return false;
    ret->kind = kind;
    ret->seq += seq;
    ret->recv_ns = (int64_t)((uint64_t)ret->recv_ns + (uint64_t)unzigzag(ns));
    ret->bytes = bytes + next;
    ret->len = (size_t)size;
    *at = next + (size_t)size;
    return true;
}

/* ---- names ---- */

void journal_name_format(const struct journal_file_header *header, char name[static JOURNAL_NAME_MAX])
{
    time_t seconds = (time_t)(header->first_ns / 1000000000 - (header->first_ns % 1000000000 < 0));
    struct tm utc;
    char when[24] = "";
    if (gmtime_r(&seconds, &utc))
        strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(name, JOURNAL_NAME_MAX, "%08" PRIu32 "-%s-%" PRIu64 ".journal", header->number, when,
             header->first_seq);
}

bool journal_name_parse(const char *name, uint32_t *ret_number)
{
    static const char ending[] = ".journal";
    size_t len = strlen(name), digits = strspn(name, "0123456789");
    if (digits < 8 || digits > 10 || name[digits] != '-' || len < digits + sizeof ending ||
        strcmp(name + len - (sizeof ending - 1), ending) != 0)
        return false;
    unsigned long long number = strtoull(name, NULL, 10);
    if (number == 0 || number > UINT32_MAX)
        return false;
    *ret_number = (uint32_t)number;
    return true;
}

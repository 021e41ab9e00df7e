#include "spark/native/state.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "exchange/fail.h"

enum { WORD = 8, HEAD = 4 * WORD };

/* Where the next field goes to, or comes from. */
struct cursor {
    uint8_t *to;
    const char *from;
    size_t n, cap; /* fields so far; bytes that there is room for, or that there are, behind the head */
    bool wrong;
};

static uint64_t word_at(const char *data)
{
    uint64_t word;
    memcpy(&word, data, WORD);
    return le64toh(word);
}

static void put_word(uint8_t *to, uint64_t word)
{
    word = htole64(word);
    memcpy(to, &word, WORD);
}

static void put(struct cursor *c, uint64_t word)
{
    if ((c->n + 1) * WORD <= c->cap)
        put_word(c->to + c->n * WORD, word);
    c->n++;
}

static void put_number(void *ctx, double *value)
{
    uint64_t word;
    memcpy(&word, value, WORD);
    put(ctx, word);
}

static void put_count(void *ctx, uint64_t *value, uint64_t most)
{
    (void)most;
    put(ctx, *value);
}

static bool get(struct cursor *c, uint64_t *ret)
{
    if ((c->n + 1) * WORD > c->cap) {
        c->wrong = true;
        return false;
    }
    *ret = word_at(c->from + c->n++ * WORD);
    return true;
}

static void get_number(void *ctx, double *value)
{
    uint64_t word;
    if (get(ctx, &word))
        memcpy(value, &word, WORD);
}

static void get_count(void *ctx, uint64_t *value, uint64_t most)
{
    struct cursor *c = ctx;
    uint64_t word = 0;
    c->wrong |= get(c, &word) && word > most;
    *value = word > most ? most : word;
}

static uint64_t magic(void)
{
    return word_at("PTSPARK") + ((uint64_t)PAPERTAPE_SPARK_VERSION << 56);
}

size_t spark_state_save(const struct spark_computation *computation, void *ctx, int64_t last_ns, uint8_t *buf,
                        size_t cap)
{
    struct cursor c = {.to = buf ? buf + HEAD : NULL, .cap = cap > HEAD ? cap - HEAD : 0};
    const struct indicator_stream_fields fields = {&c, put_number, put_count};
    computation->visit(ctx, &fields);
    if (cap >= HEAD) {
        put_word(buf, magic());
        put_word(buf + WORD, computation->meaning);
        put_word(buf + 2 * WORD, (uint64_t)last_ns);
        put_word(buf + 3 * WORD, c.n);
    }
    return HEAD + c.n * WORD;
}

int spark_state_load(const struct spark_computation *computation, void *ctx, const char *data, size_t n,
                     int64_t *ret_last_ns, char *err, size_t err_cap)
{
    if (n < HEAD || word_at(data) != magic())
        return fail_with(-EINVAL, err, err_cap,
                         "a state is not one of this version of papertape_spark: it must be computed again");
    if (word_at(data + WORD) != computation->meaning)
        return fail_with(-EINVAL, err, err_cap,
                         "a state is of other specifications: the same ones, in the same order, are needed");
    struct cursor c = {.from = data + HEAD, .cap = n - HEAD};
    const struct indicator_stream_fields fields = {&c, get_number, get_count};
    computation->visit(ctx, &fields);
    if (c.wrong || c.n != word_at(data + 3 * WORD) || HEAD + c.n * WORD != n)
        return fail_with(-EINVAL, err, err_cap, "a state is damaged: it must be computed again");
    *ret_last_ns = (int64_t)word_at(data + 2 * WORD);
    return 0;
}

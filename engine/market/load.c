#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/market/cache.h"
#include "engine/market/grid.h"
#include "engine/market/image.h"
#include "engine/market/parallel.h"
#include "engine/market/symbols.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

/* The version of the result: another way to place bars, others that are refused, or another symbol_default(),
 * takes the next number, and cached files of older ones are not found. */
enum { RULES = 3 };

enum { READ_SIZE = 256 * 1024 };

struct source_file {
    const char *path, *name; /* name: as asked for, or NULL */
    char symbol[SYMBOL_NAME_MAX];
    struct stat before;
    bool seen, known, given;        /* given: its hash is the caller's */
    uint8_t hash[MARKET_HASH_SIZE]; /* if known, or once it was read */
    int failed;
    char why[BARS_FILE_ERROR_MAX];
};

struct loader {
    const struct market_options *options;
    struct source_file *files;
    struct market_source *sources; /* [n] */
    size_t n;
    int n_symbols;                      /* of the sources, once files of one symbol are joined */
    uint8_t info[MARKET_HASH_SIZE];     /* of the exchangeInfo; zeros: none */
    uint8_t calendar[MARKET_HASH_SIZE]; /* trading_calendar_hash(); zeros: none */
    struct stat info_before;
    struct cache cache;
    struct market_load load;
};

static void name_symbol(char symbol[static SYMBOL_NAME_MAX])
{
    for (char *c = symbol; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

/* Hashes a file's bytes. 0 or -errno. */
static int hash_bytes(const char *path, uint8_t ret[static MARKET_HASH_SIZE])
{
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    unsigned char *buf = malloc(READ_SIZE);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : 0;
    ssize_t n = 1;
    if (r == 0 && (!hash || !buf || EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1))
        r = -ENOMEM;
    while (r == 0 && n > 0) {
        n = read(fd, buf, READ_SIZE);
        if (n < 0 && errno != EINTR)
            r = -errno;
        if (n > 0 && EVP_DigestUpdate(hash, buf, (size_t)n) != 1)
            r = -ENOMEM;
        if (n < 0)
            n = 1;
    }
    if (r == 0 && EVP_DigestFinal_ex(hash, ret, NULL) != 1)
        r = -ENOMEM;
    if (fd >= 0)
        close(fd);
    free(buf);
    EVP_MD_CTX_free(hash);
    return r;
}

static int hash_info(struct loader *l, char err[static MARKET_ERROR_MAX])
{
    const char *path = l->options->exchange_info;
    struct stat after;
    if (!path)
        return 0;
    int r = stat(path, &l->info_before) < 0 ? -errno : 0;
    if (r == 0 && market_store_cache_hash(&l->cache, &l->info_before, l->info) == CACHE_HASH_KNOWN)
        return 0;
    if (r == 0)
        r = hash_bytes(path, l->info);
    if (r < 0)
        snprintf(err, MARKET_ERROR_MAX, "cannot read: %.400s: a venue's exchangeInfo, plain or gzip (%s)",
                 path, strerror(-r));
    else if (stat(path, &after) == 0 && market_store_cache_same(&l->info_before, &after))
        market_store_cache_learn(&l->cache, &after, l->info);
    return r;
}

/* Is the exchangeInfo still the one that was hashed? */
static bool same_info(const struct loader *l)
{
    const char *path = l->options->exchange_info;
    struct stat now;
    return !path || (stat(path, &now) == 0 && market_store_cache_same(&l->info_before, &now));
}

/* One that was hashed just after it had changed is hashed again: that is less than parsing it. */
static bool find_hash(struct loader *l, struct source_file *f)
{
    struct stat after;
    enum cache_hash found = market_store_cache_hash(&l->cache, &f->before, f->hash);
    if (found != CACHE_HASH_HASHED)
        return found == CACHE_HASH_KNOWN;
    if (hash_bytes(f->path, f->hash) < 0 || stat(f->path, &after) < 0 ||
        !market_store_cache_same(&f->before, &after))
        return false;
    market_store_cache_learn(&l->cache, &after, f->hash);
    return true;
}

/* Is every file's hash known without parsing it? */
static bool all_known(struct loader *l)
{
    bool known = true;
    for (size_t i = 0; i < l->n; i++) {
        struct source_file *f = &l->files[i];
        f->seen = !f->given && stat(f->path, &f->before) == 0;
        f->known = (f->seen || f->given) && bars_file_symbol(f->path, f->name, f->symbol) == 0 &&
                   (f->given || find_hash(l, f));
        name_symbol(f->symbol);
        known = known && f->known;
    }
    return known;
}

/* One term of a file, "" for none, with the zero at its end. */
static bool hash_term(EVP_MD_CTX *hash, const char *const *terms, size_t i)
{
    const char *text = terms && terms[i] ? terms[i] : "";
    return EVP_DigestUpdate(hash, text, strlen(text) + 1) == 1;
}

static bool hash_listed(EVP_MD_CTX *hash, const struct symbol *const *listed, size_t i)
{
    return !listed || !listed[i] || EVP_DigestUpdate(hash, listed[i], sizeof *listed[i]) == 1;
}

/* The hash of all that decides what the market holds. */
static int find_key(const struct loader *l, uint8_t ret[static MARKET_HASH_SIZE])
{
    const struct market_options *o = l->options;
    const uint64_t numbers[] = {BLOB_LAYOUT,
                                RULES,
                                sizeof(struct image_head),
                                sizeof(struct image_symbol),
                                (uint64_t)o->from_ns,
                                (uint64_t)o->to_ns,
                                (uint64_t)o->interval_ns,
                                o->repair,
                                (uint64_t)o->session,
                                o->keep_straddling,
                                l->n};
    const char *zone = o->zone ? o->zone : "";
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool ok = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
              EVP_DigestUpdate(hash, numbers, sizeof(numbers)) == 1 &&
              EVP_DigestUpdate(hash, l->info, sizeof(l->info)) == 1 &&
              EVP_DigestUpdate(hash, l->calendar, sizeof(l->calendar)) == 1 &&
              EVP_DigestUpdate(hash, zone, strlen(zone) + 1) == 1;
    for (size_t i = 0; ok && i < l->n; i++) {
        char symbol[SYMBOL_NAME_MAX] = {0};
        snprintf(symbol, sizeof(symbol), "%s", l->files[i].symbol);
        ok = EVP_DigestUpdate(hash, symbol, sizeof(symbol)) == 1 &&
             EVP_DigestUpdate(hash, l->files[i].hash, sizeof(l->files[i].hash)) == 1 &&
             hash_term(hash, o->terms.lots, i) && hash_term(hash, o->terms.ticks, i) &&
             hash_term(hash, o->terms.quotes, i) && hash_listed(hash, o->terms.listed, i);
    }
    ok = ok && EVP_DigestFinal_ex(hash, ret, NULL) == 1;
    EVP_MD_CTX_free(hash);
    return ok ? 0 : -ENOMEM;
}

/* True with *ret when the cache has it. */
static bool open_cached(struct loader *l, struct market **ret)
{
    uint8_t key[MARKET_HASH_SIZE];
    struct market_image *image;
    struct blob blob;
    if (find_key(l, key) < 0 || market_store_cache_get(&l->cache, IMAGE_KIND, key, &blob) < 0)
        return false;
    int r = market_store_image_open(&blob, &image);
    market_store_blob_release(&blob);
    if (r == -EBADMSG)
        market_store_cache_drop(&l->cache, IMAGE_KIND, key, "its head contradicts itself");
    if (r < 0)
        return false;
    l->load.cached = true;
    *ret = &image->market;
    return true;
}

static void read_file(void *ctx, size_t i)
{
    struct loader *l = ctx;
    struct source_file *f = &l->files[i];
    struct market_source *source = &l->sources[i];
    snprintf(source->origin, sizeof(source->origin), "%s", f->path);
    source->file = i;
    const struct bars_file_options options = {.symbol = f->name,
                                              .repair = l->options->repair,
                                              .zone = l->options->zone,
                                              .calendar = l->options->calendar,
                                              .session = l->options->session,
                                              .keep_straddling = l->options->keep_straddling,
                                              .sha256 = l->cache.folder[0] && !f->given ? f->hash : NULL};
    f->failed = bars_file_read_with(f->path, &options, &source->bars, f->why);
    name_symbol(source->bars.symbol);
    memcpy(f->symbol, source->bars.symbol, sizeof(f->symbol));
}

static int read_files(struct loader *l, char err[static MARKET_ERROR_MAX])
{
    market_store_parallel(l->options->threads, l->n, read_file, l);
    for (size_t i = 0; i < l->n; i++) {
        struct source_file *f = &l->files[i];
        struct stat after;
        if (f->failed < 0) {
            snprintf(err, MARKET_ERROR_MAX, "%s", f->why);
            return f->failed;
        }
        l->load.source_bytes += l->sources[i].bars.bytes;
        if (f->seen && stat(f->path, &after) == 0 && market_store_cache_same(&f->before, &after))
            market_store_cache_learn(&l->cache, &after, f->hash);
    }
    const struct market_options *o = l->options;
    l->n_symbols = (int)l->n;
    int r = market_store_join(l->sources, &l->n_symbols, o->interval_ns, &o->terms, err);
    return r < 0 ? r : market_store_symbols(l->sources, l->n_symbols, o->exchange_info, &o->terms, err);
}

static int make(struct loader *l, struct market **ret, char err[static MARKET_ERROR_MAX])
{
    double started_s = clock_now_s();
    int r = l->options->write ? l->options->write(l->options->write_ctx, err) : 0;
    if (r == 0)
        r = read_files(l, err);
    if (r < 0)
        return r;
    double read = clock_now_s();
    if ((r = market_store_build(l->sources, l->n_symbols, l->options, ret, err)) < 0)
        return r;
    double built = clock_now_s();
    l->load.read_s = read - started_s;
    l->load.grid_s = built - read;
    uint8_t key[MARKET_HASH_SIZE];
    if (l->cache.folder[0] && same_info(l) && find_key(l, key) == 0 &&
        !market_store_cache_has(&l->cache, IMAGE_KIND, key)) {
        struct market_image *image = (struct market_image *)*ret;
        market_store_blob_seal(&image->blob, key, l->options->threads);
        market_store_cache_put(&l->cache, &image->blob);
        l->load.write_s = clock_now_s() - built;
    }
    return 0;
}

static int load(struct loader *l, struct market **ret, char err[static MARKET_ERROR_MAX])
{
    double started_s = clock_now_s();
    market_store_cache_begin(&l->cache, l->options);
    int r = l->cache.folder[0] ? hash_info(l, err) : 0;
    const struct trading_calendar *calendar = l->options->calendar;
    if (r == 0 && calendar && calendar->n > 0 && (r = trading_calendar_hash(calendar, l->calendar)) < 0)
        snprintf(err, MARKET_ERROR_MAX, "out of memory: the calendar's hash");
    if (r < 0)
        return r;
    bool known = l->cache.folder[0] && all_known(l);
    double hashed = clock_now_s();
    l->load.hash_s = hashed - started_s;
    bool opened = known && open_cached(l, ret);
    l->load.map_s = known ? clock_now_s() - hashed : 0;
    return opened ? 0 : make(l, ret, err);
}

/* The first symbol whose times fit another zone better, and how many more. */
static void note_zone(const struct market *market, char note[static MARKET_ERROR_MAX])
{
    const struct market_series *first = NULL;
    int more = -1;
    for (int i = 0; i < market->n_symbols; i++) {
        if (!market->series[i].fits[0])
            continue;
        first = first ? first : &market->series[i];
        more++;
    }
    if (!first)
        return;
    int n = snprintf(note, MARKET_ERROR_MAX,
                     "%s: volume is largest where the calendar has no opening and no close: %s would fit",
                     first->symbol.name, first->fits);
    if (more > 0)
        snprintf(note + n, MARKET_ERROR_MAX - (size_t)n, "; and %d more", more);
}

int market_store_load_files(const char *const *paths, size_t n, const struct market_options *options,
                            struct market **ret, struct market_load *ret_load,
                            char err[static MARKET_ERROR_MAX])
{
    struct market *market = NULL;
    int r = -ENOMEM;
    if (n < 1 || n > SYMBOLS_MAX)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "number of bars files: %zu: 1 to %d", n,
                         SYMBOLS_MAX);
    struct loader *l = calloc(1, sizeof(*l));
    struct source_file *files = calloc(n, sizeof(*files));
    struct market_source *sources = calloc(n, sizeof(*sources));
    if (l && files && sources) {
        *l = (struct loader){.options = options, .files = files, .sources = sources, .n = n};
        for (size_t i = 0; i < n; i++) {
            files[i].path = paths[i];
            files[i].name = options->names ? options->names[i] : NULL;
            files[i].given = options->hashes && options->hashes[i];
            if (files[i].given)
                memcpy(files[i].hash, options->hashes[i], sizeof files[i].hash);
        }
        r = load(l, &market, err);
        market_store_sources_finish(sources, (int)n);
    } else {
        snprintf(err, MARKET_ERROR_MAX, "out of memory");
    }
    if (r == 0) {
        l->load.bars = image_head((struct market_image *)market)->bars;
        memcpy(l->load.note, l->cache.note, sizeof(l->load.note));
        note_zone(market, l->load.zone_note);
        if (ret_load)
            *ret_load = l->load;
        *ret = market;
    }
    free(sources);
    free(files);
    free(l);
    return r;
}

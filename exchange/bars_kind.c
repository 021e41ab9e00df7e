#include "exchange/bars_reader.h"

#include <string.h>

static const struct {
    const char *magic;
    size_t len;
    struct bars_kind kind;
} kinds[] = {
#define KIND(magic, what, right) \
    { \
        magic, sizeof(magic) - 1, \
        { \
            what, right \
        } \
    }
    KIND("PK\3\4", "a zip archive", "what is in it, as unzip writes it; gzip is read as it is"),
    KIND("\xff\xfe", "UTF-16 text", "UTF-8, as iconv -f UTF-16 -t UTF-8 writes it"),
    KIND("\xfe\xff", "UTF-16 text", "UTF-8, as iconv -f UTF-16 -t UTF-8 writes it"),
    KIND("ARROW1", "a feather file", "CSV, as pandas.read_feather(F).to_csv(G, index=False) writes it"),
    KIND("FEA1", "a feather file", "CSV, as pandas.read_feather(F).to_csv(G, index=False) writes it"),
    KIND("PAR1", "a parquet file", "CSV, as pandas.read_parquet(F).to_csv(G) writes it"),
    KIND("\x89HDF", "an HDF5 file", "CSV, as pandas.read_hdf(F).to_csv(G) writes it"),
    KIND("BZh", "a bzip2 file", "plain text, as bunzip2 writes it, or gzip"),
    KIND("\xfd\x37zXZ", "an xz file", "plain text, as unxz writes it, or gzip"),
    KIND("\x28\xb5\x2f\xfd", "a zstd file", "plain text, as unzstd writes it, or gzip"),
    KIND("SQLite format 3", "a database", "a state directory or its papertape.db alone, or text files"),
    KIND("<!", "a web page", "the file itself: its download gave a page"),
    KIND("<html", "a web page", "the file itself: its download gave a page"),
    KIND("{", "a JSON object", "an array of arrays, [[time, open, high, low, close, volume], …], or CSV"),
#undef KIND
};

const struct bars_kind *bars_kind_find(const char *first, size_t n)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (n >= kinds[i].len && memcmp(first, kinds[i].magic, kinds[i].len) == 0)
            return &kinds[i].kind;
    return NULL;
}

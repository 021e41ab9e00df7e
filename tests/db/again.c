/* Rows that are put again, as a recovery from the event log does: they change nothing, later rows follow
 * them, and rows that contradict them are counted and refused. */
#include "tests/db/books.h"

#include "db/verify.h"
#include "tests/db/fixture.h"

enum { FIRST = 3000, MORE = 2000 };

static const struct db_writer_config config = {0};

static struct db_writer_stats close_writer(struct db_writer *writer)
{
    struct db_writer_stats stats;
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    db_writer_stats(writer, &stats);
    fixture_close(writer);
    return stats;
}

int main(void)
{
    static struct books b;
    char directory[SCRATCH_MAX], path[SCRATCH_PATH_MAX], whole[SCRATCH_PATH_MAX];
    struct random random = random_seeded("again", 20261121);
    uint64_t seed = random_next(&random);
    scratch_make(directory);
    snprintf(path, sizeof path, "%s/papertape.db", directory);
    snprintf(whole, sizeof whole, "%s/whole.db", directory);
    books_keep(&b, whole, seed, FIRST + MORE);
    books_close(&b);
    books_keep(&b, path, seed, FIRST);
    books_close(&b);
    uint64_t first = books_digest(path);
    CHECK(first != 0 && first != books_digest(whole));

    /* The same events again, from the beginning. */
    struct db_writer *writer = fixture_writer(path, &config);
    books_open(&b, writer, seed);
    for (int i = 0; i < FIRST; i++)
        books_event(&b);
    CHECK_INT(db_writer_flush(writer, 60000), 0);
    CHECK(books_digest(path) == first);
    for (int i = 0; i < MORE; i++)
        books_event(&b);
    struct db_writer_stats stats = close_writer(writer);
    CHECK_INT(stats.conflicts, 0);
    CHECK_STR(stats.conflict, "");
    CHECK_INT(stats.skipped, 0);
    CHECK(books_digest(path) == books_digest(whole));
    books_close(&b);

    /* Another past is not taken for this one: nothing of it is stored. */
    writer = fixture_writer(path, &config);
    books_open(&b, writer, seed + 1);
    for (int i = 0; i < FIRST; i++)
        books_event(&b);
    stats = close_writer(writer);
    printf("%" PRIu64 " rows of another past, the last: %s\n", stats.conflicts, stats.conflict);
    CHECK(stats.conflicts > 100);
    CHECK(strstr(stats.conflict, "is already stored, with other values") != NULL);
    CHECK(books_digest(path) == books_digest(whole));
    books_close(&b);
    return check_done("again");
}

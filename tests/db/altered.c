/* One change, anywhere: of a random cell of any row of the record, which verify must name by its row; of a
 * random bit of the closed file, after which verify either names something, or every row of the record reads
 * as before. */
#include <sqlite3.h>

#include "db/verify.h"
#include "tests/counts.h"
#include "tests/db/books.h"
#include "tests/db/fixture.h"

enum { EVENTS_ALL = 2500, CELLS_LONG = 3000, BITS_LONG = 5000 };
enum { EVENTS = COUNTS_PART ? 1000 : 1500, CELLS = COUNTS_PART ? 12 : 30, BITS = COUNTS_PART ? 20 : 50 };

static struct {
    char path[SCRATCH_PATH_MAX];
    unsigned char *bytes; /* of the file as it should be */
    size_t size;
    uint64_t digest;
} record;

static void read_file(void)
{
    FILE *file = fopen(record.path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    record.size = (size_t)ftell(file);
    rewind(file);
    record.bytes = malloc(record.size);
    CHECK_INT(fread(record.bytes, 1, record.size, file), record.size);
    fclose(file);
}

static void write_file(void)
{
    static const char *const others[] = {"-wal", "-shm"};
    char path[SCRATCH_PATH_MAX + 8];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", record.path, others[i]);
        remove(path);
    }
    FILE *file = fopen(record.path, "wb");
    CHECK(file != NULL && fwrite(record.bytes, 1, record.size, file) == record.size);
    if (file)
        fclose(file);
}

/* What verify names: the failures, a line each; "" when it finds nothing. */
static void verify(char *names, size_t size)
{
    struct db_reader *reader = NULL;
    struct db_verified *verified = NULL;
    names[0] = '\0';
    if (db_reader_open(record.path, &reader, names, size) != 0)
        return;
    if (db_verify(reader, &verified) != 0) {
        snprintf(names, size, "%s", db_reader_error(reader));
        if (!*names)
            snprintf(names, size, "unreadable");
    } else {
        for (int i = 0; i < verified->n_failures; i++)
            snprintf(names + strlen(names), size - strlen(names), "%s\n", verified->failures[i]);
        CHECK_INT(verified->ok, names[0] == '\0');
        db_verified_destroy(verified);
    }
    db_reader_close(reader);
}

/* ---- cells ---- */

static sqlite3_stmt *prepare(sqlite3 *db, char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(EXIT_FAILURE);
    }
    sqlite3_free(sql);
    return stmt;
}

static void bind_changed(sqlite3_stmt *to, sqlite3_stmt *from, int column, struct random *random)
{
    char text[1024];
    int bytes = sqlite3_column_bytes(from, column);
    switch (sqlite3_column_type(from, column)) {
    case SQLITE_INTEGER:
        sqlite3_bind_int64(to, 1,
                           (int64_t)((uint64_t)sqlite3_column_int64(from, column) ^
                                     (UINT64_C(1) << random_between(random, 0, 62))));
        return;
    case SQLITE_FLOAT:
        sqlite3_bind_double(to, 1, sqlite3_column_double(from, column) + 0.25);
        return;
    case SQLITE_NULL:
        sqlite3_bind_int64(to, 1, random_between(random, 0, 3));
        return;
    default:
        CHECK(bytes < (int)sizeof text - 1);
        if (bytes > 0)
            memcpy(text, sqlite3_column_blob(from, column), (size_t)bytes);
        if (bytes == 0 || random_chance(random, 20))
            text[bytes++] = 'X';
        else
            text[random_between(random, 0, bytes - 1)] ^= (char)(1 << random_between(random, 0, 5));
        if (sqlite3_column_type(from, column) == SQLITE_BLOB)
            sqlite3_bind_blob(to, 1, text, bytes, SQLITE_TRANSIENT);
        else
            sqlite3_bind_text(to, 1, text, bytes, SQLITE_TRANSIENT);
    }
}

/* Alters one cell. false where nothing can be: another row has that name already. */
static bool alter(struct random *random, int table, char *where, size_t size)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(record.path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF", NULL, NULL, NULL);
    const char *name = books_tables[table].name;
    sqlite3_stmt *row = prepare(db, sqlite3_mprintf("SELECT *, %s FROM %s ORDER BY %s LIMIT 1 OFFSET "
                                                    "(SELECT abs(%lld) %% count(*) FROM %s)",
                                                    books_tables[table].row, name, books_tables[table].key,
                                                    random_between(random, 0, INT64_C(1) << 40), name));
    CHECK_INT(sqlite3_step(row), SQLITE_ROW);
    int columns = sqlite3_column_count(row) - 1, column = (int)random_between(random, 0, columns - 1);
    snprintf(where, size, "%s: row %s:", name, sqlite3_column_text(row, columns));
    sqlite3_stmt *update =
        prepare(db, sqlite3_mprintf("UPDATE OR IGNORE %s SET \"%w\" = ?1 WHERE (%s) IS (%s)", name,
                                    sqlite3_column_name(row, column), books_tables[table].key,
                                    strchr(books_tables[table].key, ',') ? "?2, ?3" : "?2"));
    bind_changed(update, row, column, random);
    int key = 2;
    for (int c = 0; c < columns && key < (strchr(books_tables[table].key, ',') ? 4 : 3); c++) {
        size_t length = strcspn(books_tables[table].key, ",");
        const char *column_name = sqlite3_column_name(row, c), *want = books_tables[table].key;
        if (key == 3) {
            want += length + 2;
            length = strlen(want);
        }
        if (strlen(column_name) == length && strncmp(column_name, want, length) == 0)
            sqlite3_bind_value(update, key++, sqlite3_column_value(row, c));
    }
    CHECK_INT(sqlite3_step(update), SQLITE_DONE);
    bool altered = sqlite3_changes(db) == 1;
    char cell[96];
    snprintf(cell, sizeof cell, " (%s)", sqlite3_column_name(row, column));
    sqlite3_finalize(row);
    sqlite3_finalize(update);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    strncat(where, cell, size - strlen(where) - 1);
    return altered;
}

/* A row whose own key was altered is named by either, or as missing. */
static bool named(const char *names, const char *where, const char *table)
{
    size_t length = (size_t)(strchr(where, '(') - where) - 1;
    for (const char *at = names; *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : at + strlen(at)) {
        if (strncmp(at, where, length) == 0)
            return true;
        const char *column = strchr(where, '(') + 1;
        bool key = strncmp(column, "id)", 3) == 0 || strncmp(column, "key)", 4) == 0 ||
                   strncmp(column, "account)", 8) == 0 || strncmp(column, "symbol)", 7) == 0 ||
                   strncmp(column, "ts_ns)", 6) == 0;
        if (key && strncmp(at, table, strlen(table)) == 0)
            return true;
        if (strncmp(where, "accounts", 8) == 0 && strncmp(column, "name)", 5) == 0)
            return strncmp(at, "accounts", 8) == 0;
    }
    return false;
}

static void test_cells(struct random *random, int rounds)
{
    char names[8192], where[256];
    int altered = 0;
    for (int i = 0; i < rounds; i++) {
        int table = (int)random_between(random, 0, BOOKS_TABLES - 1);
        write_file();
        if (!alter(random, table, where, sizeof where))
            continue;
        altered++;
        verify(names, sizeof names);
        check_count++;
        if (!named(names, where, books_tables[table].name)) {
            fprintf(stderr, "%s altered, found: %s\n", where, *names ? names : "nothing\n");
            check_failures++;
        }
    }
    printf("cells: %d altered\n", altered);
    CHECK(altered > rounds / 2);
}

/* ---- rows ---- */

/* Takes the oldest row and then the newest out of each table: verify names the table. */
static void test_rows(void)
{
    char names[8192], start[32];
    for (int i = 0; i < 2 * (BOOKS_TABLES - 1); i += COUNTS_PART ? 3 : 1) { /* meta is the last */
        const char *name = books_tables[i / 2].name, *key = books_tables[i / 2].key;
        sqlite3 *db;
        write_file();
        CHECK_INT(sqlite3_open(record.path, &db), SQLITE_OK);
        bool composed = strchr(key, ',') != NULL; /* account and symbol, or account and time */
        sqlite3_stmt *stmt = prepare(
            db,
            sqlite3_mprintf("DELETE FROM %s WHERE (%s) = (SELECT %s FROM %s ORDER BY %s %s LIMIT 1)", name,
                            key, key, name, composed ? strchr(key, ',') + 1 : key, i % 2 ? "DESC" : ""));
        CHECK_INT(sqlite3_step(stmt), SQLITE_DONE);
        CHECK_INT(sqlite3_changes(db), 1);
        sqlite3_finalize(stmt);
        CHECK_INT(sqlite3_close(db), SQLITE_OK);
        verify(names, sizeof names);
        snprintf(start, sizeof start, "%s: ", name);
        if (!strstr(names, start)) {
            fprintf(stderr, "%s: the %s row is gone, found: %s\n", name, i % 2 ? "newest" : "oldest",
                    *names ? names : "nothing\n");
            check_failures++;
        }
    }
}

/* ---- bits ---- */

static void test_bits(struct random *random, int rounds)
{
    char names[8192];
    int found = 0, harmless = 0;
    for (int i = 0; i < rounds; i++) {
        size_t at = (size_t)random_between(random, 0, (int64_t)record.size - 1);
        unsigned char bit = (unsigned char)(1u << random_between(random, 0, 7));
        record.bytes[at] ^= bit;
        write_file();
        record.bytes[at] ^= bit;
        verify(names, sizeof names);
        check_count++;
        if (*names) {
            found++;
        } else if (books_digest(record.path) == record.digest) {
            harmless++;
        } else {
            fprintf(stderr, "byte %zu, bit mask %02x: the record reads otherwise, and nothing was found\n",
                    at, bit);
            check_failures++;
        }
    }
    printf("bits: %d flipped: %d found, %d where nothing is written\n", rounds, found, harmless);
    CHECK(found > 0);
}

int main(void)
{
    static struct books b;
    char directory[SCRATCH_MAX], names[8192];
    bool thorough = getenv("PAPERTAPE_LONG") != NULL;
    struct random random = random_seeded("altered", 20261121);
    scratch_make(directory);
    snprintf(record.path, sizeof record.path, "%s/papertape.db", directory);
    books_keep(&b, record.path, random_next(&random), thorough ? EVENTS_ALL : EVENTS);
    books_close(&b);
    read_file();
    record.digest = books_digest(record.path);
    CHECK(record.digest != 0);
    verify(names, sizeof names);
    CHECK_STR(names, "");
    printf("%zu bytes, %" PRIu64 " orders, %" PRIu64 " fills\n", record.size, b.orders, b.fills);
    if (!thorough)
        printf("counts: %d events, %d cells and %d bits%s (--long: %d, %d and %d)\n", EVENTS, CELLS, BITS,
               COUNTS_PART ? ", every third of the oldest and newest rows" : "", EVENTS_ALL, CELLS_LONG,
               BITS_LONG);
    test_cells(&random, thorough ? CELLS_LONG : CELLS);
    test_rows();
    test_bits(&random, thorough ? BITS_LONG : BITS);
    free(record.bytes);
    return check_done("altered");
}

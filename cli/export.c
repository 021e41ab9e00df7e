#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/export.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"

const char *const cli_export_names[EXPORT_TABLES] = {"bars", "fills", "orders", "ledger", "equity"};

void cli_export_column(json_t *columns, const char *name, const char *type)
{
    size_t n = strlen(name);
    if (strcmp(type, "time") == 0 && n > 3 && strcmp(name + n - 3, "_ns") == 0)
        n -= 3;
    json_array_append_new(columns, json_pack("[o, s]", json_stringn(name, n), type));
}

void cli_export_progress(struct export *export, int64_t first, int64_t day, int64_t last)
{
    cli_progress_show(&export->progress, (double)(day - first) / (double)(last - first + 1));
}

struct asked {
    const char *folder, *python;
    bool verify;
    bool tables[EXPORT_TABLES], some; /* some: --table names them */
    int64_t from_ns, to_ns;
};

static int table_of(const char *word, size_t n)
{
    for (int i = 0; i < EXPORT_TABLES; i++)
        if (strlen(cli_export_names[i]) == n && strncmp(cli_export_names[i], word, n) == 0)
            return i;
    return -1;
}

static int take_tables(struct option_call *call, const struct option_row *row, const char *value)
{
    struct asked *asked = call->into;
    asked->some = true;
    for (const char *word = value;; word++) {
        size_t n = strcspn(word, ",");
        int table = table_of(word, n);
        if (table < 0)
            return option_fail(call, EXIT_USAGE,
                               "--%s: \"%.*s\": " EXPORT_TABLE_NAMES ", with commas between", row->name,
                               (int)(n < 64 ? n : 64), word);
        asked->tables[table] = true;
        word += n;
        if (!*word)
            return EXIT_OK;
    }
}

static int write_table(struct export *export, enum export_table table)
{
    cli_progress_begin(&export->progress, cli_export_names[table]);
    int r = table == EXPORT_BARS     ? cli_export_bars(export)
            : table == EXPORT_EQUITY ? cli_export_equity(export)
                                     : cli_export_trading(export, table);
    cli_progress_end(&export->progress);
    return r;
}

static json_t *totals_json(const struct export_totals *totals, const char *name)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "table", name, "files", (json_int_t)totals->files,
                     "written", (json_int_t)totals->written, "unchanged", (json_int_t)totals->unchanged,
                     "rows", (json_int_t)totals->rows, "kept_rows", (json_int_t)totals->kept, "damaged",
                     (json_int_t)totals->damaged);
}

static int print_json(const struct export *export, const struct asked *asked)
{
    json_t *tables = json_array();
    for (int i = 0; i < EXPORT_TABLES; i++)
        if (asked->tables[i])
            json_array_append_new(tables, totals_json(&export->totals[i], cli_export_names[i]));
    return cli_stored_print("export",
                            json_pack("{s:s, s:s, s:O, s:o}", "schema", "papertape.export/1", "folder",
                                      asked->folder, "python", cli_lake_versions(export->python), "tables",
                                      tables),
                            15);
}

static void print_totals(const struct export *export, const struct asked *asked)
{
    printf("written by %s\n%-8s %8s %8s %10s %12s %10s\n", cli_lake_words(export->python), "table", "files",
           "written", "unchanged", "rows", "kept");
    for (int i = 0; i < EXPORT_TABLES; i++) {
        const struct export_totals *totals = &export->totals[i];
        if (asked->tables[i])
            printf("%-8s %8llu %8llu %10llu %12llu %10llu\n", cli_export_names[i],
                   (unsigned long long)totals->files, (unsigned long long)totals->written,
                   (unsigned long long)totals->unchanged, (unsigned long long)totals->rows,
                   (unsigned long long)totals->kept);
    }
}

/* What the lake knows the database by; "" where its ledger has no first row. */
static int origin(struct db_reader *reader, char ret[static 2 * LEDGER_HASH_SIZE + 1])
{
    uint8_t hash[LEDGER_HASH_SIZE];
    int r = db_day_origin(reader, hash);
    ret[0] = '\0';
    if (r == 0)
        cli_stored_hash(ret, hash);
    return r == -ENOENT ? 0 : r;
}

static int write_tables(struct export *export, const struct asked *asked)
{
    char source[2 * LEDGER_HASH_SIZE + 1];
    const char *arguments[] = {"write", asked->folder, PAPERTAPE_VERSION, source, NULL};
    int r = origin(export->reader, source);
    if (r < 0)
        return r;
    export->status = cli_lake_start("export", asked->python, arguments, &export->python);
    r = export->status == EXIT_OK ? 0 : -ECANCELED;
    for (int i = 0; i < EXPORT_TABLES && r == 0; i++)
        if (asked->tables[i])
            r = write_table(export, (enum export_table)i);
    if (r < 0)
        return r;
    export->status = cli_lake_ask(export->python, json_pack("{s:b}", "end", true), NULL);
    return export->status == EXIT_OK ? 0 : -ECANCELED;
}

static int run(struct option_call *call)
{
    struct asked *asked = call->into;
    struct export export = {.from_day = asked->from_ns / DB_DAY_NS, .to_day = asked->to_ns / DB_DAY_NS};
    if (asked->verify)
        return cli_export_verify(asked->folder, asked->python, call->json);
    if (export.to_day < export.from_day)
        return option_fail(call, EXIT_USAGE, "--to: its day is before that of --from");
    int status = cli_stored_open("export", call->state, &export.reader);
    if (status != EXIT_OK)
        return status;
    for (int i = 0; i < EXPORT_TABLES; i++)
        asked->tables[i] |= !asked->some;
    int r = write_tables(&export, asked);
    status = cli_stored_close("export", export.reader, r == -ECANCELED ? 0 : r);
    status = r == -ECANCELED ? export.status : status;
    if (status == EXIT_OK && call->json)
        status = print_json(&export, asked);
    else if (status == EXIT_OK)
        print_totals(&export, asked);
    cli_lake_finish(export.python);
    return status;
}

static void init(void *into)
{
    *(struct asked *)into = (struct asked){.from_ns = 0, .to_ns = INT64_MAX};
}

static const struct option_action actions[] = {{.need = OPTION_NEEDS_STATE, .run = run, .needed = "parquet"}};

static const struct option_row options[] = {
    {"parquet", "DIR", "the folder, which is made if it is missing", offsetof(struct asked, folder)},
    {"table", "T,…", "of these alone: " EXPORT_TABLE_NAMES, 0, take_tables},
    {"from", "T", "UTC days from that of T on: " STORED_TIME_WORDS, offsetof(struct asked, from_ns),
     cli_stored_take_time},
    {"to", "T", "UTC days until that of T, included", offsetof(struct asked, to_ns), cli_stored_take_time},
    {"python", "PATH", "the Python with pyarrow; default: $PAPERTAPE_PYTHON, or python3 of PATH",
     offsetof(struct asked, python)},
    {"verify", NULL, "write nothing, and compare each file with the manifest's SHA-256; no database is read",
     offsetof(struct asked, verify), .only = "parquet python state"},
};

CLI_VERB(cli_export) = {
    .name = "export",
    .words = "bars, fills, orders, ledger and equity as Parquet, a file a day",
    .about =
        "Writes DIR/TABLE/date=YYYY-MM-DD/NAME.parquet, as DuckDB, pandas, Polars and Spark read it (docs/lake.md): "
        "bars of every symbol and source, a file an interval; fills, orders, ledger and equity, a file each. Days are "
        "UTC's. Prices and money are decimals, times have nanoseconds.\n\n"
        "A second run writes what is new or changed: days that got rows, bars that their venue corrected, orders "
        "that were filled. What the database no longer keeps ([retention], equity that was thinned) stays in the "
        "folder. Each file is whole or not there: after a kill or a full disk the same command continues. "
        "DIR/_manifest.jsonl has each file's rows and SHA-256, with which --verify compares them; pages have checksums, "
        "too. A file that cannot be read is set aside, and written again. The folder of another database is refused, and "
        "one within a lake.\n\n"
        "Python with pyarrow writes the files; which one is printed. backtest --bars DIR reads the bars again. With "
        "--json papertape.export/1, of --verify papertape.export_verify/1.",
    .exits = "1 also where there is no Python with pyarrow, and with --verify where a file is wrong.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
    .init = init,
};

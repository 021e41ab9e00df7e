/* What follows from a record's list: random rows through SQLite, bytes and comparison, each field by itself;
 * and that no member is left out. */
#include "record/field.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>

#include "exchange/fill.h"
#include "record/codec.h"
#include "record/json.h"
#include "record/ledger_row.h"
#include "record/order.h"
#include "record/sqlite.h"
#include "record/value.h"
#include "tests/check.h"
#include "tests/random.h"

enum { ROWS = 200, ACCOUNTS = 3, SYMBOLS = 5, ROW_MAX = 512, NEWEST = 31 };

static const struct {
    const struct record *record;
    size_t size;
    const char *columns, *values;
} records[] = {
    {&record_orders, sizeof(struct order), RECORD_COLUMNS(RECORD_ORDER), RECORD_VALUES(RECORD_ORDER)},
    {&record_fills, sizeof(struct fill), RECORD_COLUMNS(RECORD_FILL), RECORD_VALUES(RECORD_FILL)},
    {&record_ledger, sizeof(struct ledger_row), RECORD_COLUMNS(RECORD_LEDGER_ROW),
     RECORD_VALUES(RECORD_LEDGER_ROW)},
};

/* The database counts symbols otherwise than the process. */
static int64_t symbol_id(void *ctx, int index)
{
    (void)ctx;
    return index < 0 ? 0 : 100 + index;
}

static bool account_is_there(void *ctx, int64_t id)
{
    (void)ctx;
    return id >= 0 && id < ACCOUNTS;
}

static int symbol_index(void *ctx, int64_t id)
{
    (void)ctx;
    return id >= 100 && id < 100 + SYMBOLS ? (int)id - 100 : -1;
}

static const struct record_ids ids = {NULL, symbol_id, account_is_there, symbol_index};

static void draw(struct random *random, const struct record_field *field, char *row)
{
    size_t len = field->kind == RECORD_TEXT ? (size_t)random_between(random, 0, (int64_t)field->size - 1)
                                            : field->size;
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_HASH:
        memset(row + field->offset, 0, field->size);
        for (size_t i = 0; i < len; i++)
            row[field->offset + i] = (char)random_between(random, 'a', 'z');
        break;
    case RECORD_BOOL:
        record_field_set_number(field, row, random_between(random, 0, 1));
        break;
    case RECORD_WORD:
        record_field_set_number(field, row, random_between(random, 0, field->words->n - 1));
        break;
    case RECORD_ACCOUNT:
        record_field_set_number(field, row, random_between(random, 0, ACCOUNTS - 1));
        break;
    case RECORD_SYMBOL:
        record_field_set_number(field, row, random_between(random, 0, SYMBOLS - 1));
        break;
    default:
        record_field_set_number(field, row,
                                random_between(random, -1, 1) * (int64_t)(random_next(random) >> 33));
        if (field->kind == RECORD_UNSIGNED && record_field_number(field, row) < 0)
            record_field_set_number(field, row, 0);
    }
}

static void draw_row(struct random *random, const struct record *record, char *row)
{
    memset(row, 0, ROW_MAX);
    for (int i = 0; i < record->n; i++)
        draw(random, &record->fields[i], row);
}

static size_t alignment(const struct record_field *field)
{
    return field->kind == RECORD_TEXT || field->kind == RECORD_HASH ? 1 : field->size;
}

/* Between two fields there are no more bytes than align the later one. */
static void nothing_left_out(const struct record *record, size_t size)
{
    const struct record_field *starting[ROW_MAX] = {0};
    size_t end = 0;
    for (int i = 0; i < record->n; i++) {
        CHECK(!starting[record->fields[i].offset]);
        starting[record->fields[i].offset] = &record->fields[i];
    }
    for (size_t at = 0; at < size; at++)
        if (starting[at]) {
            CHECK(at >= end && at - end < alignment(starting[at]));
            end = at + starting[at]->size;
        }
    CHECK(size - end < sizeof(int64_t));
}

static void through_sqlite(struct random *random, size_t which)
{
    const struct record *record = records[which].record;
    _Alignas(16) char row[ROW_MAX], back[ROW_MAX];
    char sql[2000];
    sqlite3 *db;
    sqlite3_stmt *insert, *select;
    CHECK_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
    snprintf(sql, sizeof sql, "CREATE TABLE t (%s)", records[which].columns);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    snprintf(sql, sizeof sql, "INSERT INTO t VALUES (%s)", records[which].values);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &insert, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_bind_parameter_count(insert), record->n);
    for (int i = 0; i < ROWS; i++) {
        draw_row(random, record, row);
        record_sqlite_bind(insert, record, row, &ids);
        CHECK_INT(sqlite3_step(insert), SQLITE_DONE);
        sqlite3_reset(insert);
        snprintf(sql, sizeof sql, "SELECT %s FROM t WHERE rowid = %d", records[which].columns, i + 1);
        CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &select, NULL), SQLITE_OK);
        CHECK_INT(sqlite3_step(select), SQLITE_ROW);
        memset(back, 0x5a, sizeof back);
        CHECK(!record_sqlite_read(select, record, back, &ids));
        CHECK(!record_compare(record, row, back));
        for (int k = 0; k < record->n; k++)
            if (record->fields[k].kind == RECORD_SYMBOL)
                CHECK_INT(record_field_number(&record->fields[k], back),
                          record_field_number(&record->fields[k], row));
        sqlite3_finalize(select);
    }
    sqlite3_finalize(insert);
    sqlite3_close(db);
}

/* A statement that names few of the parameters gets those. */
static void few_parameters(void)
{
    const struct order order = {.id = 7, .account = 1, .symbol = 2, .client_id = "mine"};
    sqlite3 *db;
    sqlite3_stmt *stmt;
    CHECK_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, "SELECT :client_id, :id, :symbol, :type", -1, &stmt, NULL), SQLITE_OK);
    record_sqlite_bind(stmt, &record_orders, &order, &ids);
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    CHECK_STR((const char *)sqlite3_column_text(stmt, 0), "mine");
    CHECK_INT(sqlite3_column_int(stmt, 1), 7);
    CHECK_INT(sqlite3_column_int(stmt, 2), 102);
    CHECK_STR((const char *)sqlite3_column_text(stmt, 3), "MARKET");
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

/* Texts by pointer, reals and volumes, there and not there; and a statement whose parameters stand otherwise.
 */
struct kinds {
    const char *text, *more;
    double share;
    int64_t bytes;
    int128_t volume;
    int64_t last;
};
#define KINDS(FIRST, NEXT) \
    FIRST(text, "text", "text", STRING, FIXED, REQUIRED, NULL) \
    NEXT(share, "share", "share", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(bytes, "bytes", "bytes", SIGNED, CHANGES, UNKNOWN, NULL) \
    NEXT(volume, "volume", "volume", VOLUME, CHANGES, REQUIRED, NULL) \
    NEXT(more, "more", "more", STRING, CHANGES, REQUIRED, NULL) \
    NEXT(last, "last", "last", TIME, CHANGES, NULLABLE, NULL)
#define ROW struct kinds
static const struct record_field kind_fields[] = {RECORD_FIELDS(KINDS)};
static const struct record record_kinds = RECORD_OF("kinds", kind_fields);
#undef ROW

static void put_kinds(sqlite3 *db, const char *sql, const struct kinds *row)
{
    sqlite3_stmt *stmt;
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    record_sqlite_bind(stmt, &record_kinds, row, &ids);
    CHECK_INT(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
}

static void check_kinds(sqlite3 *db, const struct kinds *row, const char *nulls)
{
    struct kinds back;
    sqlite3_stmt *stmt;
    CHECK_INT(
        sqlite3_prepare_v2(db,
                           "SELECT " RECORD_COLUMNS(
                               KINDS) ", (share IS NULL) || (bytes IS NULL) || (last IS NULL) FROM kinds",
                           -1, &stmt, NULL),
        SQLITE_OK);
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    CHECK(!record_sqlite_read(stmt, &record_kinds, &back, &ids));
    CHECK_STR(back.text, row->text);
    CHECK_STR(back.more, row->more ? row->more : "");
    CHECK(isnan(row->share) ? isnan(back.share) : back.share == row->share);
    CHECK_INT(back.bytes, row->bytes);
    CHECK(back.volume == row->volume);
    CHECK_INT(back.last, row->last);
    CHECK_STR((const char *)sqlite3_column_text(stmt, record_kinds.n), nulls);
    sqlite3_finalize(stmt);
}

static void kinds(void)
{
    const struct kinds there = {"a", "b", 0.1, 0, ((int128_t)1 << 100) + 1, 7},
                       none = {"a", NULL, NAN, -1, -5, 0};
    const char *texts[RECORD_STRINGS_MAX];
    struct kinds back = there;
    sqlite3 *db;
    CHECK_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "CREATE TABLE kinds (text TEXT PRIMARY KEY, share, bytes, volume, more, last)",
                           NULL, NULL, NULL),
              SQLITE_OK);
    put_kinds(db, RECORD_INSERT("kinds", KINDS), &there);
    check_kinds(db, &there, "000");
    put_kinds(db, RECORD_UPSERT("kinds", "(text)", "last", KINDS), &none);
    check_kinds(db, &none, "111");
    put_kinds(db, "UPDATE kinds SET share = 2" RECORD_ASSIGN(KINDS) " WHERE text = :text", &there);
    check_kinds(db, &there, "000");
    put_kinds(db,
              "UPDATE kinds SET bytes = :bytes, share = :share, volume = :volume, more = :more, "
              "text = :text, last = :last",
              &none);
    check_kinds(db, &none, "111");
    sqlite3_close(db);
    CHECK_INT(record_strings(&record_kinds, &none, texts), 2);
    CHECK_STR(texts[1], "");
    record_set_strings(&record_kinds, &back, "one\0two");
    CHECK_STR(back.text, "one");
    CHECK_STR(back.more, "two");
}

/* The number that means absent, by the field's flag; 0 is a value where another number means absent. */
static void none(void)
{
    struct kinds row = {.text = "", .share = NAN, .bytes = 0, .last = 0};
    struct record_field field = kind_fields[0];
    CHECK(!record_field_none(&field, &row)); /* required */
    field.flags = RECORD_OPTIONAL;
    CHECK(record_field_none(&field, &row));
    CHECK(record_field_none(&kind_fields[1], &row));
    CHECK(!record_field_none(&kind_fields[2], &row));
    field = kind_fields[5];
    CHECK(record_field_none(&field, &row));
    field.flags = RECORD_ABSENT;
    CHECK(!record_field_none(&field, &row));
    row.last = INT64_MIN;
    CHECK(record_field_none(&field, &row));
}

/* What cannot be read is named by its field. */
static void unreadable(void)
{
    static const struct {
        const char *values, *column;
    } rows[] = {
        {"1, 9, 101, 'BUY'", "account"},
        {"1, 1, 99, 'BUY'", "symbol"},
        {"1, 1, 101, 'HOLD'", "side"},
        {"1, 1, 101, NULL", "side"},
        {"1, NULL, NULL, 'SELL', 'LIMIT', 'NEVER'", "tif"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sql[200];
        struct order order;
        sqlite3 *db;
        sqlite3_stmt *stmt;
        CHECK_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
        snprintf(sql, sizeof sql, "SELECT %s", rows[i].values);
        CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
        CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
        const struct record_field *field = record_sqlite_read(stmt, &record_orders, &order, &ids);
        CHECK_STR(field ? field->column : NULL, rows[i].column);
        sqlite3_finalize(stmt);
        sqlite3_close(db);
    }
}

static void through_bytes(struct random *random, const struct record *record)
{
    struct codec codec = {0};
    _Alignas(16) char row[ROW_MAX], back[ROW_MAX] = {0};
    for (int i = 0; i < ROWS; i++) {
        draw_row(random, record, row);
        codec_save(&codec);
        codec.version = NEWEST;
        codec_record(&codec, record, row, ACCOUNTS, SYMBOLS);
        CHECK(!codec.failed);
        struct codec load;
        codec_load(&load, codec.bytes, codec.len);
        load.version = NEWEST;
        codec_record(&load, record, back, ACCOUNTS, SYMBOLS);
        CHECK(codec_complete(&load));
        CHECK(!record_compare(record, row, back));
        codec_load(&load, codec.bytes, codec.len - 1);
        load.version = NEWEST;
        codec_record(&load, record, back, ACCOUNTS, SYMBOLS);
        CHECK(!codec_complete(&load));
    }
    codec_finish(&codec);
}

/* Each field, changed by itself, is the one that differs; a symbol's index is a process's own. */
static void compared(struct random *random, const struct record *record)
{
    _Alignas(16) char row[ROW_MAX], other[ROW_MAX];
    char text[RECORD_TEXT_MAX];
    for (int i = 0; i < record->n; i++) {
        const struct record_field *field = &record->fields[i];
        draw_row(random, record, row);
        memcpy(other, row, sizeof other);
        if (field->kind == RECORD_TEXT || field->kind == RECORD_HASH)
            other[field->offset] ^= 1;
        else
            record_field_set_number(field, other, record_field_number(field, row) ? 0 : 1);
        CHECK(record_compare(record, row, other) == (field->kind == RECORD_SYMBOL ? NULL : field));
        record_value(field, row, NULL, text);
        CHECK(record_find(record, field->name) == field);
    }
}

static void json(void)
{
    static const struct record_key keys[] = {{"symbol", "of"}, {"price"}, {"tag", ""}};
    const struct symbol symbol = {.name = "BTCUSDT", .price_scale = 2, .qty_scale = 3, .quote_scale = 2};
    const struct order order = {.id = 5, .qty = 1500, .tag = "stop", .trail_e6 = 12500, .reduce_only = true};
    const struct record_context known = {&symbol, "main"}, unknown = {NULL, NULL};
    json_t *object = record_json_object(&record_orders, keys, 3, &order, &known);
    CHECK_INT(json_object_size(object), record_orders.n - 1);
    CHECK_STR(json_string_value(json_object_get(object, "of")), "BTCUSDT");
    CHECK(json_is_null(json_object_get(object, "price"))); /* absent */
    CHECK(json_real_value(json_object_get(object, "qty")) == 1.5);
    CHECK(json_real_value(json_object_get(object, "trail_percent")) == 1.25);
    CHECK(json_is_true(json_object_get(object, "reduce_only")));
    CHECK(json_is_null(json_object_get(object, "reason")));
    CHECK_STR(json_string_value(json_object_get(object, "account")), "main");
    CHECK(!json_object_get(object, "tag"));
    json_decref(object);
    object = record_json_object(&record_orders, keys, 3, &order, &unknown);
    CHECK(json_is_null(json_object_get(object, "qty")) && json_is_null(json_object_get(object, "of")));
    json_decref(object);
}

/* A list of what is shown, its struct with texts of others, and that which keeps them. */
#define RECORD_BYTES_FEW 4
/* clang-format off */
#define LAMP(TEXT, FIELD) \
    TEXT(FEW, OPTIONAL, tag) FIELD(UNSIGNED, UNKNOWN, age_ms) FIELD(REAL, NULLABLE, watt, "W") \
    FIELD(REAL, WHOLE, offset) FIELD(TIME, OPTIONAL, lit_ns) FIELD(BOOL, REQUIRED, lit)
/* clang-format on */
struct lamp {
    RECORD_SHOWN(LAMP)
};
RECORD_VIEW_OBJECT(lamp_object, lamp_view, LAMP);
RECORD_SHOWN_RECORD(lamp_record, lamp, LAMP);

static void cut_text(char *field, size_t size, const char *text)
{
    snprintf(field, size, "%s", text);
}

static void shown(void)
{
    static const struct {
        struct lamp_view view;
        const char *json;
    } rows[] = {
        {{"on", 5, 1.5, -7, 9, true},
         "{\"tag\":\"on\",\"age_ms\":5,\"W\":1.5,\"offset\":-7,\"lit_ns\":9,\"lit\":true}"},
        {{"", -1, NAN, NAN, 0, false},
         "{\"tag\":null,\"age_ms\":null,\"W\":null,\"offset\":null,\"lit_ns\":null,\"lit\":false}"},
        {{"longer", 0, 0, 0, 1, true},
         "{\"tag\":\"longer\",\"age_ms\":0,\"W\":0.0,\"offset\":0,\"lit_ns\":1,\"lit\":true}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct lamp_view *view = &rows[i].view;
        struct lamp lamp = {.tag = "x"}, copied;
        json_t *object = lamp_object(view);
        char *text = json_dumps(object, JSON_COMPACT);
        CHECK_STR(text, rows[i].json);
        record_json_take(lamp_record(), object, cut_text, &lamp);
        CHECK(strncmp(lamp.tag, view->tag, 3) == 0 && lamp.age_ms == view->age_ms && lamp.lit == view->lit);
        CHECK(memcmp(&lamp.watt, &view->watt, sizeof lamp.watt) == 0 || isnan(view->watt));
        CHECK(isnan(lamp.watt) == isnan(view->watt) && isnan(lamp.offset) == isnan(view->offset));
        CHECK_INT(lamp.lit_ns, view->lit_ns ? view->lit_ns : -1);
        CHECK(record_copy(record_of_lamp_viewlamp_object(), view, lamp_record(), &copied) == (i != 2));
        CHECK_STR(copied.tag, lamp.tag);
        CHECK(copied.age_ms == view->age_ms && copied.lit_ns == view->lit_ns);
        free(text);
        json_decref(object);
    }
}

/* A flag counts beside others: a field that is asked for, and that states have from some layout on. */
static void flags_together(void)
{
    static const unsigned beside[] = {0, RECORD_ASKED, RECORD_SINCE(8), RECORD_ASKED | RECORD_SINCE_2};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        struct kinds row = {.bytes = 0, .last = INT64_MIN, .share = 7};
        struct record_field unknown = kind_fields[2], absent = kind_fields[5], whole = kind_fields[1];
        unknown.flags = RECORD_UNKNOWN | beside[i];
        absent.flags = RECORD_ABSENT | beside[i];
        whole.flags = RECORD_WHOLE | beside[i];
        CHECK(!record_field_none(&unknown, &row) && record_field_none(&absent, &row));
        json_t *json = record_json(&whole, &row, &(struct record_context){0}), *null = json_null();
        CHECK(json_is_integer(json) && json_integer_value(json) == 7);
        row.last = 0;
        CHECK(record_json_set(&unknown, &row, null) && record_json_set(&absent, &row, null));
        CHECK(row.bytes == -1 && row.last == INT64_MIN);
        json_decref(json);
    }
}

/* What is of another type, or beyond the member, leaves it as it was. */
static void json_set(void)
{
    struct {
        bool truth;
        double real;
        uint32_t few;
        int128_t volume;
    } row = {true, 1.5, 7, 9};
#define AT(kind, member) \
    (struct record_field) \
    { \
        "m", "m", "m", kind, RECORD_REQUIRED, (size_t)((char *)&row.member - (char *)&row), \
            sizeof row.member, NULL \
    }
    struct record_field truth = AT(RECORD_BOOL, truth), real = AT(RECORD_REAL, real),
                        few = AT(RECORD_UNSIGNED, few), volume = AT(RECORD_VOLUME, volume);
    json_t *text = json_string("x"), *most = json_integer(UINT32_MAX),
           *more = json_integer((json_int_t)UINT32_MAX + 1);
    CHECK(!record_json_set(&truth, &row, text) && row.truth);
    CHECK(!record_json_set(&truth, &row, json_null()) && row.truth);
    CHECK(!record_json_set(&real, &row, text) && row.real == 1.5);
    CHECK(!record_json_set(&few, &row, more) && row.few == 7);
    CHECK(record_json_set(&few, &row, most) && row.few == UINT32_MAX);
    CHECK(!record_json_set(&volume, &row, most) && row.volume == 9);
    few.kind = RECORD_SIGNED;
    CHECK(!record_json_set(&few, &row, most));
    json_decref(text);
    json_decref(most);
    json_decref(more);
}

/* Texts are compared as texts, volumes copied whole, and what JSON's other end cannot set stays. */
static void pointers(void)
{
    char one[] = "same", two[] = "same", other[] = "other";
    struct kinds a = {.text = one, .more = one, .volume = ((int128_t)5 << 90) + 3}, b = a, copied = {0};
    b.text = two;
    CHECK(!record_compare(&record_kinds, &a, &b));
    b.more = other;
    CHECK(record_compare(&record_kinds, &a, &b) == record_find(&record_kinds, "more"));
    CHECK(record_copy(&record_kinds, &a, &record_kinds, &copied));
    CHECK(copied.volume == a.volume);
    record_json_take(&record_kinds, NULL, cut_text, &a);
    CHECK(a.text == one && a.more == one && a.volume == copied.volume && a.bytes == -1);
}

/* A byte that is not UTF-8 is '?', and the row is there; what is UTF-8 stays. */
static void bytes(void)
{
    static const char *const texts[][2] = {
        {"bad\xff"
         "bytes",
         "bad?bytes"},
        {"\xc3\xa4\x80\xe2\x82\xac", "\xc3\xa4?\xe2\x82\xac"},
        {"cut \xe2\x82", "cut ??"},
        {"\xed\xa0\x80", "???"}, /* a surrogate */
        {"\xf0\x9f\x99\x82 \xc0\xaf", "\xf0\x9f\x99\x82 ??"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct kinds row = {.text = texts[i][0], .more = "more", .bytes = 4};
        json_t *object = record_json_object(&record_kinds, NULL, 0, &row, NULL);
        CHECK_STR(json_string_value(json_object_get(object, "text")), texts[i][1]);
        CHECK_INT(json_integer_value(json_object_get(object, "bytes")), 4);
        json_decref(object);
    }
}

int main(void)
{
    struct random random = random_seeded("fields", 20261123);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        CHECK(records[i].size <= ROW_MAX);
        nothing_left_out(records[i].record, records[i].size);
        through_sqlite(&random, i);
        through_bytes(&random, records[i].record);
        compared(&random, records[i].record);
    }
    few_parameters();
    kinds();
    none();
    unreadable();
    json();
    shown();
    flags_together();
    json_set();
    pointers();
    bytes();
    return check_done("record/fields");
}

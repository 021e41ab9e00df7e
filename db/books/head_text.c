/* A head as one line of JSON, and back. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "db/books/head.h"
#include "exchange/fail.h"

#define SCHEMA "papertape.anchor/1"

static const char *const occasions[] = {"asked", "start", "day", "stop"};
enum { OCCASIONS = sizeof occasions / sizeof *occasions };

/* ---- to text ---- */

static json_t *put_bytes(const uint8_t bytes[static DB_CHAIN_SIZE])
{
    char text[2 * DB_CHAIN_SIZE + 1];
    for (size_t i = 0; i < DB_CHAIN_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return json_string(text);
}

static json_t *put_open(const struct db_head_table *table)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < table->n_open; i++)
        json_array_append_new(
            rows, json_pack("[I, o]", (json_int_t)table->open[i].id, put_bytes(table->open[i].seal)));
    return rows;
}

static json_t *put_table(const struct db_head_table *table)
{
    json_t *object = json_pack("{s:s, s:I, s:o}", "table", table->name, "rows", (json_int_t)table->chain.rows,
                               "digest", put_bytes(table->chain.digest));
    if (table->last > 0)
        json_object_set_new(object, "last", json_integer((json_int_t)table->last));
    if (table->n_open > 0)
        json_object_set_new(object, "open", put_open(table));
    return object;
}

static json_t *put_log(const struct db_head *head)
{
    if (!head->logged)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "first_segment", (json_int_t)head->log.first, "segment",
                     (json_int_t)head->log.segment, "block", (json_int_t)head->log.block, "last_seq",
                     (json_int_t)head->log.last_seq, "hash", put_bytes(head->log.hash));
}

char *db_head_text(const struct db_head *head)
{
    char time[DB_HEAD_TIME_MAX];
    json_t *tables = json_array();
    for (size_t i = 0; i < head->n_tables; i++)
        json_array_append_new(tables, put_table(&head->tables[i]));
    json_t *object = json_pack("{s:s, s:s, s:I, s:s, s:i, s:I, s:b, s:I, s:o, s:o}", "schema", SCHEMA, "time",
                               db_head_time(head->ts_ns, time), "time_ns", (json_int_t)head->ts_ns,
                               "occasion", occasions[head->occasion], "version", head->version, "run",
                               (json_int_t)head->run, "stopped", head->stopped, "event_seq",
                               (json_int_t)head->event_seq, "log", put_log(head), "tables", tables);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

/* ---- from text ---- */

static bool take_number(const json_t *object, const char *key, json_int_t *ret)
{
    const json_t *value = json_object_get(object, key);
    *ret = json_integer_value(value);
    return json_is_integer(value) && *ret >= 0;
}

static bool take_bytes(const json_t *value, uint8_t ret[static DB_CHAIN_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    const char *text = json_string_value(value);
    if (!text || strlen(text) != (size_t)2 * DB_CHAIN_SIZE || strspn(text, digits) != strlen(text))
        return false;
    for (size_t i = 0; i < DB_CHAIN_SIZE; i++)
        ret[i] = (uint8_t)((strchr(digits, text[2 * i]) - digits) * 16 +
                           (strchr(digits, text[2 * i + 1]) - digits));
    return true;
}

static bool take_open(const json_t *rows, struct db_head_table *to)
{
    if (!rows)
        return true;
    to->open = calloc(json_array_size(rows) + 1, sizeof *to->open);
    uint64_t before = 0;
    for (size_t i = 0; to->open && i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        struct db_head_open *open = &to->open[to->n_open++];
        open->id = (uint64_t)json_integer_value(json_array_get(row, 0));
        if (open->id <= before || open->id > to->last || !take_bytes(json_array_get(row, 1), open->seal))
            return false;
        before = open->id;
    }
    return to->open && json_is_array(rows);
}

static bool take_table(const json_t *object, struct db_head_table *to)
{
    const char *name = json_string_value(json_object_get(object, "table"));
    json_int_t rows, last = 0;
    if (!name || strlen(name) >= sizeof to->name || !take_number(object, "rows", &rows) ||
        !take_bytes(json_object_get(object, "digest"), to->chain.digest) ||
        (json_object_get(object, "last") && !take_number(object, "last", &last)))
        return false;
    memcpy(to->name, name, strlen(name) + 1);
    to->chain.rows = (uint64_t)rows;
    to->last = (uint64_t)last;
    return take_open(json_object_get(object, "open"), to);
}

static bool take_tables(const json_t *tables, struct db_head *head)
{
    head->tables = calloc(json_array_size(tables) + 1, sizeof *head->tables);
    for (size_t i = 0; head->tables && i < json_array_size(tables); i++)
        if (!take_table(json_array_get(tables, i), &head->tables[head->n_tables++]))
            return false;
    return head->tables && head->n_tables > 0;
}

static bool take_log(const json_t *log, struct db_head *head)
{
    json_int_t first, segment, block, last;
    head->logged = log && !json_is_null(log);
    if (!head->logged)
        return log != NULL;
    if (!take_number(log, "first_segment", &first) || !take_number(log, "segment", &segment) ||
        !take_number(log, "block", &block) || !take_number(log, "last_seq", &last) ||
        !take_bytes(json_object_get(log, "hash"), head->log.hash))
        return false;
    head->log.first = (uint32_t)first;
    head->log.segment = (uint32_t)segment;
    head->log.block = (uint32_t)block;
    head->log.last_seq = (uint64_t)last;
    return true;
}

static bool take_head(const json_t *object, struct db_head *head)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));
    const char *occasion = json_string_value(json_object_get(object, "occasion"));
    json_int_t version, run, seq, ts_ns;
    int i = 0;
    while (occasion && i < OCCASIONS && strcmp(occasions[i], occasion) != 0)
        i++;
    if (!schema || strcmp(schema, SCHEMA) != 0 || !occasion || i == OCCASIONS ||
        !take_number(object, "time_ns", &ts_ns) || !take_number(object, "version", &version) ||
        !take_number(object, "run", &run) || !take_number(object, "event_seq", &seq))
        return false;
    head->occasion = (enum db_head_occasion)i;
    head->ts_ns = ts_ns;
    head->version = (int)version;
    head->run = run;
    head->stopped = json_is_true(json_object_get(object, "stopped"));
    head->event_seq = (uint64_t)seq;
    return take_log(json_object_get(object, "log"), head) &&
           take_tables(json_object_get(object, "tables"), head);
}

int db_head_parse(const char *text, size_t len, struct db_head **ret, char *err, size_t err_size)
{
    struct db_head *head = calloc(1, sizeof *head);
    json_t *object = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    int r = head ? 0 : -ENOMEM;
    if (head && (!object || !take_head(object, head)))
        r = fail_with(-EINVAL, err, err_size,
                      "is no anchor: a line of `papertape ledger head`, schema " SCHEMA ", is needed");
    json_decref(object);
    if (r < 0)
        db_head_destroy(head);
    else
        *ret = head;
    return r;
}

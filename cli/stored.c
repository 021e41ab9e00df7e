#include "cli/stored.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/format.h"
#include "cli/text.h"
#include "exchange/bars_file.h"
#include "exchange/clock.h"
#include "exchange/exit_status.h"

int cli_stored_fail(int status, const char *verb, const char *what, const char *words)
{
    char shown[128];
    cli_text_clean(shown, sizeof shown, what);
    fprintf(stderr, "papertape: %s: %s%s", verb, shown, *what ? ": " : "");
    cli_text_print(stderr, words); /* may quote what was found in an altered file */
    fputc('\n', stderr);
    return status;
}

enum stored_form cli_stored_form(const struct option_call *call)
{
    return call->json ? STORED_JSON : call->csv ? STORED_CSV : STORED_TABLE;
}

bool cli_stored_ago_parse(const char *value, int64_t *ret_ns)
{
    static const struct {
        char unit;
        int64_t s;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    enum { COUNT_MAX = 100000 };
    char *end;
    if (value[0] != '-' || !isdigit((unsigned char)value[1]))
        return false;
    long count = strtol(value + 1, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end[0] == units[i].unit && end[1] == '\0' && count <= COUNT_MAX) {
            *ret_ns = count * units[i].s * 1000000000;
            return true;
        }
    return false;
}

/* 20240309, as other programs have dates, would be a second of 1970. */
static bool take_date(const char *value, int64_t *ret_ns)
{
    char text[11];
    if (strlen(value) != 8 || strspn(value, "0123456789") != 8)
        return false;
    snprintf(text, sizeof text, "%.4s-%.2s-%.2s", value, value + 4, value + 6);
    return bars_time_parse(text, 10, ret_ns) == 0;
}

bool cli_stored_time_parse(const char *text, int64_t *ret_ns)
{
    int64_t ago_ns;

    if (!cli_stored_ago_parse(text, &ago_ns))
        return take_date(text, ret_ns) || bars_time_parse(text, strlen(text), ret_ns) == 0;
    *ret_ns = clock_wall_ns() - ago_ns;
    return true;
}

int cli_stored_take_time(struct option_call *call, const struct option_row *row, const char *value)
{
    int64_t *ns = (int64_t *)(void *)((char *)call->into + row->at);

    if (cli_stored_time_parse(value, ns))
        return EXIT_OK;
    return option_fail(call, EXIT_USAGE,
                       "--%s: \"%.64s\": a time as 2024-08-08, 2024-08-08T14:02:00Z, 1723125720, or "
                       "so long before now: -90s, -15m, -1h, -3d, -2w (s, m, h, d, w or y) is needed",
                       row->name, value);
}

const char *cli_stored_symbol(const char *word, char name[static SYMBOL_NAME_MAX])
{
    size_t n = 0;

    for (; word[n] && n < SYMBOL_NAME_MAX - 1; n++)
        name[n] = (char)toupper((unsigned char)word[n]);
    name[n] = '\0';
    return name;
}

int cli_stored_find_log(const char *verb, const char *given, char path[static STATE_PATH_MAX])
{
    struct stat info;
    int n = snprintf(path, STATE_PATH_MAX, "%s/events", given);
    if (n < 0 || n >= STATE_PATH_MAX)
        return cli_stored_fail(EXIT_ERROR, verb, given, strerror(ENAMETOOLONG));
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return EXIT_OK;
    snprintf(path, STATE_PATH_MAX, "%s", given);
    return stat(path, &info) < 0 ? cli_stored_fail(EXIT_ERROR, verb, given, strerror(errno)) : EXIT_OK;
}

int cli_stored_state(const struct option_call *call, struct state_dir *ret)
{
    char err[DB_ERROR_MAX];
    int r = db_state_dir_resolve(call->state, ret, err, sizeof err);
    if (r < 0)
        return option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", err);
    if (access(ret->events, F_OK) < 0 && errno == ENOENT)
        return option_fail(call, EXIT_NO_DAEMON, DB_NOT_YET("event log", "papertaped"));
    return EXIT_OK;
}

int cli_stored_open(const char *verb, const char *state, struct db_reader **ret)
{
    struct state_dir dir;
    char words[DB_ERROR_MAX];
    int r = db_state_dir_resolve(state, &dir, words, sizeof words);
    if (r < 0)
        return cli_stored_fail(r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, verb, "", words);
    if (access(dir.database, R_OK) < 0 && db_state_dir_denied(&dir, state, words, sizeof words))
        return cli_stored_fail(EXIT_ERROR, verb, "", words);
    struct control_error ignored;
    json_t *status = NULL;
    if (access(dir.database, F_OK) < 0 && errno == ENOENT &&
        cli_ask_quietly(state, "status", NULL, &status, &ignored) == EXIT_OK) {
        json_decref(status);
        return cli_stored_fail(EXIT_ERROR, verb, dir.database, CLI_STORED_GONE);
    }
    return cli_stored_open_file(verb, dir.database, ret);
}

int cli_stored_open_file(const char *verb, const char *database, struct db_reader **ret)
{
    char words[DB_ERROR_MAX];
    int r = db_reader_open(database, ret, words, sizeof words);
    return r < 0 ? cli_stored_fail(r == -ENOENT ? EXIT_NO_DAEMON : EXIT_ERROR, verb, database, words)
                 : EXIT_OK;
}

int cli_stored_close(const char *verb, struct db_reader *reader, int r)
{
    if (r < 0)
        cli_stored_fail(EXIT_ERROR, verb, "", r == -ENOMEM ? "out of memory" : db_reader_error(reader));
    db_reader_close(reader);
    return r < 0 ? EXIT_ERROR : EXIT_OK;
}

int cli_stored_print(const char *verb, json_t *object, size_t digits)
{
    char *text = decimal_json_text(object, digits);
    json_decref(object);
    if (!text)
        return cli_stored_fail(EXIT_ERROR, verb, "", "out of memory");
    puts(text);
    free(text);
    return EXIT_OK;
}

/* ---- values ---- */

const char *cli_stored_decimal(enum stored_form form, char *buf, int128_t units, int scale)
{
    char text[DECIMAL_TEXT_MAX];
    if (form == STORED_CSV)
        decimal_format(units, scale, text);
    else
        decimal_format_short(units, scale, text);
    strcpy(buf, text);
    return buf;
}

const char *cli_stored_decimal_or_none(enum stored_form form, char *buf, int64_t units, int scale)
{
    if (units != 0)
        return cli_stored_decimal(form, buf, units, scale);
    *buf = '\0';
    return buf;
}

const char *cli_stored_integer(char *buf, long long value)
{
    snprintf(buf, STORED_CELL, "%lld", value);
    return buf;
}

const char *cli_stored_time(enum stored_form form, char *buf, int64_t ts_ns)
{
    if (form == STORED_CSV)
        return cli_stored_integer(buf, ts_ns);
    char zone[FORMAT_MAX] = "Z";
    int64_t ahead_s = form == STORED_TABLE ? cli_format_utc_offset_s(ts_ns) : 0;
    int64_t ms = ts_ns / 1000000 - (ts_ns % 1000000 < 0) + ahead_s * 1000;
    time_t seconds = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm clock;
    gmtime_r(&seconds, &clock);
    size_t n = strftime(buf, STORED_CELL, "%Y-%m-%d %H:%M:%S", &clock);
    snprintf(buf + n, STORED_CELL - n, ".%03d%.8s", (int)(ms - (int64_t)seconds * 1000),
             form == STORED_TABLE ? cli_format_zone(zone, ts_ns) : zone);
    return buf;
}

const char *cli_stored_hash(char *buf, const uint8_t hash[static LEDGER_HASH_SIZE])
{
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(buf + 2 * i, 3, "%02x", hash[i]);
    return buf;
}

json_t *cli_stored_number_or_null(int64_t units, int scale)
{
    return units != 0 ? decimal_json(units, scale) : json_null();
}

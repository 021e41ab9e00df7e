#include "trainer/command/replay_actions.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "strategy/policy/policy.h"

enum { NO_ACTION = -1, COLUMN_T = -2, COLUMNS_MAX = 4096 };
static const char prefix[] = "action_";

struct actions_reader {
    const char *path;
    const char *const *names;
    int n_names;
    size_t line;
    int *column; /* [n_columns]: which of the names it is, NO_ACTION or COLUMN_T */
    size_t n_columns, cap;
    struct replay_actions actions;
    char *err; /* [REPLAY_ERROR_MAX] */
};

#define bad(reader, ...) fail_with(-EINVAL, (reader)->err, REPLAY_ERROR_MAX, __VA_ARGS__)

/* The next cell of a line, without blanks around it; NULL at the end. */
static char *next_cell(char **rest)
{
    char *cell = strsep(rest, ",");
    if (!cell)
        return NULL;
    cell += strspn(cell, " \t\"");
    for (size_t n = strlen(cell); n > 0 && strchr(" \t\"", cell[n - 1]); n--)
        cell[n - 1] = '\0';
    return cell;
}

static int unknown_column(const struct actions_reader *reader, const char *name)
{
    struct nearest nearest = {0};
    char known[NEAREST_WORD_MAX];
    for (int i = 0; i < reader->n_names; i++) {
        snprintf(known, sizeof known, "%s%s", prefix, reader->names[i]);
        nearest_offer(&nearest, name, known);
    }
    return bad(reader, "%.64s: %s:%zu: a column for each of the %d actions and no other%s", name,
               reader->path, reader->line, reader->n_names, NEAREST_HINT(&nearest, name));
}

static int find_name(const struct actions_reader *reader, const char *name)
{
    for (int i = 0; i < reader->n_names; i++)
        if (strcmp(name, reader->names[i]) == 0)
            return i;
    for (int i = 0; i < reader->n_names; i++)
        if (policy_same_asset(name, reader->names[i]))
            return i;
    return NO_ACTION;
}

static int read_header(struct actions_reader *reader, char *line)
{
    bool *there = calloc((size_t)reader->n_names, sizeof(*there));
    reader->column = calloc(COLUMNS_MAX, sizeof(*reader->column));
    int r = there && reader->column ? 0 : -ENOMEM;
    for (char *cell; r == 0 && (cell = next_cell(&line));) {
        int which = NO_ACTION;
        if (reader->n_columns == COLUMNS_MAX) {
            r = bad(reader, "columns: %s:%zu: at most %d", reader->path, reader->line, COLUMNS_MAX);
            break;
        }
        if (strncmp(cell, prefix, strlen(prefix)) == 0) {
            which = find_name(reader, cell + strlen(prefix));
            if (which == NO_ACTION)
                r = unknown_column(reader, cell);
            else if (there[which])
                r = bad(reader, "%s: %s:%zu: the column stands there twice", cell, reader->path,
                        reader->line);
            else
                there[which] = true;
        } else if (strcmp(cell, "t") == 0) {
            if (reader->actions.has_t)
                r = bad(reader, "t: %s:%zu: the column stands there twice", reader->path, reader->line);
            reader->actions.has_t = true;
            which = COLUMN_T;
        }
        reader->column[reader->n_columns++] = which;
    }
    for (int i = 0; r == 0 && i < reader->n_names; i++)
        if (!there[i])
            r = bad(reader, "no column %s%s: %s:%zu: a header with a column for each action", prefix,
                    reader->names[i], reader->path, reader->line);
    free(there);
    return r;
}

static int read_number(const struct actions_reader *reader, int which, const char *cell, float *ret)
{
    char *end;
    errno = 0;
    float value = strtof(cell, &end);
    if (isinf(value) && errno == ERANGE)
        value = copysignf(FLT_MAX, value);
    if (end == cell || *end != '\0' || !isfinite(value))
        return bad(reader, "%s%s is \"%.40s\": %s:%zu: a finite number", prefix, reader->names[which], cell,
                   reader->path, reader->line);
    *ret = value;
    return 0;
}

/* Rows are numbered consecutively, from any first number. */
static int read_t(struct actions_reader *reader, const char *cell)
{
    struct replay_actions *actions = &reader->actions;
    char *end;
    errno = 0;
    long long t = strtoll(cell, &end, 10), next = actions->first_t + (long long)actions->n;
    if (end == cell || *end != '\0' || errno != 0 || t < 0 || t > INT32_MAX)
        return bad(reader, "t is \"%.40s\": %s:%zu: the number of a row", cell, reader->path, reader->line);
    if (actions->n == 0)
        actions->first_t = t;
    else if (t != next)
        return bad(reader, "t is %lld: %s:%zu: %lld, which comes next: no row is left out", t, reader->path,
                   reader->line, next);
    return 0;
}

static int read_row(struct actions_reader *reader, char *line)
{
    struct replay_actions *actions = &reader->actions;
    if (actions->n == reader->cap) {
        size_t cap = reader->cap ? reader->cap * 2 : 1024;
        float *values = reallocarray(actions->values, cap * (size_t)actions->width, sizeof(*values));
        if (values)
            actions->values = values;
        size_t *lines = reallocarray(actions->lines, cap, sizeof(*lines));
        if (lines)
            actions->lines = lines;
        if (!values || !lines)
            return -ENOMEM;
        reader->cap = cap;
    }
    float *row = actions->values + actions->n * (size_t)actions->width;
    size_t n = 0;
    for (char *cell; (cell = next_cell(&line)); n++) {
        int which = n < reader->n_columns ? reader->column[n] : NO_ACTION;
        int r = which == NO_ACTION  ? 0
                : which == COLUMN_T ? read_t(reader, cell)
                                    : read_number(reader, which, cell, &row[which]);
        if (r < 0)
            return r;
    }
    if (n != reader->n_columns)
        return bad(reader, "%zu cells: %s:%zu: %zu, as the header has", n, reader->path, reader->line,
                   reader->n_columns);
    actions->lines[actions->n++] = reader->line;
    return 0;
}

static int read_all(struct actions_reader *reader, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int r = 0;
    while (r == 0 && (len = getline(&line, &size, file)) >= 0) {
        reader->line++;
        if (strlen(line) != (size_t)len)
            r = bad(reader, "a zero byte: %s:%zu: text", reader->path, reader->line);
        while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
            line[--len] = '\0';
        if (r < 0 || len == 0)
            continue;
        r = reader->column ? read_row(reader, line) : read_header(reader, line);
    }
    free(line);
    if (r == 0 && ferror(file))
        r = bad(reader, "cannot read: %s: a file of actions (%s)", reader->path, strerror(errno));
    if (r == 0 && reader->actions.n == 0)
        r = bad(reader, "no actions: %s: a header with %s%s, and rows", reader->path, prefix,
                reader->names[0]);
    return r;
}

int trainer_replay_actions_read(const char *path, const char *const names[], int n_names,
                                struct replay_actions *ret, char err[static REPLAY_ERROR_MAX])
{
    struct actions_reader reader = {
        .path = path, .names = names, .n_names = n_names, .actions = {.width = n_names}, .err = err};
    FILE *file = fopen(path, "re");
    if (!file) {
        int r = -errno;
        bad(&reader, "cannot read: %s: a CSV of actions (%s)", path, strerror(-r));
        return r;
    }
    int r = read_all(&reader, file);
    fclose(file);
    free(reader.column);
    if (r < 0) {
        if (r == -ENOMEM)
            snprintf(err, REPLAY_ERROR_MAX, "out of memory");
        trainer_replay_actions_finish(&reader.actions);
        return r;
    }
    *ret = reader.actions;
    return 0;
}

int trainer_replay_actions_begin_at(const struct replay_actions *actions, const char *path, int64_t t,
                                    char err[static REPLAY_ERROR_MAX])
{
    if (!actions->has_t || actions->first_t == t)
        return 0;
    return fail_with(-EINVAL, err, REPLAY_ERROR_MAX, "t is %lld: %s:%zu: %lld, with which the episode begins",
                     (long long)actions->first_t, path, actions->lines[0], (long long)t);
}

int trainer_replay_actions_are_levels(const struct replay_actions *actions, const char *path,
                                      const char *const names[], int levels,
                                      char err[static REPLAY_ERROR_MAX])
{
    const size_t width = (size_t)actions->width;
    for (size_t i = 0; i < actions->n * width; i++) {
        float value = actions->values[i];
        if (value >= 0 && value < (float)levels && value == floorf(value))
            continue;
        return fail_with(-EINVAL, err, REPLAY_ERROR_MAX,
                         "%s%s is %.9g: %s:%zu: a level, a whole number from 0 to %d", prefix,
                         names[i % width], (double)value, path, actions->lines[i / width], levels - 1);
    }
    return 0;
}

void trainer_replay_actions_finish(struct replay_actions *actions)
{
    free(actions->values);
    free(actions->lines);
    *actions = (struct replay_actions){0};
}

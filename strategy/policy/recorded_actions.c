#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/policy/recorded_internal.h"

enum { COLUMNS_MAX = 4 * SYMBOLS_MAX };

struct actions_table {
    const char *path;
    char *err;
    struct policy_recorded *recorded;
    char *next; /* the line after this one; NULL: none */
    unsigned long line;
    int column_of[COLUMNS_MAX]; /* which asset a column is; -1: none; -2: t */
    int n_columns;
    bool counted; /* there is a t */
};

enum { COLUMN_OTHER = -1, COLUMN_T = -2 };

/* The next line that is not blank, or NULL. */
static char *next_line(struct actions_table *table)
{
    while (table->next && *table->next) {
        char *line = table->next, *end = strchr(line, '\n');
        table->next = end ? end + 1 : NULL;
        if (end)
            *end = '\0';
        table->line++;
        size_t len = strlen(line);
        while (len > 0 && strchr(" \t\r", line[len - 1]))
            line[--len] = '\0';
        if (len > 0)
            return line;
    }
    return NULL;
}

static int find_asset(const struct policy *policy, const char *name)
{
    for (int i = 0; i < policy->n_assets; i++)
        if (strcmp(policy->assets[i].name, name) == 0)
            return i;
    for (int i = 0; i < policy->n_assets; i++)
        if (policy_same_asset(policy->assets[i].name, name))
            return i;
    return -1;
}

static int read_header(struct actions_table *table)
{
    static const char prefix[] = "action_";
    const struct policy *policy = &table->recorded->policy;
    bool had[SYMBOLS_MAX] = {false};
    char *line = next_line(table), *word;
    if (!line)
        return policy_recorded_refuse(table->err, table->path,
                                      "it is empty: a header and a row a bar are needed");
    if (strncmp(line, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    while ((word = strsep(&line, ",")) != NULL) {
        int of = COLUMN_OTHER;
        if (table->n_columns == COLUMNS_MAX)
            return policy_recorded_refuse(table->err, table->path, "there are more than %d columns",
                                          COLUMNS_MAX);
        if (strcmp(word, "t") == 0 && !table->counted) {
            of = COLUMN_T;
            table->counted = true;
        } else if (strncmp(word, prefix, sizeof prefix - 1) == 0) {
            of = find_asset(policy, word + sizeof prefix - 1);
            if (of < 0)
                return policy_recorded_refuse(table->err, table->path,
                                              "%.64s: the parameters name no such symbol: they begin with %s",
                                              word, policy->assets[0].name);
            if (had[of])
                return policy_recorded_refuse(table->err, table->path, "%.64s: it is there twice", word);
            had[of] = true;
        }
        table->column_of[table->n_columns++] = of;
    }
    for (int i = 0; i < policy->n_assets; i++)
        if (!had[i])
            return policy_recorded_refuse(table->err, table->path, "a column action_%s is missing",
                                          policy->assets[i].name);
    return 0;
}

static int read_row(struct actions_table *table, char *line, size_t row)
{
    const struct policy *policy = &table->recorded->policy;
    float *actions = table->recorded->actions + row * (size_t)policy->n_assets;
    long long t = policy->lookback + (long long)row;
    int column = 0;
    for (char *word; (word = strsep(&line, ",")) != NULL; column++) {
        char *end;
        if (column >= table->n_columns)
            continue;
        int of = table->column_of[column];
        if (of == COLUMN_T) {
            long long number = strtoll(word, &end, 10);
            if (end == word || *end || number != t)
                return policy_recorded_refuse(
                    table->err, table->path,
                    "line %lu: t is \"%.24s\", and row %lld comes next: no row may be left out", table->line,
                    word, t);
        } else if (of >= 0) {
            actions[of] = strtof(word, &end);
            if (end == word || *end || !isfinite(actions[of]))
                return policy_recorded_refuse(table->err, table->path,
                                              "line %lu: action_%s is \"%.24s\": a finite number is needed",
                                              table->line, policy->assets[of].name, word);
        }
    }
    if (column != table->n_columns)
        return policy_recorded_refuse(table->err, table->path, "line %lu: it has not the header's %d columns",
                                      table->line, table->n_columns);
    return 0;
}

static int read_table(struct actions_table *table)
{
    struct policy_recorded *recorded = table->recorded;
    const struct policy *policy = &recorded->policy;
    size_t n = (size_t)(recorded->bars - 2 * (int64_t)policy->lookback), row = 0;
    int r = read_header(table);
    if (r < 0)
        return r;
    recorded->actions = malloc(n * (size_t)policy->n_assets * sizeof *recorded->actions);
    if (!recorded->actions) {
        policy_recorded_refuse(table->err, table->path, "out of memory");
        return -ENOMEM;
    }
    for (char *line; (line = next_line(table)) != NULL; row++) {
        if (row == n)
            return policy_recorded_refuse(
                table->err, table->path,
                "line %lu: %zu rows are all that %lld bars and a lookback of %d have", table->line, n,
                (long long)recorded->bars, policy->lookback);
        r = read_row(table, line, row);
        if (r < 0)
            return r;
    }
    if (row < n)
        return policy_recorded_refuse(
            table->err, table->path, "it ends before row %lld: %zu rows are needed, to t = %lld",
            policy->lookback + (long long)row, n, policy->lookback + (long long)n - 1);
    recorded->n_rows = n;
    return 0;
}

int policy_recorded_read_actions(const char *path, struct policy_recorded *recorded,
                                 char err[static POLICY_ERROR_MAX])
{
    const struct recorded_text *text = &recorded->texts[1];
    if (strlen(text->bytes) != text->len)
        return policy_recorded_refuse(err, path, "it is no text: there is a zero byte in it");
    char *copy = strdup(text->bytes);
    if (!copy) {
        policy_recorded_refuse(err, path, "out of memory");
        return -ENOMEM;
    }
    struct actions_table table = {.path = path, .err = err, .recorded = recorded, .next = copy};
    int r = read_table(&table);
    free(copy);
    return r;
}

#include "strategy/process/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = ",\"history\":true}";

int strategy_history_init(struct process_history *history, size_t most)
{
    *history = (struct process_history){.lines = calloc(most + 1, sizeof *history->lines), .most = most};
    return history->lines ? 0 : -ENOMEM;
}

void strategy_history_finish(struct process_history *history)
{
    for (size_t i = 0; history->lines && i < history->most; i++)
        free(history->lines[i].text);
    free(history->lines);
    *history = (struct process_history){0};
}

uint64_t strategy_history_add(struct process_history *history, int symbol, const char *line, size_t len,
                              bool is_history)
{
    uint64_t number = ++history->n;
    if (history->most == 0)
        return number;
    struct process_past *past = &history->lines[number % history->most];
    len--; /* its end */
    if (len > past->cap) {
        char *moved = realloc(past->text, len);
        past->cap = moved ? len : past->cap;
        past->text = moved ? moved : past->text;
        len = moved ? len : 0;
    }
    if (len > 0)
        memcpy(past->text, line, len);
    past->symbol = symbol;
    past->number = number;
    past->len = len;
    past->history = is_history;
    return number;
}

char *strategy_history_text(const struct process_history *history, const uint64_t *numbers, size_t *ret_n,
                            size_t *ret_len)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, ret_len);
    uint64_t first = history->n < history->most ? 1 : history->n - history->most + 1;
    for (uint64_t number = first; to && history->most > 0 && number <= history->n; number++) {
        const struct process_past *past = &history->lines[number % history->most];
        if (past->len == 0 || number <= numbers[past->symbol])
            continue;
        fwrite(past->text, 1, past->len - !past->history, to);
        fputs(past->history ? "\n" : mark, to);
        fputs(past->history ? "" : "\n", to);
        n++;
    }
    if (!to || fclose(to) != 0) {
        free(text);
        return NULL;
    }
    *ret_n = n;
    return text;
}

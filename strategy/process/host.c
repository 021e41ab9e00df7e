/* The host of a strategy that is a process: one request, one answer. A process that is late keeps its place:
 * it gets every bar in order, and its answers to those whose time is over are skipped. One that has ended is
 * started again at a later request, and is shown the bars that it missed. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/symbol.h"
#include "exchange/utf8.h"
#include "strategy/process/answer.h"
#include "strategy/process/history.h"
#include "strategy/process/line.h"
#include "strategy/process/process.h"

enum {
    BEHIND_MAX = 256,        /* answers that have not come: it is ended then */
    HISTORY_LINES = 1 << 20, /* of all symbols */
    PAUSE_FIRST_S = 1,       /* before its second start in a row, twice that before the third … */
    PAUSE_MOST_S = 60,
};

#define SECOND_NS INT64_C(1000000000)

enum process_phase { DOWN, STARTING, READY };

struct process_host {
    struct strategy_host host;
    const struct strategy *strategy;
    double params[STRATEGY_PARAMS_MAX];
    struct strategy_hello hello; /* its texts and symbols are copies */
    char *account, *currency;
    struct symbol *symbols;
    struct strategy_line_symbol *names;
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT]; /* as it was ready first */
    size_t n_specs;

    struct strategy_child *child; /* NULL when DOWN */
    enum process_phase phase;
    int64_t until_ns; /* STARTING: when it must be ready; DOWN: when it is started again */
    unsigned starts;  /* since it last decided */
    unsigned behind;  /* answers to lines whose time is over */
    /* A bar that was answered by a line that is none: an answer may follow. */
    bool amiss;
    int amiss_symbol;
    int64_t amiss_ns;

    struct process_history history;
    struct strategy_kept *states; /* of each symbol, on the heap … */
    uint64_t *numbers;            /* … and the line that it is as of */
    int64_t *last_ns;             /* the bar that each symbol was given last */
    char *line;
    size_t line_room, line_len;
};

/* ---- failures ---- */

static void __attribute__((format(printf, 3, 4)))
fail(struct strategy_decision *ret, enum strategy_outcome outcome, const char *format, ...)
{
    va_list args;
    ret->outcome = outcome;
    ret->n = 0;
    va_start(args, format);
    vsnprintf(ret->fault, sizeof ret->fault, format, args);
    va_end(args);
    utf8_clean(ret->fault);
}

/* The process is gone, or is ended here; it is started again after a while. */
static void lose(struct process_host *host, char *how, size_t how_size)
{
    strategy_child_end(host->child, true, how, how_size);
    host->child = NULL;
    host->phase = DOWN;
    host->behind = 0;
    host->amiss = false;
    int64_t pause_s =
        host->starts > 1 ? (int64_t)PAUSE_FIRST_S << (host->starts - 2 < 6 ? host->starts - 2 : 6) : 0;
    host->until_ns = clock_now_ns() + (pause_s < PAUSE_MOST_S ? pause_s : PAUSE_MOST_S) * SECOND_NS;
}

/* It ended by itself. */
static void lose_ended(struct process_host *host, struct strategy_decision *ret)
{
    char how[STRATEGY_FAULT_MAX];
    lose(host, how, sizeof how);
    fail(ret, STRATEGY_ENDED, "%s", how);
}

/* ---- its start ---- */

static int start_child(struct process_host *host, char *err, size_t err_size)
{
    const struct strategy_child_log log = {host->hello.says, host->hello.ctx};
    char *hello = strategy_process_hello(host->strategy, host->params, &host->hello, host->states);
    if (!hello)
        return fail_with(-ENOMEM, err, err_size, "not enough memory");
    int r = strategy_child_start(host->strategy->external->source, &log, &host->child, err, err_size);
    host->starts++;
    if (r == 0 && (r = strategy_child_send(host->child, hello, strlen(hello))) < 0)
        snprintf(err, err_size, "not enough memory");
    free(hello);
    host->phase = STARTING;
    host->until_ns = clock_now_ns() + PROCESS_START_MS * INT64_C(1000000);
    if (r < 0)
        lose(host, NULL, 0);
    return r;
}

/* The bars since its states. */
static int give_history(struct process_host *host)
{
    size_t n = 0, len = 0;
    char *text = strategy_history_text(&host->history, host->numbers, &n, &len);
    int r = text ? strategy_child_send(host->child, text, len) : -ENOMEM;
    free(text);
    host->behind = (unsigned)n;
    host->phase = READY;
    return r;
}

static bool are_same(const struct process_host *host, char specs[][STRATEGY_SPEC_TEXT], size_t n)
{
    size_t i = 0;
    while (i < n && i < host->n_specs && strcmp(specs[i], host->specs[i]) == 0)
        i++;
    return i == n && n == host->n_specs;
}

/* Reads whether it is ready. 0: it is; -EAGAIN: not yet; else with a clause, and it is lost. */
static int await_ready(struct process_host *host, int64_t until_ns, char *err, size_t err_size)
{
    char specs[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT], why[PROCESS_REASON_MAX];
    const char *line;
    size_t len, n = 0;
    enum child_said said = strategy_child_read(host->child, until_ns, &line, &len);
    if (said == CHILD_NOTHING && clock_now_ns() < host->until_ns)
        return -EAGAIN;
    if (said != CHILD_LINE) {
        lose(host, said == CHILD_ENDED ? why : NULL, sizeof why);
        return fail_with(-EPIPE, err, err_size, "%s",
                         said == CHILD_ENDED  ? why
                         : said == CHILD_LONG ? "its answer to hello is too long"
                                              : "it does not answer hello within 10 s");
    }
    int r = strategy_process_ready(line, len, specs, &n, why);
    if (r == 0 && host->n_specs == SIZE_MAX) {
        memcpy(host->specs, specs, n * sizeof *specs);
        host->n_specs = n;
    } else if (r == 0 && !are_same(host, specs, n)) {
        r = fail_with(-EPROTO, why, sizeof why, "its indicators are others than when it was started first");
    }
    if (r == 0 && (r = give_history(host)) < 0)
        snprintf(why, sizeof why, "not enough memory");
    if (r < 0) {
        lose(host, NULL, 0);
        snprintf(err, err_size, "%s", why);
    }
    return r;
}

/* Is it ready for a line, by then? */
static bool is_ready(struct process_host *host, int64_t until_ns, struct strategy_decision *ret)
{
    char err[STRATEGY_FAULT_MAX];
    int r = 0;
    int64_t now_ns = clock_now_ns();
    if (host->phase == DOWN && now_ns < host->until_ns) {
        fail(ret, STRATEGY_ENDED, "it has ended, and is started again in %d s",
             (int)((host->until_ns - now_ns + SECOND_NS - 1) / SECOND_NS));
        return false;
    }
    if (host->phase == DOWN)
        r = start_child(host, err, sizeof err);
    if (r == 0 && host->phase == STARTING)
        r = await_ready(host, until_ns, err, sizeof err);
    if (r == -EAGAIN)
        fail(ret, STRATEGY_LATE, "it is starting again");
    else if (r < 0)
        fail(ret, STRATEGY_ENDED, "%s", err);
    return r == 0;
}

/* ---- one bar ---- */

/* Does the engine show the symbol's bars once more, as after a split? What was kept of them is void. */
static bool begins_again(struct process_host *host, int symbol, int64_t open_ns)
{
    bool again = open_ns <= host->last_ns[symbol];
    host->last_ns[symbol] = open_ns;
    if (!again)
        return false;
    free((void *)host->states[symbol].bytes);
    host->states[symbol] = (struct strategy_kept){0};
    host->numbers[symbol] = host->history.n;
    return true;
}

static bool write_line(struct process_host *host, const struct strategy_request *request)
{
    size_t room = strategy_line_room(request);
    if (room > host->line_room) {
        char *moved = realloc(host->line, room);
        if (!moved)
            return false;
        host->line = moved;
        host->line_room = room;
    }
    bool again = begins_again(host, request->symbol, request->bar.open_ns);
    host->line_len = strategy_line_bar(host->line, host->names, request, again);
    return true;
}

static bool is_symbol(const struct process_host *host, int symbol, struct json_text text)
{
    char name[SYMBOL_NAME_MAX + 1];
    if (json_text_is(text, host->symbols[symbol].name))
        return true;
    strategy_answer_text(text, name, sizeof name);
    return strcmp(name, host->symbols[symbol].name) == 0;
}

/* Does it follow a line that was taken for its answer? */
static bool comes_after(struct process_host *host, const struct strategy_answer *answer)
{
    bool after = host->amiss && answer->names && answer->time_ns == host->amiss_ns &&
                 is_symbol(host, host->amiss_symbol, answer->symbol);
    host->amiss &= !after;
    return after;
}

/* What it wrote since its last answer: skipped where it is behind. False: it has ended. *ret_early: it wrote
 * what it was not asked. */
static bool drain(struct process_host *host, bool *ret_early)
{
    struct strategy_answer answer;
    char fault[STRATEGY_FAULT_MAX];
    const char *line;
    size_t len;
    for (;;) {
        enum child_said said = strategy_child_read(host->child, 0, &line, &len);
        if (said == CHILD_NOTHING || said == CHILD_ENDED)
            return said == CHILD_NOTHING;
        if (said == CHILD_LINE && strategy_answer_read(line, len, &answer, fault) == 0 &&
            comes_after(host, &answer))
            continue;
        *ret_early |= host->behind == 0;
        host->behind -= host->behind > 0;
    }
}

/* Remembers the state of the symbol, for the decision and for a process that takes its place. */
static void keep_state(struct process_host *host, int symbol, struct json_text state,
                       struct strategy_decision *ret)
{
    struct strategy_kept *kept = &host->states[symbol];
    bool none = json_is(state, "null");
    if (!state.data)
        return;
    if (state.len > STRATEGY_KEPT_MAX) {
        fail(ret, STRATEGY_INVALID, "its state has %zu bytes: at most %d can be", state.len,
             STRATEGY_KEPT_MAX);
        return;
    }
    void *copy = none ? NULL : realloc((void *)kept->bytes, state.len);
    if (!none && !copy) {
        fail(ret, STRATEGY_INVALID, "not enough memory for its state");
        return;
    }
    if (none)
        free((void *)kept->bytes);
    else
        memcpy(copy, state.data, state.len);
    *kept = (struct strategy_kept){copy, none ? 0 : (uint32_t)state.len};
    host->numbers[symbol] = host->history.n;
    ret->keeps = true;
    ret->state = *kept;
}

/* Its answer to this bar. */
static void take(struct process_host *host, const struct strategy_request *request,
                 const struct strategy_answer *answer, struct strategy_decision *ret)
{
    const struct strategy_input *round = host->strategy->together ? &request->input : NULL;
    char text[STRATEGY_FAULT_MAX];
    if (answer->kind == ANSWER_ERROR) {
        strategy_answer_text(answer->text, text, sizeof text);
        fail(ret, STRATEGY_INVALID, "it failed: %.140s", text);
        return;
    }
    if (strategy_answer_intents(answer->intents, round, ret) < 0) {
        memcpy(text, ret->fault, sizeof text);
        fail(ret, STRATEGY_INVALID, "%s", text);
        return;
    }
    keep_state(host, request->symbol, answer->state, ret);
    if (ret->outcome == STRATEGY_DECIDED)
        host->starts = 1;
}

static void goes_amiss(struct process_host *host, const struct strategy_request *request)
{
    host->amiss = true;
    host->amiss_symbol = request->symbol;
    host->amiss_ns = request->bar.open_ns;
}

/* A line that it wrote after this bar's. True: the decision is made. */
static bool judge(struct process_host *host, const struct strategy_request *request, const char *line,
                  size_t len, struct strategy_decision *ret)
{
    struct strategy_answer answer;
    char fault[STRATEGY_FAULT_MAX];
    int r = strategy_answer_read(line, len, &answer, fault);
    bool its = r == 0 && answer.kind != ANSWER_OTHER && answer.names &&
               answer.time_ns == request->bar.open_ns && is_symbol(host, request->symbol, answer.symbol);
    if (its || (r == 0 && answer.kind == ANSWER_ERROR && !answer.names && host->behind == 0)) {
        host->behind = 0;
        take(host, request, &answer, ret);
        return true;
    }
    if (r == 0 && comes_after(host, &answer))
        return false;
    if (host->behind > 0) {
        host->behind--;
        return false;
    }
    goes_amiss(host, request);
    if (r < 0)
        fail(ret, STRATEGY_INVALID, "%s", fault);
    else if (answer.kind == ANSWER_OTHER)
        fail(ret, STRATEGY_INVALID, "its answer is of another type than intents or error");
    else
        fail(ret, STRATEGY_INVALID, "its answer is of another bar or symbol");
    return true;
}

static void wait_for(struct process_host *host, const struct strategy_request *request, int64_t until_ns,
                     struct strategy_decision *ret)
{
    const char *line;
    size_t len;
    for (;;) {
        enum child_said said = strategy_child_read(host->child, until_ns, &line, &len);
        if (said == CHILD_LINE && judge(host, request, line, len, ret))
            return;
        if (said == CHILD_LINE)
            continue;
        if (said == CHILD_LONG && host->behind > 0) {
            host->behind--;
            continue;
        }
        if (said == CHILD_ENDED) {
            lose_ended(host, ret);
        } else if (said == CHILD_LONG) {
            goes_amiss(host, request);
            fail(ret, STRATEGY_INVALID, "its answer is longer than %d bytes", CHILD_LINE_MAX);
        } else {
            host->behind++;
            fail(ret, STRATEGY_LATE, "no answer within %lld ms", (long long)(host->hello.limit_ns / 1000000));
        }
        return;
    }
}

/* Gives it the line; false: it is lost, or what it does is clear already. */
static bool give_line(struct process_host *host, const struct strategy_request *request,
                      struct strategy_decision *ret)
{
    bool early = false;
    if (!drain(host, &early)) {
        lose_ended(host, ret);
        return false;
    }
    if (host->behind >= BEHIND_MAX || strategy_child_send(host->child, host->line, host->line_len) < 0) {
        lose(host, NULL, 0);
        fail(ret, STRATEGY_ENDED, "it is ended: it is %d bars behind", BEHIND_MAX);
        return false;
    }
    if (early)
        fail(ret, STRATEGY_INVALID, "it wrote a line that it was not asked for");
    else if (host->behind > 0 && !request->acts)
        fail(ret, STRATEGY_LATE, "it is still at an earlier bar");
    else
        return true;
    host->behind++;
    return false;
}

/* Not those that were added since its hello. */
static bool knows(const struct process_host *host, const struct strategy_request *request)
{
    bool known = request->symbol < host->hello.n_symbols;
    for (int k = 0; k < request->input.n_peers; k++)
        known &= request->input.peers[k].symbol < host->hello.n_symbols;
    return known;
}

void strategy_process_host_decide(struct strategy_host *base, const struct strategy_request *request,
                                  struct strategy_decision *ret)
{
    struct process_host *host = (struct process_host *)base;
    const int64_t until_ns = clock_now_ns() + host->hello.limit_ns;
    ret->outcome = STRATEGY_DECIDED;
    ret->fault[0] = '\0';
    ret->n = 0;
    ret->keeps = false;
    ret->state = (struct strategy_kept){0};
    if (!knows(host, request)) {
        fail(ret, STRATEGY_INVALID, "the bar is of a symbol that was added after it was started");
        return;
    }
    if (!write_line(host, request)) {
        fail(ret, STRATEGY_ENDED, "not enough memory");
        return;
    }
    bool ready = host->phase == READY || is_ready(host, until_ns, ret);
    (void)strategy_history_add(&host->history, request->symbol, host->line, host->line_len, !request->acts);
    if (ready && give_line(host, request, ret))
        wait_for(host, request, until_ns, ret);
}

/* ---- opening ---- */

void strategy_process_host_close(struct strategy_host *base)
{
    struct process_host *host = (struct process_host *)base;
    strategy_child_end(host->child, false, NULL, 0);
    for (int s = 0; host->states && s < host->hello.n_symbols; s++)
        free((void *)host->states[s].bytes);
    strategy_history_finish(&host->history);
    free(host->states);
    free(host->numbers);
    free(host->last_ns);
    free(host->names);
    free(host->symbols);
    free(host->account);
    free(host->currency);
    free(host->line);
    free(host);
}

/* Copies of what hello points to. */
static int copy_hello(struct process_host *host, const struct strategy_hello *hello)
{
    const size_t n = (size_t)hello->n_symbols;
    host->account = strdup(hello->account);
    host->currency = strdup(hello->currency);
    host->symbols = malloc((n + 1) * sizeof *host->symbols);
    host->names = malloc((n + 1) * sizeof *host->names);
    host->states = calloc(n + 1, sizeof *host->states);
    host->numbers = calloc(n + 1, sizeof *host->numbers);
    host->last_ns = malloc((n + 1) * sizeof *host->last_ns);
    if (!host->account || !host->currency || !host->symbols || !host->names || !host->states ||
        !host->numbers || !host->last_ns)
        return -ENOMEM;
    host->hello = *hello;
    host->hello.account = host->account;
    host->hello.currency = host->currency;
    host->hello.symbols = host->symbols;
    host->hello.states = NULL;
    for (size_t s = 0; s < n; s++) {
        const struct strategy_kept kept = hello->states ? hello->states[s] : (struct strategy_kept){0};
        host->symbols[s] = hello->symbols[s];
        host->last_ns[s] = INT64_MIN;
        strategy_line_symbol(&hello->symbols[s], &host->names[s]);
        void *copy = kept.len > 0 ? malloc(kept.len) : NULL;
        if (kept.len > 0 && !copy)
            return -ENOMEM;
        host->states[s] = (struct strategy_kept){copy, kept.len};
        if (copy)
            memcpy(copy, kept.bytes, kept.len);
    }
    return 0;
}

static size_t history_lines(const struct strategy *strategy, int n_symbols)
{
    const struct process_strategy *process = strategy_process_of(strategy);
    size_t n = (process ? process->history : PROCESS_HISTORY) * (size_t)n_symbols;
    return n < HISTORY_LINES ? n : HISTORY_LINES;
}

int strategy_process_host_open(const struct strategy *strategy, const double *params,
                               const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                               size_t err_size)
{
    struct process_host *host = calloc(1, sizeof *host);
    if (!host)
        return fail_with(-ENOMEM, err, err_size, "not enough memory");
    host->strategy = strategy;
    host->n_specs = SIZE_MAX;
    memcpy(host->params, params, sizeof host->params);
    int r = copy_hello(host, hello);
    if (r == 0)
        r = strategy_history_init(&host->history, history_lines(strategy, hello->n_symbols));
    if (r < 0)
        snprintf(err, err_size, "not enough memory");
    if (r == 0 && hello->live)
        strategy_process_rest(strategy);
    if (r == 0)
        r = start_child(host, err, err_size);
    if (r == 0)
        r = await_ready(host, host->until_ns, err, err_size);
    if (r < 0) {
        strategy_process_host_close(&host->host);
        return r == -EAGAIN ? -ETIMEDOUT : r;
    }
    *ret = &host->host;
    return 0;
}

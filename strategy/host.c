/* Outside strategies: which form one is of, and its host. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "strategy/external.h"
#include "strategy/recorded.h"

enum { SHOWN = 60 }; /* characters of a wrong word that a message repeats */

const char *strategy_outcome_name(enum strategy_outcome outcome)
{
    static const char *const names[STRATEGY_OUTCOMES] = {"decided", "late", "invalid", "ended"};
    return (unsigned)outcome < STRATEGY_OUTCOMES ? names[outcome] : "unknown";
}

bool strategy_same(const struct strategy *a, const struct strategy *b)
{
    if (a == b || !a || !b || !a->external || !b->external)
        return a == b;
    return a->external->form == b->external->form && strcmp(a->name, b->name) == 0 &&
           memcmp(a->external->hash, b->external->hash, STRATEGY_HASH_SIZE) == 0;
}

const char *strategy_form_prefix(enum strategy_form form)
{
    static const char *const prefixes[STRATEGY_FORMS] = {
        [STRATEGY_LIBRARY] = "lib:", [STRATEGY_PROCESS] = "exec:"};
    return prefixes[form];
}

const char *strategy_form_source(enum strategy_form form, const char *name)
{
    size_t n = strlen(strategy_form_prefix(form));
    return strncmp(name, strategy_form_prefix(form), n) == 0 ? name + n : NULL;
}

bool strategy_is_outside(const char *name)
{
    for (int f = 0; f < STRATEGY_FORMS; f++)
        if (strategy_form_source((enum strategy_form)f, name))
            return true;
    return false;
}

static int open_form(enum strategy_form form, const char *name, const char *source,
                     const struct strategy **ret, char *err, size_t err_size)
{
    const struct strategy_form_row *row = strategy_form_row(form);
    if (!row)
        return fail_with(-ENOTSUP, err, err_size, "\"%.*s\": this program is built without strategies of %s",
                         SHOWN, name, strategy_form_prefix(form));
    if (source[0] == '\0')
        return fail_with(-EINVAL, err, err_size, "\"%s\": %s", name,
                         form == STRATEGY_LIBRARY ? "the file of a shared object follows: lib:/path/FILE.so"
                                                  : "a command follows: exec:python3 FILE.py");
    if (strlen(source) >= STRATEGY_SOURCE_MAX)
        return fail_with(-EINVAL, err, err_size, "\"%.*s\": longer than the %d characters that it may have",
                         SHOWN, name, STRATEGY_SOURCE_MAX - 1);
    return row->open(source, ret, err, err_size);
}

int strategy_open(const char *name, const struct strategy **ret, char *err, size_t err_size)
{
    for (int f = 0; f < STRATEGY_FORMS; f++) {
        const char *source = strategy_form_source((enum strategy_form)f, name);
        if (source)
            return open_form((enum strategy_form)f, name, source, ret, err, err_size);
    }
    const struct strategy *found = strategy_find(name);
    if (!found) {
        strategy_unknown(name, NULL, err, err_size);
        return -ENOENT;
    }
    *ret = found;
    return 0;
}

/* What a log describes is asked as what it is now, if that is the same. */
static int find_real(const struct strategy **strategy, char *err, size_t err_size)
{
    const struct strategy *described = *strategy;
    if (!strategy_is_recorded(described))
        return 0;
    int r = strategy_open(described->name, strategy, err, err_size);
    if (r == 0 && !strategy_same(*strategy, described))
        r = fail_with(-ESTALE, err, err_size, "%.*s is another by now than the one that traded here", SHOWN,
                      described->name);
    return r;
}

int strategy_host_open(const struct strategy *strategy, const double *params,
                       const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                       size_t err_size)
{
    int found = find_real(&strategy, err, err_size);
    if (found < 0)
        return found;
    const struct strategy_form_row *row = strategy_form_row(strategy->external->form);
    if (!row)
        return fail_with(-ENOTSUP, err, err_size, "this program is built without strategies of %s",
                         strategy_form_prefix(strategy->external->form));
    int r = row->host_open(strategy, params, hello, ret, err, err_size);
    if (r == 0)
        (*ret)->row = row;
    return r;
}

void strategy_host_decide(struct strategy_host *host, const struct strategy_request *request,
                          struct strategy_decision *ret)
{
    host->row->host_decide(host, request, ret);
}

void strategy_host_close(struct strategy_host *host)
{
    if (host)
        host->row->host_close(host);
}

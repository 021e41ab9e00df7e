#include "strategy/recorded.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/symbol.h"

/* The indicators with some parameters. */
struct known_specs {
    struct known_specs *next;
    double values[STRATEGY_PARAMS_MAX];
    uint32_t n;
    char texts[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
};

struct recorded {
    struct recorded *next;
    struct strategy strategy;
    struct strategy_external external;
    struct strategy_param params[STRATEGY_PARAMS_MAX];
    struct strategy_description description; /* the texts */
    char name[STRATEGY_NAME_MAX];
    struct known_specs *specs;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct recorded *list;

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

void strategy_describe(const struct strategy *strategy, const double *params,
                       struct strategy_description *ret)
{
    const struct strategy_external *external = strategy->external;
    memset(ret, 0, sizeof *ret);
    ret->form = external->form;
    memcpy(ret->hash, external->hash, sizeof ret->hash);
    copy_text(ret->source, sizeof ret->source, external->source);
    copy_text(ret->title, sizeof ret->title, external->title);
    copy_text(ret->summary, sizeof ret->summary, strategy->summary);
    ret->shorts = strategy->shorts;
    ret->needs_shorts = strategy->needs_shorts;
    ret->peers = strategy->peers;
    ret->together = strategy->together;
    ret->symbols_min = (uint32_t)strategy->symbols_min;
    ret->state_size = (uint32_t)strategy->state_size;
    ret->n_params = (uint32_t)strategy->n_params;
    for (size_t i = 0; i < strategy->n_params; i++) {
        const struct strategy_param *from = &strategy->params[i];
        struct strategy_described_param *to = &ret->params[i];
        copy_text(to->name, sizeof to->name, from->name);
        copy_text(to->summary, sizeof to->summary, from->summary);
        copy_text(to->words, sizeof to->words, from->words);
        to->fallback = from->fallback;
        to->min = from->min;
        to->max = from->max;
        to->integer = from->integer;
        to->later = from->later;
        to->opens = from->opens;
        ret->values[i] = params[i];
    }
    size_t n = strategy_specs(strategy, params, ret->specs);
    if (n <= STRATEGY_SPECS_MAX)
        ret->n_specs = (uint32_t)n;
    else
        memset(ret->specs, 0, sizeof ret->specs);
}

static struct known_specs *specs_of(const struct recorded *recorded, const double *params)
{
    struct known_specs *known = recorded->specs;
    while (known && memcmp(known->values, params, recorded->strategy.n_params * sizeof *params) != 0)
        known = known->next;
    return known;
}

static size_t recorded_specs(const struct strategy *strategy, const double *params,
                             char specs[][STRATEGY_SPEC_TEXT])
{
    pthread_mutex_lock(&lock);
    const struct known_specs *known = specs_of(strategy->external->ctx, params);
    pthread_mutex_unlock(&lock);
    if (!known)
        return STRATEGY_SPECS_UNKNOWN;
    memcpy(specs, known->texts, known->n * sizeof *known->texts);
    return known->n;
}

bool strategy_is_recorded(const struct strategy *strategy)
{
    return strategy->external && strategy->external->specs == recorded_specs;
}

static bool same_param(const struct strategy_described_param *a, const struct strategy_described_param *b)
{
    const double x[] = {a->fallback, a->min, a->max}, y[] = {b->fallback, b->min, b->max};
    return strcmp(a->name, b->name) == 0 && strcmp(a->summary, b->summary) == 0 &&
           strcmp(a->words, b->words) == 0 && memcmp(x, y, sizeof x) == 0 && a->integer == b->integer &&
           a->later == b->later && a->opens == b->opens;
}

/* All of it, and other specs with the same parameters it has not. */
static bool describes(const struct recorded *recorded, const struct strategy_description *d)
{
    const struct strategy_description *own = &recorded->description;
    bool same = own->form == d->form && strcmp(own->source, d->source) == 0 &&
                strcmp(own->title, d->title) == 0 && strcmp(own->summary, d->summary) == 0 &&
                memcmp(own->hash, d->hash, sizeof own->hash) == 0 && own->shorts == d->shorts &&
                own->needs_shorts == d->needs_shorts && own->peers == d->peers &&
                own->together == d->together && own->symbols_min == d->symbols_min &&
                own->state_size == d->state_size && own->n_params == d->n_params;
    for (uint32_t i = 0; same && i < d->n_params; i++)
        same = same_param(&own->params[i], &d->params[i]);
    const struct known_specs *known = same ? specs_of(recorded, d->values) : NULL;
    return same &&
           (!known || (known->n == d->n_specs && memcmp(known->texts, d->specs, sizeof d->specs) == 0));
}

static bool ended(const char *text, size_t size)
{
    return memchr(text, 0, size) != NULL;
}

static bool sound(const struct strategy_description *d)
{
    bool good = (unsigned)d->form < STRATEGY_FORMS && d->n_params <= STRATEGY_PARAMS_MAX &&
                d->n_specs <= STRATEGY_SPECS_MAX && d->state_size <= STRATEGY_STATE_MAX &&
                d->symbols_min <= SYMBOLS_MAX && d->source[0] != '\0' && ended(d->source, sizeof d->source);
    for (uint32_t i = 0; good && i < d->n_params; i++)
        good = d->params[i].name[0] != '\0' && d->params[i].min <= d->params[i].max;
    return good;
}

static void make_param(const struct strategy_described_param *from, struct strategy_param *to)
{
    *to = (struct strategy_param){.name = from->name,
                                  .summary = from->summary,
                                  .fallback = from->fallback,
                                  .min = from->min,
                                  .max = from->max,
                                  .integer = from->integer,
                                  .words = from->words[0] ? from->words : NULL,
                                  .later = from->later,
                                  .opens = from->opens};
}

static struct recorded *make(const struct strategy_description *description)
{
    struct recorded *recorded = calloc(1, sizeof *recorded);
    if (!recorded)
        return NULL;
    struct strategy_description *own = &recorded->description;
    *own = *description;
    snprintf(recorded->name, sizeof recorded->name, "%s%s", strategy_form_prefix(own->form), own->source);
    for (uint32_t i = 0; i < own->n_params; i++)
        make_param(&own->params[i], &recorded->params[i]);
    recorded->external = (struct strategy_external){.form = own->form,
                                                    .source = own->source,
                                                    .title = own->title,
                                                    .ctx = recorded,
                                                    .specs = recorded_specs};
    memcpy(recorded->external.hash, own->hash, sizeof recorded->external.hash);
    recorded->strategy = (struct strategy){.name = recorded->name,
                                           .summary = own->summary,
                                           .params = recorded->params,
                                           .n_params = own->n_params,
                                           .shorts = own->shorts,
                                           .needs_shorts = own->needs_shorts,
                                           .peers = own->peers,
                                           .together = own->together,
                                           .symbols_min = (int)own->symbols_min,
                                           .state_size = own->state_size,
                                           .external = &recorded->external};
    return recorded;
}

static int add_specs(struct recorded *recorded, const struct strategy_description *description)
{
    if (specs_of(recorded, description->values))
        return 0;
    struct known_specs *known = calloc(1, sizeof *known);
    if (!known)
        return -ENOMEM;
    memcpy(known->values, description->values, sizeof known->values);
    memcpy(known->texts, description->specs, sizeof known->texts);
    known->n = description->n_specs;
    known->next = recorded->specs;
    recorded->specs = known;
    return 0;
}

int strategy_recorded(const struct strategy_description *description, const struct strategy **ret)
{
    int r = sound(description) ? 0 : -EINVAL;
    if (r < 0)
        return r;
    pthread_mutex_lock(&lock);
    struct recorded *recorded = list;
    while (recorded && !describes(recorded, description))
        recorded = recorded->next;
    if (!recorded && (recorded = make(description))) {
        recorded->next = list;
        list = recorded;
    }
    r = recorded ? add_specs(recorded, description) : -ENOMEM;
    pthread_mutex_unlock(&lock);
    if (r == 0)
        *ret = &recorded->strategy;
    return r;
}

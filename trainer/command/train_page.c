#include "trainer/command/train_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int train_page_open(const char *path, struct train_page **ret)
{
    int r = report_page_try(path);
    if (r < 0)
        return r;
    struct train_page *page = calloc(1, sizeof *page);
    if (!page)
        return -ENOMEM;
    page->path = path;
    page->judged_on = "";
    page->calls = trainer_trace_calls(&page->last.trace);
    *ret = page;
    return 0;
}

static void forget(struct train_page_shown *shown)
{
    training_episode_finish(&shown->episode);
    trainer_trace_finish(&shown->trace);
}

int train_page_curves(const struct train_page *page)
{
    return page->n_seeds < LEARNING_SEEDS ? page->n_seeds : LEARNING_SEEDS;
}

void train_page_close(struct train_page *page)
{
    if (!page)
        return;
    forget(&page->last);
    forget(&page->shown);
    for (int i = 0; i < train_page_curves(page); i++)
        free(page->learning[i]);
    free(page);
}

int train_page_begin(struct train_page *page)
{
    if (!page)
        return 0;
    struct trainer_learning *learning = page->n_seeds < LEARNING_SEEDS ? trainer_learning_create() : NULL;
    if (page->n_seeds < LEARNING_SEEDS && !learning)
        return -ENOMEM;
    forget(&page->last);
    if (learning)
        page->learning[page->n_seeds] = learning;
    page->n_seeds++;
    return 0;
}

/* The curves of the seed that trains; NULL: there are none. */
static struct trainer_learning *current(const struct train_page *page)
{
    return page && page->n_seeds > 0 && page->n_seeds <= LEARNING_SEEDS ? page->learning[page->n_seeds - 1]
                                                                        : NULL;
}

void train_page_updated(struct train_page *page, const struct ppo_update *update)
{
    if (current(page))
        trainer_learning_add(current(page), update);
}

void train_page_judged(struct train_page *page, const struct training_source *source, enum source_part part,
                       int64_t steps, const struct evaluation *evaluation)
{
    bool trades = source->market != NULL;
    if (!current(page))
        return;
    page->judged_on = training_source_part_name(part);
    trainer_learning_judge(current(page), steps, trades ? training_return(evaluation) : evaluation->reward,
                           training_benchmark_return(evaluation));
}

struct training_watch *train_page_watch(struct train_page *page, enum source_part part,
                                        struct training_watch *ret)
{
    if (!page || part != SOURCE_TEST)
        return NULL;
    forget(&page->last);
    *ret = (struct training_watch){.calls = &page->calls, .episode = &page->last.episode};
    return ret;
}

void train_page_keep(struct train_page *page)
{
    if (!page)
        return;
    forget(&page->shown);
    page->shown = page->last;
    page->last = (struct train_page_shown){0};
}

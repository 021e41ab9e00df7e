#include "tui/past.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "db/as_of.h"
#include "exchange/bar.h"
#include "exchange/clock.h"
#include "tui/history_reader.h"

struct tui_past_source {
    char *path;
    unsigned visit;
    int64_t at_ns;                 /* that was read last; 0: now */
    struct history_reader *reader; /* as of then; NULL */
    struct model *model;           /* likewise; what is read of it is copied from here */
    atomic_bool stop;
    struct statistics **marks; /* [n_marks] of this visit, going up: after so many fills each, from where
                                  those of another moment are continued */
    size_t n_marks;
};

struct tui_past_source *tui_past_source_create(const char *path)
{
    struct tui_past_source *source = calloc(1, sizeof(*source));

    if (source && !(source->path = strdup(path))) {
        free(source);
        return NULL;
    }
    return source;
}

static void forget(struct tui_past_source *source)
{
    tui_history_close(source->reader);
    tui_model_destroy(source->model);
    source->reader = NULL;
    source->model = NULL;
}

static void forget_marks(struct tui_past_source *source)
{
    while (source->n_marks > 0)
        tui_statistics_destroy(source->marks[--source->n_marks]);
    free(source->marks);
    source->marks = NULL;
}

void tui_past_source_destroy(struct tui_past_source *source)
{
    if (!source)
        return;
    forget(source);
    forget_marks(source);
    free(source->path);
    free(source);
}

void tui_past_source_stop(struct tui_past_source *source, bool stop)
{
    atomic_store(&source->stop, stop);
}

/* ---- the moment ---- */

bool tui_past_clock_parse(const char *text, int64_t *ret_ns)
{
    static const int most[] = {23, 59, 59};
    int64_t seconds = 0;
    int n = 0;

    for (; n < 3; n++) {
        size_t digits = strspn(text, "0123456789");
        int part = atoi(text);
        if (digits < (n ? 2 : 1) || digits > 2 || part > most[n])
            return false;
        seconds = seconds * 60 + part;
        text += digits;
        if (*text != ':')
            break;
        text++;
    }
    if (*text || n < 1 || n == 3)
        return false;
    *ret_ns = seconds * (n == 1 ? 60 : 1) * 1000000000;
    return true;
}

/* When the clock that is shown read so on the day of `ts_ns`. */
static int64_t on_day_of(int64_t ts_ns, int64_t clock_ns)
{
    const int64_t second_ns = 1000000000, day_ns = 86400 * second_ns;
    const int64_t shown_ns = ts_ns + cli_format_utc_offset_s(ts_ns) * second_ns;

    return cli_format_read_clock(shown_ns - shown_ns % day_ns + clock_ns);
}

static int step(struct db_reader *db, const struct past_want *want, int64_t from_ns, bool later, int64_t *ret)
{
    int64_t interval_ns;

    if (want->by_bar && want->want.symbol[0] && bar_interval_parse(want->want.interval, &interval_ns) == 0)
        return db_as_of_step_bar(db, want->want.symbol, interval_ns, from_ns, later, ret);
    return db_as_of_step(db, from_ns, later, ret);
}

/* Where the steps lead from *at_ns; 0: now. */
static int go(struct db_reader *db, const struct past_want *want, int64_t *at_ns, struct past_read *read)
{
    const bool later = want->steps > 0;
    int r = 0;

    for (int n = later ? want->steps : -want->steps; n > 0 && r == 0 && (*at_ns || !later); n--) {
        r = step(db, want, *at_ns ? *at_ns : INT64_MAX, later, at_ns);
        if (r != -ENOENT)
            continue;
        r = 0;
        if (later)
            *at_ns = 0;
        else
            snprintf(read->words, sizeof(read->words), "nothing earlier is recorded%s",
                     want->by_bar ? " of these bars" : "");
        break;
    }
    return r;
}

/* A moment of which nothing is recorded yet: of it there is no past. */
static bool is_later(int64_t at_ns, int64_t newest_ns, struct past_read *read)
{
    char at[FORMAT_MAX], newest[FORMAT_MAX], at_zone[FORMAT_MAX], newest_zone[FORMAT_MAX];

    if (at_ns <= newest_ns)
        return false;
    snprintf(read->words, sizeof(read->words),
             "%s%s is later than %s: the newest that is recorded is of %s%s", cli_format_time(at, at_ns),
             cli_format_zone(at_zone, at_ns), at_ns > clock_wall_ns() ? "now" : "all that is recorded",
             cli_format_time(newest, newest_ns), cli_format_zone(newest_zone, newest_ns));
    return true;
}

static int find(struct tui_past_source *source, const struct past_want *want, int64_t *ret,
                struct past_read *read)
{
    struct history_reader *reader = source->reader;
    int64_t at_ns = want->visit == source->visit ? source->at_ns : 0, newest_ns = 0;
    int r = reader ? 0 : tui_history_open(source->path, &reader, read->words, sizeof(read->words));

    if (r < 0)
        return r;
    db_reader_stop(reader->db, &source->stop);
    if (want->jumps) {
        r = db_as_of_newest(reader->db, &newest_ns);
        r = r == -ENOENT ? 0 : r;
        const int64_t last_ns = newest_ns ? newest_ns : clock_wall_ns();
        if (want->of_day)
            at_ns = on_day_of(at_ns ? at_ns : last_ns, want->at_ns);
        else
            at_ns = want->at_ns > 0 ? want->at_ns : last_ns + want->at_ns;
        at_ns = at_ns > 0 ? at_ns : 1;
    }
    if (r < 0)
        tui_history_failed(reader, r, read->words, sizeof(read->words));
    else if (newest_ns && is_later(at_ns, newest_ns, read))
        r = -ERANGE;
    else if ((r = go(reader->db, want, &at_ns, read)) < 0)
        tui_history_failed(reader, r, read->words, sizeof(read->words));
    if (!source->reader)
        tui_history_close(reader);
    *ret = at_ns;
    return r;
}

/* ---- what was then ---- */

/* With those of the fills before that moment, as far as they were read. */
static void continue_statistics(struct tui_past_source *source, int64_t at_ns)
{
    size_t n = source->n_marks;

    while (n > 0 && tui_statistics_last_ns(source->marks[n - 1]) > at_ns)
        n--;
    struct statistics *copy = n > 0 ? tui_statistics_copy(source->marks[n - 1]) : NULL;
    if (!copy)
        return;
    tui_statistics_destroy(source->reader->statistics);
    source->reader->statistics = copy;
}

/* Without memory there is no mark. */
static void mark_statistics(struct tui_past_source *source)
{
    const struct statistics *own = source->reader->statistics;
    size_t n = source->n_marks;

    if (n > 0 && tui_statistics_last(source->marks[n - 1]) >= tui_statistics_last(own))
        return;
    struct statistics **moved = realloc(source->marks, (n + 1) * sizeof(*moved));
    if (!moved)
        return;
    source->marks = moved;
    if ((moved[n] = tui_statistics_copy(own)))
        source->n_marks++;
}

static int open_at(struct tui_past_source *source, int64_t at_ns, struct past_read *read)
{
    struct status *status = calloc(1, sizeof(*status));
    int64_t age_ms;
    int r = -ENOMEM;

    forget(source);
    if (!status || !(source->model = tui_model_create(0)))
        snprintf(read->words, sizeof(read->words), "out of memory");
    else if ((r = tui_history_open_at(source->path, at_ns, &source->reader, read->words,
                                      sizeof(read->words))) == 0) {
        db_reader_stop(source->reader->db, &source->stop);
        continue_statistics(source, at_ns);
        r = tui_history_status(source->reader, at_ns, status, &age_ms, read->words, sizeof(read->words));
    }
    if (r == 0) {
        source->model->at_ns = at_ns;
        tui_model_take_stored(source->model, status, age_ms, tui_model_now());
        if (source->model->status.n_accounts == 0)
            snprintf(read->words, sizeof(read->words), "nothing is recorded of that moment");
    }
    if (status)
        tui_status_finish(status);
    free(status);
    return r;
}

static int read_history(struct tui_past_source *source, const struct past_want *want, struct past_read *read)
{
    struct model *model = source->model;
    struct history_want own = want->want;
    int r;

    if (!own.symbol[0] && model->status.n_symbols > 0) { /* nothing was chosen yet */
        memcpy(own.symbol, model->status.symbols[0].symbol, sizeof(own.symbol));
        memcpy(own.interval, model->status.symbols[0].interval, sizeof(own.interval));
    }
    while ((r = tui_history_read(source->reader, model->at_ns, &own, &model->history, read->words,
                                 sizeof(read->words))) == 0 &&
           model->history.fills_left) {
        mark_statistics(source);
        if (atomic_load(&source->stop))
            return -EINTR;
    }
    if (r == 0) {
        tui_history_read_changes(source->reader, &model->status, model->at_ns, &model->history);
        model->have_history = true;
        model->history_mono_ms = model->status_mono_ms;
    }
    return r;
}

/* Lists, pages and studies are not its own: it has none of them. */
static struct model *copy(const struct model *model)
{
    struct model *made = tui_model_create(model->interval_ms);
    struct status status;

    if (!made)
        return NULL;
    if (!tui_status_copy(&model->status, &status)) {
        tui_model_destroy(made);
        return NULL;
    }
    *made = *model;
    made->status = status;
    return made;
}

bool tui_past_source_read(struct tui_past_source *source, const struct past_want *want, struct past_read *ret)
{
    struct past_read read = {.visit = want->visit};
    int64_t at_ns = 0;
    int r = atomic_load(&source->stop) ? -EINTR : find(source, want, &at_ns, &read);

    if (want->visit != source->visit) /* the file may be another by now */
        forget_marks(source);
    source->visit = want->visit;
    if (r == 0 && at_ns && (at_ns != source->at_ns || !source->model))
        r = open_at(source, at_ns, &read);
    if (r == 0 && at_ns)
        r = read_history(source, want, &read);
    if (r == 0 && at_ns && !(read.model = copy(source->model))) {
        snprintf(read.words, sizeof(read.words), "out of memory");
        r = -ENOMEM;
    }
    source->at_ns = r < 0 ? 0 : at_ns;
    if (source->at_ns == 0)
        forget(source);
    read.now = r == 0 && at_ns == 0;
    if (r == -EINTR)
        return false;
    *ret = read;
    return true;
}

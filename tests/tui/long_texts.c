#include "tests/tui/long_texts.h"

#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

enum { TEXTS_MAX = 1024, GRAMS_MAX = 1 << 18 };

static struct long_text *texts;
static int n_texts;
static struct gram {
    wchar_t letters[LONG_TEXT_LETTERS];
    int text, at;
} * grams;
static size_t n_grams, n_sorted;
static struct random random_state;

bool long_texts_init(const char *test, uint64_t seed)
{
    random_state = random_seeded(test, seed);
    texts = calloc(TEXTS_MAX, sizeof(*texts));
    grams = calloc(GRAMS_MAX, sizeof(*grams));
    return texts && grams;
}

void long_texts_finish(void)
{
    for (int i = 0; i < n_texts; i++)
        free(texts[i].before);
    free(texts);
    free(grams);
}

const char *long_text(const char *before, size_t size, bool words)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    size_t n = 0, k = 0;

    for (int i = 0; before && i < n_texts; i++)
        if (texts[i].before && strcmp(texts[i].before, before) == 0)
            return texts[i].text;
    if (n_texts == TEXTS_MAX || size >= LONG_TEXT_MAX)
        abort();
    struct long_text *t = &texts[n_texts];
    t->before = before ? strdup(before) : NULL;
    while (n < size) {
        int kind =
            words && n > LONG_TEXT_LETTERS && n + 3 < size ? (int)random_between(&random_state, 0, 11) : 2;
        wchar_t c = kind == 0 && t->text[n - 1] != ' ' ? L' '
                    : kind == 1 ? (wchar_t)(L'à' + random_between(&random_state, 0, 9))
                                : (wchar_t)letters[random_between(&random_state, 0, sizeof(letters) - 2)];
        n += (size_t)snprintf(t->text + n, LONG_TEXT_MAX - n, "%lc", (wint_t)c);
        if (c != L' ')
            t->letters[k++] = c;
    }
    for (size_t i = 0; i + LONG_TEXT_LETTERS <= k; i++) {
        if (n_grams == GRAMS_MAX)
            abort();
        grams[n_grams].text = n_texts;
        grams[n_grams].at = (int)i;
        wmemcpy(grams[n_grams++].letters, t->letters + i, LONG_TEXT_LETTERS);
    }
    n_texts++;
    return t->text;
}

static int compare_grams(const void *a, const void *b)
{
    return wmemcmp(((const struct gram *)a)->letters, ((const struct gram *)b)->letters, LONG_TEXT_LETTERS);
}

const struct long_text *long_text_find(const wchar_t *letters, size_t *ret_at)
{
    struct gram key;

    if (n_sorted != n_grams)
        qsort(grams, n_grams, sizeof(*grams), compare_grams);
    n_sorted = n_grams;
    wmemcpy(key.letters, letters, LONG_TEXT_LETTERS);
    const struct gram *found = bsearch(&key, grams, n_grams, sizeof(*grams), compare_grams);
    if (!found)
        return NULL;
    *ret_at = (size_t)found->at;
    return &texts[found->text];
}

/* As the daemon writes them at most; 0: a word that is one of few. Names of accounts and trainings are one
 * another's; those of policies too. */
enum {
    LONGEST_SHORT,
    LONGEST_WORD = 0,
    LONGEST_ASSET = 0,
    LONGEST_ID = 0,
    LONGEST_CODE = 39,
    LONGEST_TITLE = 47,
    LONGEST_VENUE = 15,
    LONGEST_SYMBOL = 23,
    LONGEST_ACCOUNT = 31,
    LONGEST_TRAINING = 31,
    LONGEST_KEY = 31,
    LONGEST_BACKEND = 95,
    LONGEST_VERDICT = 255,
    LONGEST_LINE = 500,
    LONGEST_REASON = 500,
    LONGEST_ALERT = 512,
    LONGEST_FILE = 500,
};

struct shown {
    const char *name;
    int longest;
};
#define NAMED(none, name, ...)          name
#define SHOWN(size, flags, member, ...) {NAMED(0, ##__VA_ARGS__, #member), LONGEST_##size},
#define NOTHING(...)
#define SHOWN_OF(LIST) \
    (const struct shown[]) \
    { \
        LIST(SHOWN, NOTHING) \
        { \
            NULL, 0 \
        } \
    }
#define TRAINING(TEXT, FIELD) RECORD_SHOWN_TRAINING(TEXT, FIELD, training)

static void fill(json_t *object, const struct shown *shown)
{
    for (; shown->name; shown++) {
        const char *before = json_string_value(json_object_get(object, shown->name));
        bool name = shown->longest <= LONGEST_TITLE;
        if (shown->longest && (name ? before && before[0] : strcmp(shown->name, "at_venue") != 0))
            json_object_set_new(object, shown->name,
                                json_string(long_text(name ? before : NULL, (size_t)shown->longest, !name)));
    }
}

static void fill_all(json_t *array, const struct shown *shown)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        fill(json_array_get(array, i), shown);
}

void long_texts_status(json_t *s)
{
    json_t *accounts = json_object_get(s, "accounts");

    fill_all(json_object_get(json_object_get(s, "feed"), "streams"), SHOWN_OF(RECORD_SHOWN_STREAM));
    fill(json_object_get(s, "feed"), SHOWN_OF(RECORD_SHOWN_FEED));
    fill_all(json_object_get(s, "venues"), SHOWN_OF(RECORD_SHOWN_VENUE));
    fill_all(json_object_get(s, "symbols"), SHOWN_OF(RECORD_SHOWN_SYMBOL));
    fill_all(accounts, SHOWN_OF(RECORD_SHOWN_ACCOUNT));
    for (size_t i = 0; i < json_array_size(accounts); i++) {
        json_t *there = json_object_get(json_array_get(accounts, i), "venue_account");
        fill(there, SHOWN_OF(RECORD_SHOWN_VENUE_ACCOUNT));
        fill_all(json_object_get(there, "external"), SHOWN_OF(RECORD_SHOWN_EXTERNAL));
    }
    fill_all(json_object_get(s, "positions"), SHOWN_OF(RECORD_SHOWN_POSITION));
    fill_all(json_object_get(s, "orders"), SHOWN_OF(RECORD_SHOWN_ORDER));
    fill_all(json_object_get(s, "trainings"), SHOWN_OF(TRAINING));
    fill_all(json_object_get(s, "policies"), SHOWN_OF(RECORD_SHOWN_POLICY));
    fill_all(json_object_get(s, "policies"), SHOWN_OF(RECORD_SHOWN_POLICY_NOW));
    for (size_t i = 0; i < json_array_size(json_object_get(s, "policies")); i++)
        fill(json_object_get(json_array_get(json_object_get(s, "policies"), i), "evidence"),
             SHOWN_OF(RECORD_SHOWN_EVIDENCE));
    fill(json_object_get(s, "champion"), SHOWN_OF(RECORD_SHOWN_CHAMPION));
    fill(json_object_get(s, "trainer"), SHOWN_OF(RECORD_SHOWN_TRAINER));
    fill(json_object_get(s, "gpu"), SHOWN_OF(RECORD_SHOWN_GPU));
    fill(json_object_get(s, "compute"), SHOWN_OF(RECORD_SHOWN_COMPUTE));
    fill(json_object_get(s, "db"), SHOWN_OF(RECORD_SHOWN_DB));
    fill(json_object_get(s, "events"), SHOWN_OF(RECORD_SHOWN_LOG));
    fill(json_object_get(s, "parity"), SHOWN_OF(RECORD_SHOWN_PARITY));
    json_object_set_new(s, "trading_reason", json_string(long_text(NULL, LONGEST_LINE, true)));
}

/* A name of the database's rows, as the status now has it. */
static void rename_in(char *name, size_t size)
{
    if (name[0])
        snprintf(name, size, "%s",
                 long_text(name, LONGEST_ACCOUNT < size ? LONGEST_ACCOUNT : size - 1, false));
}
#define RENAME(name) rename_in(name, sizeof(name))

static void fill_history(struct history *h, const char *training)
{
    for (int i = 0; i < h->n_fills; i++)
        RENAME(h->fills[i].account), RENAME(h->fills[i].symbol), LONG_TEXT(h->fills[i].tag, false);
    for (int i = 0; i < h->n_orders; i++) {
        RENAME(h->orders[i].account), RENAME(h->orders[i].symbol);
        LONG_TEXT(h->orders[i].client_id, false);
        LONG_TEXT(h->orders[i].reason, false);
    }
    for (int i = 0; i < h->n_alerts; i++)
        LONG_TEXT(h->alerts[i].text, true), LONG_TEXT(h->alerts[i].code, false);
    for (int i = 0; i < h->n_log; i++)
        LONG_TEXT(h->log[i].text, true);
    RENAME(h->equity_account), RENAME(h->bars_symbol);
    for (int i = 0; i < h->n_outputs; i++)
        LONG_TEXT(h->output_names[i], false);
    h->training.points.n = 0;
    snprintf(h->training.points.training, sizeof(h->training.points.training), "%s", training);
    h->training.n_parameters = 12;
    for (int i = 0; i < h->training.n_parameters; i++) {
        strcpy(h->training.parameters[i].section, "ppo");
        LONG_TEXT(h->training.parameters[i].key, false), LONG_TEXT(h->training.parameters[i].value, false);
    }
}

static void fill_log(struct model_log *log, const char *training, struct moment now)
{
    snprintf(log->training, sizeof(log->training), "%s", training);
    log->n = 9;
    log->have = true;
    log->mono_ms = now.mono_ms;
    for (int i = 0; i < log->n; i++)
        LONG_TEXT(log->lines[i], true);
}

void long_texts_model(struct model *model, const char *training, struct moment now)
{
    fill_history(&model->history, training);
    fill_log(&model->log, training, now);
}

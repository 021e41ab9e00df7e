#include "strategy/process/answer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/utf8.h"
#include "strategy/intent.h"

enum { SHOWN = 40 }; /* bytes of a wrong text that a fault repeats */

/* Cuts a text to `len` bytes, without half a character. */
static void cut(char *text, size_t len)
{
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    text[len] = '\0';
}

void strategy_answer_text(struct json_text text, char *ret, size_t size)
{
    json_t *value = NULL;
    if (text.data && memchr(text.data, '\\', text.len)) /* its quotes are around it in the line */
        value = json_loadb(text.data - 1, text.len + 2, JSON_DECODE_ANY, NULL);
    const char *plain = value ? json_string_value(value) : text.data ? text.data : "";
    size_t len = value ? json_string_length(value) : text.len;
    bool fits = len < size;
    memcpy(ret, plain, fits ? len : size);
    if (fits)
        ret[len] = '\0';
    else
        cut(ret, size - 1);
    utf8_clean(ret);
    json_decref(value);
}

/* The beginning of a text, in one line. */
static const char *shown(struct json_text text, char buf[static SHOWN + 1])
{
    size_t len = text.len < SHOWN ? text.len : SHOWN;
    for (size_t i = 0; i < len; i++)
        buf[i] = text.data[i] ? text.data[i] : '?';
    buf[len] = '\0';
    utf8_clean(buf);
    return buf;
}

static int refuse_line(const char *line, size_t len, char *fault)
{
    char buf[SHOWN + 1];
    const char *number = memmem(line, len, "NaN", 3) || memmem(line, len, "Infinity", 8)
                             ? " (JSON has no NaN and no Infinity)"
                             : "";
    return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "what it wrote is no JSON object%s: %s", number,
                     shown((struct json_text){line, len}, buf));
}

/* Skips a value and gives its text. */
static bool span(struct json *json, struct json_text *ret)
{
    (void)json_peek(json);
    const char *start = json->p;
    if (!json_skip(json))
        return false;
    *ret = (struct json_text){start, (size_t)(json->p - start)};
    return true;
}

static enum answer_kind kind_of(struct json_text type)
{
    return json_is(type, "intents") ? ANSWER_INTENTS : json_is(type, "error") ? ANSWER_ERROR : ANSWER_OTHER;
}

/* One member; false: the reader has failed, or *unknown has its key. */
static bool read_member(struct json *json, struct json_text key, struct strategy_answer *ret, unsigned *has,
                        bool *ret_unknown)
{
    static const char *const keys[] = {"type", "bar", "symbol", "intents", "state", "text"};
    const unsigned n = sizeof keys / sizeof *keys, which = json_text_among(key, keys, n);
    struct json_text type;
    *ret_unknown = which == n || (*has >> which & 1);
    if (*ret_unknown)
        return false;
    *has |= 1u << which;
    switch (which) {
    case 0:
        if (!json_read_string(json, &type))
            return false;
        ret->kind = kind_of(type);
        return true;
    case 1:
        return json_int(json, &ret->time_ns);
    case 2:
        return json_read_string(json, &ret->symbol);
    case 3:
        return span(json, &ret->intents);
    case 4:
        return span(json, &ret->state);
    default:
        return json_read_string(json, &ret->text);
    }
}

int strategy_answer_read(const char *line, size_t len, struct strategy_answer *ret,
                         char fault[static STRATEGY_FAULT_MAX])
{
    struct strategy_answer answer = {.kind = ANSWER_OTHER};
    struct json json;
    struct json_text key;
    char buf[SHOWN + 1];
    unsigned has = 0;
    bool unknown = false;
    json_init(&json, line, len);
    if (json_enter_object(&json))
        while (json_member(&json, &key) && read_member(&json, key, &answer, &has, &unknown))
            ;
    if (unknown && answer.kind != ANSWER_OTHER)
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX,
                         "\"%s\" of its answer is not known, or there twice", shown(key, buf));
    if (!unknown && !json_done(&json))
        return refuse_line(line, len, fault);
    answer.names = (has & 6) == 6;
    if (answer.kind == ANSWER_INTENTS && (has & 15) != 15)
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX,
                         "its answer needs \"type\", \"bar\", \"symbol\" and \"intents\"");
    if (answer.kind == ANSWER_ERROR && !answer.text.data)
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "its error has no \"text\"");
    *ret = answer;
    return 0;
}

/* ---- intents ---- */

/* What the members of an intent are, beside its kind. */
enum { FRACTION, STOP, PROFIT, LIMIT, GOOD, WHY, KIND, MEMBERS };

static const char *const members[MEMBERS] = {
    [FRACTION] = "fraction", [STOP] = "stop", [PROFIT] = "profit", [LIMIT] = "limit",
    [GOOD] = "good",         [WHY] = "why",   [KIND] = "kind"};

/* Which of them a kind has. */
static unsigned takes(enum intent_kind kind)
{
    const unsigned entry = 1u << FRACTION | 1u << STOP | 1u << PROFIT | 1u << LIMIT | 1u << GOOD;
    const unsigned always = 1u << KIND | 1u << WHY;
    switch (kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        return always | entry;
    case INTENT_STOP:
        return always | 1u << STOP;
    case INTENT_EXIT:
    case INTENT_TARGET:
        return always | 1u << FRACTION;
    default:
        return always;
    }
}

static int read_kind(struct json_text word, enum intent_kind *ret)
{
    static const enum intent_kind kinds[] = {INTENT_ENTER, INTENT_EXIT, INTENT_STOP, INTENT_TARGET,
                                             INTENT_SHORT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_text_is(word, intent_kind_name(kinds[i]))) {
            *ret = kinds[i];
            return 0;
        }
    return -EINVAL;
}

/* null is a number's absence. */
static bool read_number(struct json *json, double *ret)
{
    return json_peek(json) == 'n' ? json_skip(json) : json_double(json, ret);
}

static bool read_value(struct json *json, unsigned member, struct intent *intent, struct json_text *kind,
                       struct json_text *why)
{
    switch (member) {
    case FRACTION:
        return read_number(json, &intent->fraction);
    case STOP:
        return read_number(json, &intent->stop);
    case PROFIT:
        return read_number(json, &intent->profit);
    case LIMIT:
        return read_number(json, &intent->limit);
    case GOOD:
        return json_peek(json) == 'n' ? json_skip(json) : json_int(json, &intent->good_ns);
    case WHY:
        return json_peek(json) == 'n' ? json_skip(json) : json_read_string(json, why);
    default:
        return json_read_string(json, kind);
    }
}

static int check_kind(const struct json_text *kind, unsigned has, struct intent *intent, char *fault)
{
    char buf[SHOWN + 1];
    if (!kind->data || read_kind(*kind, &intent->kind) < 0)
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX,
                         "kind \"%s\" of an intent: enter, short, exit, stop or target is needed",
                         kind->data ? shown(*kind, buf) : "");
    for (unsigned m = 0; m < MEMBERS; m++)
        if ((has & ~takes(intent->kind)) >> m & 1)
            return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "an intent \"%s\" has no \"%s\"",
                             intent_kind_name(intent->kind), members[m]);
    return 0;
}

/* One intent; `why` has STRATEGY_WHY_MAX bytes. */
static int read_intent(struct json *json, struct intent *ret, char *why, char *fault)
{
    struct intent intent = {0};
    struct json_text key, kind = {0}, reason = {0};
    char buf[SHOWN + 1];
    unsigned has = 0;
    if (!json_enter_object(json))
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "an intent is no object");
    while (json_member(json, &key)) {
        unsigned member = json_text_among(key, members, MEMBERS);
        if (member == MEMBERS || (has >> member & 1))
            return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX,
                             "\"%s\" of an intent is not known, or there twice", shown(key, buf));
        has |= 1u << member;
        if (!read_value(json, member, &intent, &kind, &reason))
            return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "\"%s\" of an intent is no %s",
                             members[member],
                             member == WHY || member == KIND ? "text"
                             : member == GOOD                ? "time in nanoseconds"
                                                             : "finite number");
    }
    int r = check_kind(&kind, has, &intent, fault);
    if (r < 0)
        return r;
    strategy_answer_text(reason, why, STRATEGY_WHY_MAX);
    intent.why = *why ? why : NULL;
    *ret = intent;
    return 0;
}

int strategy_answer_intents(struct json_text intents, struct strategy_decision *ret)
{
    struct intent other;
    char other_why[STRATEGY_WHY_MAX];
    struct json json;
    json_init(&json, intents.data, intents.len);
    ret->n = 0;
    if (json_peek(&json) != '[' || !json_enter_array(&json))
        return fail_with(-EINVAL, ret->fault, STRATEGY_FAULT_MAX, "\"intents\" is no array");
    while (json_element(&json)) {
        bool fits = ret->n < STRATEGY_INTENTS_MAX;
        int r = read_intent(&json, fits ? &ret->intents[ret->n] : &other,
                            fits ? ret->whys[ret->n] : other_why, ret->fault);
        if (r < 0) {
            ret->n = 0;
            return r;
        }
        ret->n++;
    }
    return 0;
}

#include "strategy/process/answer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/symbol.h"
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

/* What the members of an intent are. Texts are the last ones. */
enum {
    FRACTION,
    STOP,
    PROFIT,
    LIMIT,
    QTY,
    TRAIL,
    TRAIL_SHARE,
    GOOD,
    REDUCE_ONLY,
    WHY,
    KIND,
    SIDE,
    TYPE,
    TIF,
    SIZE,
    SYMBOL,
    MEMBERS
};

static const char *const members[MEMBERS] = {
    [FRACTION] = "fraction",
    [STOP] = "stop",
    [PROFIT] = "profit",
    [LIMIT] = "limit",
    [QTY] = "qty",
    [TRAIL] = "trail",
    [TRAIL_SHARE] = "trail_share",
    [GOOD] = "good",
    [REDUCE_ONLY] = "reduce_only",
    [WHY] = "why",
    [KIND] = "kind",
    [SIDE] = "side",
    [TYPE] = "type",
    [TIF] = "tif",
    [SIZE] = "size",
    [SYMBOL] = "symbol",
};

/* Which of them a kind has. */
static unsigned takes(enum intent_kind kind)
{
    const unsigned always = 1u << KIND | 1u << WHY | 1u << SYMBOL;
    switch (kind) {
    case INTENT_ENTER:
    case INTENT_SHORT:
        return always | 1u << FRACTION | 1u << STOP | 1u << PROFIT | 1u << LIMIT | 1u << GOOD;
    case INTENT_STOP:
        return always | 1u << STOP;
    case INTENT_EXIT:
    case INTENT_TARGET:
        return always | 1u << FRACTION;
    case INTENT_ORDER:
        return ((1u << MEMBERS) - 1) & ~(1u << PROFIT);
    default:
        return always;
    }
}

/* ---- the words of an order ---- */

static const char *const sides[] = {[ORDER_BUY] = "buy", [ORDER_SELL] = "sell"};
static const char *const types[ORDER_TYPES] = {
    [ORDER_MARKET] = "market",
    [ORDER_LIMIT] = "limit",
    [ORDER_STOP] = "stop",
    [ORDER_STOP_LIMIT] = "stop_limit",
    [ORDER_TAKE_PROFIT] = "take_profit",
    [ORDER_TAKE_PROFIT_LIMIT] = "take_profit_limit",
    [ORDER_TRAILING_STOP] = "trailing_stop",
};
static const char *const tifs[ORDER_TIFS] = {
    [ORDER_GTC] = "gtc", [ORDER_IOC] = "ioc", [ORDER_FOK] = "fok", [ORDER_DAY] = "day",
    [ORDER_GTD] = "gtd", [ORDER_OPG] = "opg", [ORDER_CLS] = "cls",
};
static const char *const sizes[] = {
    [INTENT_OF_EQUITY] = "equity", [INTENT_OF_POSITION] = "position", [INTENT_OF_UNITS] = "units"};

/* Which word of a list a member is; -1: none of them, and the fault lists them. */
static int word_among(struct json_text word, unsigned member, const char *const words[], unsigned n,
                      char *fault)
{
    char buf[SHOWN + 1], list[STRATEGY_FAULT_MAX] = "";
    unsigned which = json_text_among(word, words, n);
    if (which < n)
        return (int)which;
    for (unsigned i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 i == 0       ? ""
                 : i + 1 == n ? " or "
                              : ", ",
                 words[i]);
    (void)fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "%s \"%s\" of an order: %s is needed",
                    members[member], shown(word, buf), list);
    return -1;
}

/* The words of an intent as they are in the line; data NULL: not there. */
struct intent_texts {
    struct json_text why, kind, side, type, tif, size, symbol;
};

#define WORD_AMONG(text, member, words) \
    word_among((text), (member), (words), sizeof(words) / sizeof *(words), fault)

/* Without `tif` it is gtc; without `size`, `qty` makes it units. */
static int read_order(const struct intent_texts *texts, unsigned has, struct intent *intent, char *fault)
{
    if (!texts->side.data || !texts->type.data)
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "an order needs \"side\" and \"type\"");
    int side = WORD_AMONG(texts->side, SIDE, sides);
    int type = side < 0 ? -1 : WORD_AMONG(texts->type, TYPE, types);
    int tif = type < 0 ? -1 : texts->tif.data ? WORD_AMONG(texts->tif, TIF, tifs) : ORDER_GTC;
    int size = tif < 0            ? -1
               : texts->size.data ? WORD_AMONG(texts->size, SIZE, sizes)
               : (has >> QTY & 1) ? INTENT_OF_UNITS
                                  : INTENT_OF_EQUITY;
    if (size < 0)
        return -EINVAL;
    if (size == INTENT_OF_UNITS ? has >> FRACTION & 1 : has >> QTY & 1)
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "an order of size \"%s\" has no \"%s\"",
                         sizes[size], members[size == INTENT_OF_UNITS ? FRACTION : QTY]);
    intent->side = (enum order_side)side;
    intent->type = (enum order_type)type;
    intent->tif = (enum order_tif)tif;
    intent->size = (enum intent_size)size;
    return 0;
}

static int read_kind(struct json_text word, enum intent_kind *ret)
{
    for (int kind = 0; kind < INTENT_KINDS; kind++)
        if (json_text_is(word, intent_kind_name((enum intent_kind)kind))) {
            *ret = (enum intent_kind)kind;
            return 0;
        }
    return -EINVAL;
}

/* null is a number's absence. */
static bool read_number(struct json *json, double *ret)
{
    return json_peek(json) == 'n' ? json_skip(json) : json_double(json, ret);
}

/* Nor is it there then. */
static bool read_time(struct json *json, int64_t *ret)
{
    return json_peek(json) == 'n' ? json_skip(json) : json_int(json, ret);
}

static bool read_text(struct json *json, struct json_text *ret)
{
    return json_peek(json) == 'n' ? json_skip(json) : json_read_string(json, ret);
}

static bool read_flag(struct json *json, bool *ret)
{
    struct json_text word;
    if (!span(json, &word))
        return false;
    *ret = json_text_is(word, "true");
    return *ret || json_text_is(word, "false") || json_text_is(word, "null");
}

static bool read_value(struct json *json, unsigned member, struct intent *intent, struct intent_texts *texts)
{
    double *const numbers[] = {[FRACTION] = &intent->fraction,
                               [STOP] = &intent->stop,
                               [PROFIT] = &intent->profit,
                               [LIMIT] = &intent->limit,
                               [QTY] = &intent->qty,
                               [TRAIL] = &intent->trail,
                               [TRAIL_SHARE] = &intent->trail_share};
    struct json_text *const words[] = {[0] = &texts->why,
                                       [KIND - WHY] = &texts->kind,
                                       [SIDE - WHY] = &texts->side,
                                       [TYPE - WHY] = &texts->type,
                                       [TIF - WHY] = &texts->tif,
                                       [SIZE - WHY] = &texts->size,
                                       [SYMBOL - WHY] = &texts->symbol};
    if (member < GOOD)
        return read_number(json, numbers[member]);
    if (member == GOOD)
        return read_time(json, &intent->good_ns);
    if (member == REDUCE_ONLY)
        return read_flag(json, &intent->reduce_only);
    return member == KIND ? json_read_string(json, &texts->kind) : read_text(json, words[member - WHY]);
}

static const char *value_is(unsigned member)
{
    return member < GOOD           ? "finite number"
           : member == GOOD        ? "time in nanoseconds"
           : member == REDUCE_ONLY ? "true or false"
                                   : "text";
}

static int check_kind(const struct json_text *kind, unsigned has, struct intent *intent, char *fault)
{
    char buf[SHOWN + 1];
    if (!kind->data || read_kind(*kind, &intent->kind) < 0)
        return fail_with(
            -EINVAL, fault, STRATEGY_FAULT_MAX,
            "kind \"%s\" of an intent: enter, short, exit, stop, target, order or cancel is needed",
            kind->data ? shown(*kind, buf) : "");
    for (unsigned m = 0; m < MEMBERS; m++)
        if ((has & ~takes(intent->kind)) >> m & 1)
            return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "an intent \"%s\" has no \"%s\"",
                             intent_kind_name(intent->kind), members[m]);
    return 0;
}

/* Which of the round's symbols it names. */
static int read_symbol(struct json_text text, const struct strategy_input *round, struct intent *intent,
                       char *fault)
{
    char name[SYMBOL_NAME_MAX + 1], buf[SHOWN + 1];
    if (!round && !text.data)
        return 0;
    if (!round || !text.data)
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "an intent \"%s\" %s \"symbol\"",
                         intent_kind_name(intent->kind), round ? "needs a" : "has no");
    strategy_answer_text(text, name, sizeof name);
    for (int k = 0; k < round->n_peers; k++)
        if (strcmp(round->peers[k].name, name) == 0) {
            intent->symbol = k;
            return 0;
        }
    return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX,
                     "\"symbol\" %s of an intent is none of the account's", shown(text, buf));
}

/* One intent; `why` has STRATEGY_WHY_MAX bytes. */
static int read_intent(struct json *json, const struct strategy_input *round, struct intent *ret, char *why,
                       char *fault)
{
    struct intent intent = {0};
    struct intent_texts texts = {0};
    struct json_text key;
    char buf[SHOWN + 1];
    unsigned has = 0, none = 0; /* none: those that are null */
    if (!json_enter_object(json))
        return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "an intent is no object");
    while (json_member(json, &key)) {
        unsigned member = json_text_among(key, members, MEMBERS);
        if (member == MEMBERS || (has >> member & 1))
            return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX,
                             "\"%s\" of an intent is not known, or there twice", shown(key, buf));
        has |= 1u << member;
        none |= (unsigned)(json_peek(json) == 'n') << member;
        if (!read_value(json, member, &intent, &texts))
            return fail_with(-EINVAL, fault, STRATEGY_FAULT_MAX, "\"%s\" of an intent is no %s",
                             members[member], value_is(member));
    }
    int r = check_kind(&texts.kind, has, &intent, fault);
    if (r == 0 && intent.kind == INTENT_ORDER)
        r = read_order(&texts, has & ~none, &intent, fault);
    if (r == 0)
        r = read_symbol(texts.symbol, round, &intent, fault);
    if (r < 0)
        return r;
    strategy_answer_text(texts.why, why, STRATEGY_WHY_MAX);
    intent.why = *why ? why : NULL;
    *ret = intent;
    return 0;
}

int strategy_answer_intents(struct json_text intents, const struct strategy_input *round,
                            struct strategy_decision *ret)
{
    struct intent other;
    char other_why[STRATEGY_WHY_MAX];
    struct json json;
    json_init(&json, intents.data, intents.len);
    ret->n = 0;
    if (json_peek(&json) != '[' || !json_enter_array(&json))
        return fail_with(-EINVAL, ret->fault, STRATEGY_FAULT_MAX, "\"intents\" is no array");
    while (json_element(&json)) {
        bool fits = ret->n < STRATEGY_DECISION_MAX;
        int r = read_intent(&json, round, fits ? &ret->intents[ret->n] : &other,
                            fits ? ret->whys[ret->n] : other_why, ret->fault);
        if (r < 0) {
            ret->n = 0;
            return r;
        }
        ret->n += ret->n < STRATEGY_SAID_MAX;
    }
    return 0;
}

#include "exchange/alpaca/account/call.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exchange/clock.h"
#include "exchange/net/link.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HTTP_LIMITED = 429,
    HTTP_MISSING = 404,
    HTTP_INVALID = 422,
    HTTP_FORBIDDEN = 403,
    HTTP_UNAUTHORIZED = 401,
};

static struct paper_call *of(struct account_call *call)
{
    return (struct paper_call *)call;
}

/* ---- What an answer says. ---- */

static bool has(struct json_text text, const char *words)
{
    size_t len = strlen(words);
    for (size_t i = 0; i + len <= text.len; i++)
        if (strncasecmp(text.data + i, words, len) == 0)
            return true;
    return false;
}

/* Codes are of eight digits and begin with a status: 40410000. */
static bool is_refusal(int code)
{
    return code >= 40000000 && code < 50000000;
}

enum venue_outcome alpaca_account_outcome(enum paper_step step, int status, const char *body, size_t len,
                                          int *ret_code, struct json_text *ret_words)
{
    *ret_code = 0;
    *ret_words = (struct json_text){"", 0};
    if (status >= 200 && status < 300)
        return VENUE_DONE;
    bool said = alpaca_parse_error(body, len, ret_code, ret_words);
    bool coded = said && is_refusal(*ret_code);
    if (status == HTTP_LIMITED)
        return VENUE_NOT_SENT;
    if (status < 400 || status >= 500 || !said)
        return VENUE_UNKNOWN;
    if (status == HTTP_UNAUTHORIZED || (status == HTTP_FORBIDDEN && !coded))
        return VENUE_DENIED;
    if (!coded)
        return VENUE_UNKNOWN;
    if (status == HTTP_MISSING && (step == STEP_FIND || step == STEP_END))
        return VENUE_ABSENT;
    if (status == HTTP_INVALID && step == STEP_END)
        return VENUE_ABSENT;
    if (status == HTTP_INVALID && step == STEP_PLACE && has(*ret_words, "client_order_id"))
        return VENUE_EXISTS;
    return VENUE_REFUSED;
}

/* As Retry-After says, or until the limit's minute ends; else the default. */
static int64_t limit_ms(const struct http_reply *reply)
{
    int64_t now_s = reply->date_s >= 0 ? reply->date_s : clock_wall_ns() / 1000000000;
    int64_t reset_ms = reply->rate_reset_s >= 0 ? (reply->rate_reset_s - now_s + 1) * SECOND_MS : -1;
    bool resets = reset_ms > 0 && reset_ms <= MINUTE_MS;
    return net_link_wait_ms(LINK_LIMITED, reply->retry_after_ms >= 0 ? reply->retry_after_ms
                                          : resets                   ? reset_ms
                                                                     : -1);
}

static void take(struct account_call *call, const struct http_reply *reply)
{
    struct json_text words;
    int code;
    enum venue_outcome outcome =
        alpaca_account_outcome(of(call)->step, reply->status, reply->body, reply->len, &code, &words);
    if (outcome == VENUE_DONE) {
        if (!of(call)->take(of(call), reply))
            net_account_call_end(call, VENUE_UNKNOWN, 0, "the venue's answer cannot be read");
        return;
    }
    if (reply->status == HTTP_LIMITED) {
        int64_t wait_ms = limit_ms(reply);
        snprintf(call->text, sizeof(call->text), "the venue limits its requests (HTTP %d): waiting %lld s",
                 reply->status, (long long)((wait_ms + SECOND_MS - 1) / SECOND_MS));
        net_account_call_limited(call, code, wait_ms, call->text);
        return;
    }
    if (words.len > 0)
        json_text_cut(words, call->text, sizeof(call->text));
    else
        snprintf(call->text, sizeof(call->text), "the venue answers HTTP %d", reply->status);
    net_account_call_end(call, outcome, code, call->text);
}

static void settle(struct account_call *call)
{
    if (call->answer.outcome == VENUE_UNKNOWN && call->ask == ACCOUNT_CANCEL && of(call)->step != STEP_END)
        call->answer.outcome = VENUE_NOT_SENT;
}

const struct account_calls_venue alpaca_account_calls = {
    .call_size = sizeof(struct paper_call), .send = alpaca_account_send, .take = take, .settle = settle};

static const char *const methods[] = {
    [STEP_READ] = "GET", [STEP_FIND] = "GET", [STEP_PLACE] = "POST", [STEP_END] = "DELETE"};

int alpaca_account_call_start(struct paper_call *call, enum paper_step step, struct text *path,
                              const char *body, paper_take *take_body)
{
    call->step = step;
    call->take = take_body;
    return net_account_call_send(&call->base, methods[step], path, body);
}

void alpaca_account_call_continue(struct paper_call *call, enum paper_step step, struct text *path,
                                  paper_take *take_body)
{
    call->step = step;
    call->take = take_body;
    net_account_call_continue(&call->base, methods[step], path, VENUE_NOT_SENT);
}

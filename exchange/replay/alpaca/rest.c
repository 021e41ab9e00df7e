#include "exchange/replay/alpaca/rest.h"

#include "exchange/replay/alpaca/recorded.h"

#include <string.h>
#include <uv.h>

#include "exchange/replay/serve.h"

#define NS_PER_S 1000000000LL

void replay_rest_refuse(struct rest_call *call, int status, int64_t code, const char *message)
{
    text_clear(&call->response->body);
    call->response->status = status;
    call->wire = wire_to(&call->response->body, false);
    replay_wire_map(&call->wire, 1);
    if (code) {
        replay_wire_key(&call->wire, "code");
        replay_wire_int(&call->wire, code);
    }
    replay_wire_key(&call->wire, "message");
    replay_wire_str(&call->wire, message);
    replay_wire_map_end(&call->wire);
}

/* Counts the call; false when there are too many of them in this minute: of the wall's clock, or of the
 * market's where that is faster. */
static bool within_limit(struct alpaca *alpaca, struct response *response)
{
    int64_t s = (int64_t)(uv_hrtime() / NS_PER_S), minute = s / 60,
            market_minute = alpaca->now_ns / MADE_MINUTE;
    if (minute != alpaca->minute || market_minute != alpaca->market_minute) {
        alpaca->minute = minute;
        alpaca->market_minute = market_minute;
        alpaca->calls = 0;
    }
    bool within = alpaca->calls < alpaca->calls_most;
    alpaca->calls += within;
    uv_timeval64_t wall = {0};
    uv_gettimeofday(&wall);
    replay_response_header_int(response, "x-ratelimit-limit:", alpaca->calls_most);
    replay_response_header_int(response, "x-ratelimit-remaining:", alpaca->calls_most - alpaca->calls);
    replay_response_header_int(response, "x-ratelimit-reset:", wall.tv_sec + 60 - s % 60);
    return within;
}

bool replay_alpaca_limits(struct alpaca *alpaca, struct response *response)
{
    int64_t now_ns = (int64_t)uv_hrtime();
    if (alpaca->asked++ == 0)
        alpaca->first_asked_ns = now_ns;
    int64_t left_ns =
        replay_fault_limit_ns(&alpaca->base.server->faults->too_many, alpaca->first_asked_ns) - now_ns;
    if (left_ns <= 0)
        return false;
    struct rest_call call = {.alpaca = alpaca, .response = response};
    replay_response_header_int(response, "retry-after:", (left_ns + NS_PER_S - 1) / NS_PER_S);
    replay_rest_refuse(&call, 429, 42910000, "rate limit exceeded");
    return true;
}

/* The fault 5xx. */
static bool broken(struct alpaca *alpaca, struct rest_call *call)
{
    const struct server *server = alpaca->base.server;
    const struct faults *faults = server->faults;
    if ((faults->broken && alpaca->asked % FAULT_BROKEN_EVERY == 0) ||
        replay_fault_broken(faults, replay_play_elapsed_ns(&server->play), call->request->path))
        replay_rest_refuse(call, 500, 50010000, "internal server error");
    else
        return false;
    return true;
}

static bool authorized(const struct alpaca *alpaca, const struct replay_request *request)
{
    const char *id = request->headers[HEADER_KEY], *secret = request->headers[HEADER_SECRET];
    return id && secret && replay_alpaca_keys_good(alpaca, id, secret);
}

static const struct {
    const char *prefix;
    bool keys;  /* needs them */
    bool reads; /* is only read */
    bool (*answer)(struct rest_call *call, const char *rest);
} paths[] = {
    /* The longer ones first. */
    {"/v2/stocks/", true, true, replay_rest_stocks},
    {"/v2/", true, false, replay_rest_trading},
    {"/v1beta3/crypto/", false, true, replay_rest_crypto},
    {"/v1/corporate-actions", true, true, replay_rest_actions},
};

void replay_alpaca_rest(struct alpaca *alpaca, const struct replay_request *request,
                        struct response *response)
{
    struct rest_call call = {.alpaca = alpaca, .request = request, .response = response};
    call.wire = wire_to(&response->body, false);
    if (replay_alpaca_limits(alpaca, response) || broken(alpaca, &call))
        return;
    if (!within_limit(alpaca, response)) {
        replay_rest_refuse(&call, 429, 42910000, "rate limit exceeded");
        return;
    }
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
        size_t len = strlen(paths[i].prefix);
        if (strncmp(request->path, paths[i].prefix, len) != 0)
            continue;
        if (paths[i].keys && !authorized(alpaca, request))
            replay_rest_refuse(&call, 401, 40110000, "request is not authorized");
        else if (paths[i].reads && strcmp(request->method, "GET") != 0)
            replay_rest_refuse(&call, 405, 0, "Method Not Allowed");
        else if (alpaca->recorded && replay_recorded_answer(&call))
            return;
        else if (!paths[i].answer(&call, request->path + len))
            replay_rest_refuse(&call, 404, 0, "Not Found");
        return;
    }
    replay_rest_refuse(&call, 404, 0, "Not Found");
}

#include "bench/simdjson_parse.h"

#include <simdjson.h>

using namespace simdjson;

namespace
{

constexpr int SCALE = 8;
constexpr int64_t MS_NS = 1000000;

ondemand::parser parser;
int (*read_decimal)(const char *text, size_t len, int scale, int64_t *ret);

bool amount(ondemand::value value, int64_t *ret)
{
    /* As it stands, quotes included: get_string() would copy it to take escapes out. */
    std::string_view token = value.raw_json_token();
    return token.size() > 2 && token.front() == '"' && token.back() == '"' &&
           read_decimal(token.data() + 1, token.size() - 2, SCALE, ret) == 0;
}

bool number(ondemand::value value, int64_t *ret)
{
    return value.get_int64().get(*ret) == SUCCESS;
}

bool levels(ondemand::value value, simdjson_level *list, uint32_t *ret_n)
{
    ondemand::array rows;
    uint32_t n = 0;
    if (value.get_array().get(rows) != SUCCESS)
        return false;
    for (auto row : rows) {
        ondemand::array pair;
        int64_t fields[2];
        int got = 0;
        if (n == SIMDJSON_LEVELS_MAX || row.get_array().get(pair) != SUCCESS)
            return false;
        for (auto item : pair) {
            ondemand::value field;
            if (got == 2 || item.get(field) != SUCCESS || !amount(field, &fields[got++]))
                return false;
        }
        if (got != 2)
            return false;
        list[n++] = {fields[0], fields[1]};
    }
    *ret_n = n;
    return true;
}

bool trade(ondemand::value value, char key, simdjson_event *event)
{
    bool maker;
    switch (key) {
    case 't':
        return number(value, &event->id);
    case 'p':
        return amount(value, &event->price);
    case 'q':
        return amount(value, &event->qty);
    case 'T':
        if (!number(value, &event->ts_ns))
            return false;
        event->ts_ns *= MS_NS;
        return true;
    case 'm':
        if (value.get_bool().get(maker) != SUCCESS)
            return false;
        event->buyer_maker = maker;
        return true;
    default:
        return true;
    }
}

bool quote(ondemand::value value, char key, simdjson_event *event)
{
    switch (key) {
    case 'u':
        return number(value, &event->id);
    case 'b':
        return amount(value, &event->bid);
    case 'B':
        return amount(value, &event->bid_qty);
    case 'a':
        return amount(value, &event->ask);
    case 'A':
        return amount(value, &event->ask_qty);
    default:
        return true;
    }
}

bool depth(ondemand::value value, char key, simdjson_event *event)
{
    switch (key) {
    case 'U':
        return number(value, &event->first_id);
    case 'u':
        return number(value, &event->last_id);
    case 'b':
        return levels(value, event->bids, &event->n_bids);
    case 'a':
        return levels(value, event->asks, &event->n_asks);
    default:
        return true;
    }
}

simdjson_kind kind_of(std::string_view stream)
{
    std::string_view kind = stream.substr(std::min(stream.find('@') + 1, stream.size()));
    return kind == "trade"         ? SIMDJSON_TRADE
           : kind == "bookTicker"  ? SIMDJSON_QUOTE
           : kind == "depth@100ms" ? SIMDJSON_DEPTH
                                   : SIMDJSON_OTHER;
}

bool read_data(ondemand::object data, simdjson_event *event)
{
    for (auto field : data) {
        ondemand::raw_json_string key;
        ondemand::value value;
        if (field.key().get(key) != SUCCESS || field.value().get(value) != SUCCESS)
            return false;
        char c = key.raw()[0] != '"' && key.raw()[1] == '"' ? key.raw()[0] : '\0';
        bool ok = c == 'E'                        ? number(value, &event->event_ns)
                  : event->kind == SIMDJSON_TRADE ? trade(value, c, event)
                  : event->kind == SIMDJSON_QUOTE ? quote(value, c, event)
                                                  : depth(value, c, event);
        if (!ok)
            return false;
        if (c == 'E')
            event->event_ns *= MS_NS;
    }
    return true;
}

} // namespace

extern "C" int simdjson_parse(const char *frame, size_t len,
                              int (*decimal)(const char *text, size_t len, int scale, int64_t *ret),
                              struct simdjson_event *ret)
{
    ondemand::document document;
    ondemand::object object, data;
    std::string_view stream;
    read_decimal = decimal;
    ret->event_ns = 0;
    if (parser.iterate(frame, len, len + SIMDJSON_PADDING).get(document) != SUCCESS ||
        document.get_object().get(object) != SUCCESS || object["stream"].get_string().get(stream) != SUCCESS)
        return -1;
    ret->kind = kind_of(stream);
    if (ret->kind == SIMDJSON_OTHER)
        return 0;
    if (object["data"].get_object().get(data) != SUCCESS || !read_data(data, ret))
        return -1;
    return 0;
}

extern "C" const char *simdjson_implementation(void)
{
    static const std::string name = get_active_implementation()->name();
    return name.c_str();
}

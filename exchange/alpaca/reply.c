#include "exchange/alpaca/rest_call.h"

#include <errno.h>
#include <string.h>

struct walk {
    struct reader reader;
    struct alpaca_levels *levels;
    const struct alpaca_reply_handler *handler;
    struct alpaca_reply reply;
};

/* The type of a member's messages, by its name. */
static char type_of(struct json_text key)
{
    static const struct {
        const char *name;
        char type;
    } types[] = {
        {"trades", 't'},     {"quotes", 'q'},      {"bars", 'b'},
        {"orderbooks", 'o'}, {"latestTrade", 't'}, {"latestQuote", 'q'},
        {"minuteBar", 'b'},  {"dailyBar", 'd'},    {"prevDailyBar", 'd'},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (json_text_is(key, types[i].name))
            return types[i].type;
    return '\0';
}

static int take_message(struct walk *walk, char type, const struct symbol *symbol)
{
    struct market_event event;
    if (alpaca_reader_peek(&walk->reader) == 'n' || !symbol)
        return alpaca_reader_skip(&walk->reader) ? 0 : -EBADMSG;
    const struct reader before = walk->reader;
    int r = alpaca_read_message(&walk->reader, type, true, symbol, walk->levels, &event);
    if (r < 0) {
        walk->reply.odd++;
        walk->reader = before;
        return alpaca_reader_skip(&walk->reader) ? 0 : -EBADMSG;
    }
    if (r > 0)
        return 0;
    walk->reply.messages++;
    return walk->handler->message(walk->handler->user, symbol, &event);
}

/* {"AAPL":[…],"MSFT":{…}} */
static int take_symbols(struct walk *walk, char type)
{
    struct json_text name;
    if (alpaca_reader_peek(&walk->reader) == 'n')
        return alpaca_reader_skip(&walk->reader) ? 0 : -EBADMSG;
    if (!alpaca_reader_enter_map(&walk->reader))
        return -EBADMSG;
    while (alpaca_reader_member(&walk->reader, &name)) {
        const struct symbol *symbol = walk->handler->symbol(walk->handler->user, name);
        int r = 0;
        if (alpaca_reader_peek(&walk->reader) == '[') {
            alpaca_reader_enter_array(&walk->reader);
            while (r == 0 && alpaca_reader_element(&walk->reader))
                r = take_message(walk, type, symbol);
        } else {
            r = take_message(walk, type, symbol);
        }
        if (r != 0)
            return r;
    }
    return reader_failed(&walk->reader) ? -EBADMSG : 0;
}

/* {"latestTrade":{…},"minuteBar":{…},…} */
static int take_snapshot(struct walk *walk, struct json_text name)
{
    struct json_text key;
    if (alpaca_reader_peek(&walk->reader) != '{')
        return alpaca_reader_skip(&walk->reader) ? 0 : -EBADMSG;
    const struct symbol *symbol = walk->handler->symbol(walk->handler->user, name);
    alpaca_reader_enter_map(&walk->reader);
    while (alpaca_reader_member(&walk->reader, &key)) {
        char type = type_of(key);
        int r = type ? take_message(walk, type, symbol) : alpaca_reader_skip(&walk->reader) ? 0 : -EBADMSG;
        if (r != 0)
            return r;
    }
    return reader_failed(&walk->reader) ? -EBADMSG : 0;
}

static int take_snapshots(struct walk *walk)
{
    struct json_text name;
    if (!alpaca_reader_enter_map(&walk->reader))
        return -EBADMSG;
    while (alpaca_reader_member(&walk->reader, &name)) {
        int r = take_snapshot(walk, name);
        if (r != 0)
            return r;
    }
    return reader_failed(&walk->reader) ? -EBADMSG : 0;
}

int alpaca_parse_reply(const char *text, size_t len, struct alpaca_levels *levels,
                       const struct alpaca_reply_handler *handler, struct alpaca_reply *ret)
{
    struct walk walk = {.levels = levels, .handler = handler, .reply.next_page = {"", 0}};
    struct json_text key;
    alpaca_reader_init(&walk.reader, false, text, len);
    alpaca_reader_enter_map(&walk.reader);
    while (alpaca_reader_member(&walk.reader, &key)) {
        int r;
        if (type_of(key))
            r = take_symbols(&walk, type_of(key));
        else if (json_is(key, "snapshots"))
            r = take_snapshots(&walk);
        else if (json_is(key, "next_page_token") && alpaca_reader_peek(&walk.reader) == '"')
            r = alpaca_reader_text(&walk.reader, &walk.reply.next_page) ? 0 : -EBADMSG;
        else
            r = take_snapshot(&walk, key); /* stocks' snapshots stand at the top */
        if (r != 0)
            return r;
    }
    if (!json_done(&walk.reader.json))
        return -EBADMSG;
    *ret = walk.reply;
    return 0;
}

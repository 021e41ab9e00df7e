// dips.c as a process in C++, from docs/plugins-protocol.md alone.
#include <cstdio>
#include <iostream>
#include <string>

// What follows "key": in the line; "" when it is not there.
static std::string after(const std::string &line, const std::string &key)
{
    const std::string::size_type at = line.find('"' + key + "\":");
    return at == std::string::npos ? "" : line.substr(at + key.size() + 3);
}

static double number(const std::string &line, const std::string &key, double otherwise = 0)
{
    const std::string text = after(line, key);
    return text.empty() ? otherwise : std::stod(text);
}

static std::string digits(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

static std::string hold(const std::string &bar)
{
    const double close = number(bar, "close"), qty = number(bar, "qty");
    std::string intents;
    if (close > number(bar, "entry") * 1.004 && qty * close > 0.2 * number(bar, "equity"))
        intents = R"({"kind":"exit","fraction":0.5,"why":"half"})";
    if (number(bar, "orders") == 0)
        intents += std::string(intents.empty() ? "" : ",") +
                   R"({"kind":"order","side":"sell","type":"trailing_stop","size":"position","fraction":1,)"
                   R"("trail_share":0.006,"reduce_only":true,"why":"trail"})";
    return intents;
}

// Of the hello.
struct hello {
    double share;
    long long interval;
};

static std::string buy(const std::string &bar, double average, const hello &given)
{
    const double close = number(bar, "close");
    if (close > average)
        return R"({"kind":"order","side":"buy","type":"limit","why":"dip","tif":"gtd","fraction":)" +
               digits(given.share * number(bar, "leverage", 1)) + R"(,"limit":)" + digits(close * 0.998) + R"(,"good":)" +
               std::to_string(std::stoll(after(bar, "time")) + 7 * given.interval) + "}";
    return R"({"kind":"order","side":"buy","type":"stop_limit","why":"breakout","qty":)" +
           digits(0.25 * number(bar, "equity") / close) + R"(,"stop":)" + digits(average * 1.0005) + R"(,"limit":)" +
           digits(average * 1.002) + "}";
}

static std::string on_bar(const std::string &bar, const hello &given)
{
    const std::string text = after(bar, "indicators").substr(1);
    if (text.rfind("null", 0) == 0)
        return "";
    const double average = std::stod(text);
    if (number(bar, "qty") > 0)
        return hold(bar);
    if (number(bar, "orders") == 0)
        return buy(bar, average, given);
    return number(bar, "close") > average * 0.997 ? "" : R"({"kind":"cancel","why":"away"})";
}

int main()
{
    hello given{};
    for (std::string line; std::getline(std::cin, line);) {
        const std::string type = after(line, "type");
        if (type.rfind("\"describe\"", 0) == 0) {
            std::cout << R"({"type":"strategy","protocol":1,"name":"dips","params":[)"
                      << R"({"name":"period","default":20,"min":2,"max":500,"integer":true},)"
                      << R"({"name":"share","default":0.4,"min":0.01,"max":1}]})" << std::endl;
        } else if (type.rfind("\"hello\"", 0) == 0) {
            given = {number(line, "share"), std::stoll(after(line, "interval"))};
            std::cout << R"({"type":"ready","indicators":["sma:)" << static_cast<int>(number(line, "period")) << "\"]}"
                      << std::endl;
        } else {
            const std::string symbol = after(line, "symbol");
            std::cout << R"({"type":"intents","bar":)" << std::stoll(after(line, "time")) << R"(,"symbol":)"
                      << symbol.substr(0, symbol.find(',')) << R"(,"intents":[)" << on_bar(line, given) << "]}"
                      << std::endl;
        }
    }
}

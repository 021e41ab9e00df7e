#include "cli/order_dry_run.h"

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"

/* " NAME VALUE" of a member that is there. */
static void print_member(FILE *out, const json_t *object, const char *member, const char *name)
{
    const char *text = json_string_value(json_object_get(object, member));

    if (!text)
        return;
    fprintf(out, " %s ", name);
    cli_text_print(out, text);
}

static void print_amount(FILE *out, const char *before, const json_t *object, const char *member,
                         const char *asset)
{
    fputs(before, out);
    cli_text_print(out, cli_answer_text(object, member));
    fputc(' ', out);
    cli_text_print(out, asset);
}

static void print_leg(FILE *out, const json_t *leg, const char *account)
{
    static const char *const members[] = {"side", "type", "qty", "symbol"};
    static const struct {
        const char *member, *name;
    } prices[] = {{"limit", "limit"}, {"stop", "stop"}, {"trail", "trail"}, {"trail_percent", "trail %"}};

    fputs("would be", out);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        fputc(' ', out);
        cli_text_print(out, cli_answer_text(leg, members[i]));
    }
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
        print_member(out, leg, prices[i].member, prices[i].name);
    print_member(out, leg, "tif", "tif");
    fputs(", account ", out);
    cli_text_print(out, account);
    fputc('\n', out);
}

static void print_fill(FILE *out, const json_t *result, const char *currency)
{
    const json_t *fill = json_object_get(result, "fill");

    if (json_is_true(json_object_get(result, "would_take"))) {
        fputs("it would take: post-only, it is cancelled as it arrives\n", out);
    } else if (json_is_object(fill)) {
        fputs("fills ", out);
        cli_text_print(out, cli_answer_text(fill, "qty"));
        print_member(out, fill, "price", "at once at");
        print_amount(out, ": ", fill, "notional", currency);
        print_amount(out, ", fee ", fill, "fee", currency);
        fputc('\n', out);
    } else {
        fputs("fills nothing at once\n", out);
    }
}

void cli_order_dry_run_print(FILE *out, const json_t *result)
{
    const char *currency = cli_answer_text(result, "currency");
    const json_t *reserve = json_object_get(result, "reserve"), *leg;
    const char *asset = cli_answer_text(reserve, "asset");
    size_t i;

    json_array_foreach(json_object_get(result, "legs"), i, leg)
        print_leg(out, leg, cli_answer_text(result, "account"));
    print_amount(out, "in all ", result, "notional", currency);
    print_amount(out, ", fee ", result, "fee", currency);
    fputc('\n', out);
    cli_ask_print_notes(out, result);
    print_fill(out, result, currency);
    print_amount(out, "reserves ", reserve, "amount", asset);
    print_amount(out, ", then free ", reserve, "free_after", asset);
    print_member(out, reserve, "free", "of");
    fputs("\nnothing was ordered\n", out);
}

/* The ledger's hash chain against values computed by another program:
 *   python3 -c 'import hashlib; h=hashlib.sha256(bytes(32)+TEXT.encode()); print(h.hexdigest())' */
#include "record/ledger_row.h"

#include <errno.h>

#include "tests/check.h"

static void hex(const uint8_t hash[static LEDGER_HASH_SIZE], char text[static 2 * LEDGER_HASH_SIZE + 1])
{
    for (int i = 0; i < LEDGER_HASH_SIZE; i++)
        sprintf(text + 2 * i, "%02x", hash[i]);
}

int main(void)
{
    CHECK_STR(ledger_kind_name(LEDGER_DEPOSIT), "deposit");
    CHECK_STR(ledger_contra_name(LEDGER_DEPOSIT), "equity");
    CHECK_STR(ledger_contra_name(LEDGER_TRADE), "market");
    CHECK_STR(ledger_contra_name(LEDGER_FEE), "fees");
    for (int kind = 0; kind < LEDGER_KINDS; kind++)
        CHECK_INT(ledger_kind_parse(ledger_kind_name(kind)), kind);
    CHECK_INT(ledger_kind_parse("Deposit"), -EINVAL);
    CHECK_INT(ledger_kind_parse(""), -EINVAL);

    struct ledger_row deposit = {
        .id = 1,
        .ts_ns = 1723161255342000000,
        .asset = "USDT",
        .scale = 8,
        .kind = LEDGER_DEPOSIT,
        .amount = 1000000000000,
        .balance = 1000000000000,
    };
    CHECK_STR(ledger_row_word(&deposit), "deposit");
    struct ledger_row withdrawal = deposit;
    withdrawal.amount = -1;
    CHECK_STR(ledger_row_word(&withdrawal), "withdrawal");
    withdrawal.kind = LEDGER_TRANSFER;
    CHECK_STR(ledger_row_word(&withdrawal), "transfer");
    char text[LEDGER_TEXT_MAX], digest[2 * LEDGER_HASH_SIZE + 1];
    CHECK_INT(ledger_row_text(&deposit, text), strlen(text));
    CHECK_STR(text, "1|1723161255342000000|0|USDT|8|deposit|1000000000000|1000000000000|0|0");

    static const uint8_t zero[LEDGER_HASH_SIZE];
    CHECK_INT(ledger_row_chain(&deposit, zero), 0);
    hex(deposit.hash, digest);
    CHECK_STR(digest, "6b2b0b919a4d09c08b6ae0fe98cbd2bbb572080d94b7ea73df5c75883b2aa777");

    struct ledger_row fee = {
        .id = 2,
        .ts_ns = 1723161255343000000,
        .account = 3,
        .asset = "USDT",
        .scale = 8,
        .kind = LEDGER_FEE,
        .amount = -61838,
        .balance = 999999938162,
        .order_id = 7,
        .fill_id = 5,
    };
    CHECK_INT(ledger_row_chain(&fee, deposit.hash), 0);
    hex(fee.hash, digest);
    CHECK_STR(digest, "57c84532d29937815a99342899d1e310ed5fec59883a16d847be0f4d5e16da36");

    /* The longest row there can be fits. */
    struct ledger_row longest = {
        .id = UINT64_MAX,
        .ts_ns = INT64_MIN,
        .account = INT32_MIN,
        .asset = "ABCDEFGHIJKLMNO",
        .scale = INT32_MIN,
        .kind = LEDGER_DEPOSIT,
        .amount = INT64_MIN,
        .balance = INT64_MIN,
        .order_id = UINT64_MAX,
        .fill_id = UINT64_MAX,
    };
    CHECK_INT(ledger_row_text(&longest, text), strlen(text));
    CHECK(strlen(text) < LEDGER_TEXT_MAX);
    return check_done("record/ledger_row");
}

/* Requests of Binance's accounts: signatures (the venue's own worked examples, and OpenSSL's check), and
 * parameters of orders. */
#include "exchange/binance/account/parameters.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "tests/check.h"

/* ---- Signatures. ---- */

/* Of https://github.com/binance/binance-spot-api-docs, rest-api.md and web-socket-api.md. */
#define EXAMPLE_ID     "vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A"
#define EXAMPLE_SECRET "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j"
#define WIDE_SYMBOL    "\xef\xbc\x91\xef\xbc\x92\xef\xbc\x93\xef\xbc\x94\xef\xbc\x95\xef\xbc\x96"

static struct binance_signer *signer_of(const char *secret)
{
    const struct venue_keys keys = {EXAMPLE_ID, secret};
    struct binance_signer *signer = NULL;
    CHECK_INT(binance_signer_create(&keys, &signer), 0);
    return signer;
}

static void limit_order(struct binance_parameters *params, const char *symbol, const char *side,
                        const char *quantity, const char *price, int64_t window_ms, int64_t time_ms)
{
    *params = (struct binance_parameters){0};
    binance_parameter_add(params, "symbol", symbol);
    binance_parameter_add(params, "side", side);
    binance_parameter_add(params, "type", "LIMIT");
    binance_parameter_add(params, "timeInForce", "GTC");
    binance_parameter_add(params, "quantity", quantity);
    binance_parameter_add(params, "price", price);
    binance_parameter_add_int(params, "recvWindow", window_ms);
    binance_parameter_add_int(params, "timestamp", time_ms);
}

static void test_query(void)
{
    static const struct {
        const char *symbol, *encoded, *signature;
    } examples[] = {
        {"LTCBTC", "LTCBTC", "c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71"},
        {WIDE_SYMBOL, "%EF%BC%91%EF%BC%92%EF%BC%93%EF%BC%94%EF%BC%95%EF%BC%96",
         "e1353ec6b14d888f1164ae9af8228a3dbd508bc82eb867db8ab6046442f33ef3"},
    };
    struct binance_signer *signer = signer_of(EXAMPLE_SECRET);
    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
        struct binance_parameters params;
        struct text out = {0};
        char expected[512];
        limit_order(&params, examples[i].symbol, "BUY", "1", "0.1", 5000, 1499827319559);
        snprintf(
            expected, sizeof(expected),
            "symbol=%s&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000&timestamp="
            "1499827319559&signature=%s",
            examples[i].encoded, examples[i].signature);
        CHECK(binance_parameters_query(&params, signer, &out));
        char *made = text_take(&out);
        CHECK_STR(made, expected);
        free(made);
    }
    binance_signer_destroy(signer);
}

static void test_message(void)
{
    static const struct {
        const char *symbol, *side, *quantity, *price;
        int64_t window_ms;
        const char *signature;
    } examples[] = {
        {"BTCUSDT", "SELL", "0.01000000", "52000.00", 100,
         "aa1b5712c094bc4e57c05a1a5c1fd8d88dcd628338ea863fec7b88e59fe2db24"},
        {WIDE_SYMBOL, "BUY", "1.00000000", "0.10000000", 5000,
         "b33892ae8e687c939f4468c6268ddd4c40ac1af18ad19a064864c47bae0752cd"},
    };
    struct binance_signer *signer = signer_of(EXAMPLE_SECRET);
    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
        struct binance_parameters params;
        struct text out = {0};
        char expected[768];
        limit_order(&params, examples[i].symbol, examples[i].side, examples[i].quantity, examples[i].price,
                    examples[i].window_ms, 1645423376532);
        snprintf(
            expected, sizeof(expected),
            "{\"id\":7,\"method\":\"order.place\",\"params\":{\"apiKey\":\"" EXAMPLE_ID
            "\",\"price\":\"%s\",\"quantity\":\"%s\",\"recvWindow\":%d,\"side\":\"%s\",\"symbol\":\"%s\","
            "\"timeInForce\":\"GTC\",\"timestamp\":1645423376532,\"type\":\"LIMIT\",\"signature\":\"%s\"}}",
            examples[i].price, examples[i].quantity, (int)examples[i].window_ms, examples[i].side,
            examples[i].symbol, examples[i].signature);
        CHECK(binance_parameters_message(&params, signer, 7, "order.place", &out));
        char *made = text_take(&out);
        CHECK_STR(made, expected);
        free(made);
    }
    struct binance_parameters none = {0};
    struct text out = {0};
    CHECK(binance_parameters_message(&none, NULL, 8, "userDataStream.subscribe", &out));
    char *made = text_take(&out);
    CHECK_STR(made, "{\"id\":8,\"method\":\"userDataStream.subscribe\"}");
    free(made);
    binance_parameter_add(&none, "symbol", "A\"B");
    CHECK(!binance_parameters_message(&none, NULL, 8, "order.status", &out));
    text_finish(&out);
    binance_signer_destroy(signer);
}

/* A key of OpenSSL's, as PEM; `password`: encrypted. */
static char *pem_of(EVP_PKEY *pkey, const char *password)
{
    BIO *out = BIO_new(BIO_s_mem());
    char *text;
    CHECK(PEM_write_bio_PKCS8PrivateKey(out, pkey, password ? EVP_aes_128_cbc() : NULL, password,
                                        password ? (int)strlen(password) : 0, NULL, NULL) == 1);
    long len = BIO_get_mem_data(out, &text);
    char *copy = strndup(text, (size_t)len);
    BIO_free(out);
    return copy;
}

static void test_ed25519(void)
{
    static const char payload[] = "symbol=BTCUSDT&side=SELL&timestamp=1668481559918";
    char signature[BINANCE_SIGNATURE_MAX], again[BINANCE_SIGNATURE_MAX];
    unsigned char raw[66];
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    char *pem = pem_of(pkey, NULL), *locked = pem_of(pkey, "secret");
    struct binance_signer *signer = signer_of(pem);
    CHECK(binance_signer_logs_on(signer));
    CHECK(binance_sign(signer, payload, sizeof(payload) - 1, signature));
    CHECK(binance_sign(signer, payload, sizeof(payload) - 1, again));
    CHECK_STR(again, signature);
    CHECK_INT(strlen(signature), 88);
    CHECK_INT(EVP_DecodeBlock(raw, (const unsigned char *)signature, 88), 66);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    CHECK_INT(EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pkey), 1);
    CHECK_INT(EVP_DigestVerify(ctx, raw, 64, (const unsigned char *)payload, sizeof(payload) - 1), 1);
    raw[3] ^= 1;
    CHECK(EVP_DigestVerify(ctx, raw, 64, (const unsigned char *)payload, sizeof(payload) - 1) != 1);
    EVP_MD_CTX_free(ctx);

    /* In a URL its base64 is encoded, in a message it is not. */
    struct binance_parameters params = {0};
    struct text out = {0};
    binance_parameter_add(&params, "symbol", "BTCUSDT");
    CHECK(binance_parameters_query(&params, signer, &out));
    text_bytes(&out, "", 1);
    CHECK(!strpbrk(strstr(out.data, "&signature=") + 11, "+/="));
    CHECK(strstr(out.data, "%3D%3D"));
    text_finish(&out);
    binance_signer_destroy(signer);

    const struct venue_keys bad[] = {
        {EXAMPLE_ID, locked}, /* no prompt */
        {EXAMPLE_ID, "-----BEGIN PRIVATE KEY-----\nnone\n-----END PRIVATE KEY-----\n"},
        {EXAMPLE_ID, ""},
        {EXAMPLE_ID, NULL},
        {NULL, EXAMPLE_SECRET},
        {"", EXAMPLE_SECRET},
        {"a key", EXAMPLE_SECRET},
        {"key\r\nHost: other", EXAMPLE_SECRET},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        CHECK_INT(binance_signer_create(&bad[i], &signer), -EINVAL);
    EVP_PKEY *other = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    char *pem_other = pem_of(other, NULL);
    const struct venue_keys wrong = {EXAMPLE_ID, pem_other};
    CHECK_INT(binance_signer_create(&wrong, &signer), -EINVAL);
    free(pem_other);
    free(pem);
    free(locked);
    EVP_PKEY_free(other);
    EVP_PKEY_free(pkey);
}

/* ---- Parameters of orders. ---- */

#define E8 100000000LL

static void test_orders(void)
{
    static const struct {
        struct order order;
        const char *expected; /* NULL: refused here */
    } cases[] = {
        {{.type = ORDER_MARKET, .qty = E8 / 4},
         "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.25&newClientOrderId=a-1&newOrderRespType=FULL"},
        {{.type = ORDER_MARKET, .tif = ORDER_IOC, .side = ORDER_SELL, .qty = 3 * E8},
         "symbol=BTCUSDT&side=SELL&type=MARKET&quantity=3&newClientOrderId=a-1&newOrderRespType=FULL"},
        {{.type = ORDER_LIMIT, .qty = 1, .price = 61837 * E8 + E8 / 100},
         "symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=GTC&quantity=0.00000001&price=61837.01&"
         "newClientOrderId=a-1&newOrderRespType=FULL"},
        {{.type = ORDER_LIMIT, .tif = ORDER_FOK, .qty = E8, .price = E8},
         "symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=FOK&quantity=1&price=1&newClientOrderId=a-1&"
         "newOrderRespType=FULL"},
        {{.type = ORDER_LIMIT, .post_only = true, .qty = E8, .price = E8},
         "symbol=BTCUSDT&side=BUY&type=LIMIT_MAKER&quantity=1&price=1&newClientOrderId=a-1&newOrderRespType="
         "FULL"},
        {{.type = ORDER_STOP, .side = ORDER_SELL, .qty = E8, .stop_price = 2 * E8},
         "symbol=BTCUSDT&side=SELL&type=STOP_LOSS&quantity=1&stopPrice=2&newClientOrderId=a-1&newOrderRespType="
         "FULL"},
        {{.type = ORDER_TAKE_PROFIT_LIMIT, .side = ORDER_SELL, .qty = E8, .price = E8, .stop_price = 2 * E8},
         "symbol=BTCUSDT&side=SELL&type=TAKE_PROFIT_LIMIT&timeInForce=GTC&quantity=1&price=1&stopPrice=2&"
         "newClientOrderId=a-1&newOrderRespType=FULL"},
        {{.type = ORDER_TRAILING_STOP, .qty = E8, .trail = E8}, NULL},
        /* The venue has neither DAY nor GTD: papertape ends them. */
        {{.type = ORDER_LIMIT, .tif = ORDER_DAY, .qty = E8, .price = E8},
         "symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=1&newClientOrderId=a-1&"
         "newOrderRespType=FULL"},
        {{.type = ORDER_LIMIT, .tif = ORDER_GTD, .expires_ns = 9, .post_only = true, .qty = E8, .price = E8},
         "symbol=BTCUSDT&side=BUY&type=LIMIT_MAKER&quantity=1&price=1&newClientOrderId=a-1&newOrderRespType="
         "FULL"},
        {{.type = ORDER_STOP, .tif = ORDER_DAY, .side = ORDER_SELL, .qty = E8, .stop_price = 2 * E8},
         "symbol=BTCUSDT&side=SELL&type=STOP_LOSS&quantity=1&stopPrice=2&newClientOrderId=a-1&newOrderRespType="
         "FULL"},
        {{.type = ORDER_STOP_LIMIT, .tif = ORDER_GTD, .qty = E8, .price = E8, .stop_price = 2 * E8},
         "symbol=BTCUSDT&side=BUY&type=STOP_LOSS_LIMIT&timeInForce=GTC&quantity=1&price=1&stopPrice=2&"
         "newClientOrderId=a-1&newOrderRespType=FULL"},
        {{.type = ORDER_LIMIT, .tif = ORDER_CLS, .qty = E8, .price = E8}, NULL},
        {{.type = ORDER_MARKET, .tif = ORDER_FOK, .qty = E8}, NULL},
        {{.type = ORDER_STOP, .tif = ORDER_IOC, .qty = E8, .stop_price = E8}, NULL},
        {{.type = ORDER_LIMIT, .tif = ORDER_IOC, .post_only = true, .qty = E8, .price = E8}, NULL},
        {{.type = ORDER_MARKET, .qty = 0}, NULL},
        {{.type = ORDER_LIMIT, .qty = E8}, NULL},
    };
    const struct symbol symbol = {.name = "BTCUSDT", .price_scale = 8, .qty_scale = 8};
    struct binance_signer *signer = signer_of(EXAMPLE_SECRET);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct binance_parameters params = {0};
        struct text out = {0};
        const char *why = binance_parameters_of_order(&params, &symbol, &cases[i].order, "a-1");
        CHECK(!why == !!cases[i].expected);
        if (why || !cases[i].expected)
            continue;
        CHECK(binance_parameters_query(&params, signer, &out));
        char *made = text_take(&out), *end = strstr(made, "&signature=");
        CHECK(end != NULL);
        if (end)
            *end = '\0';
        CHECK_STR(made, cases[i].expected);
        free(made);
    }
    binance_signer_destroy(signer);
}

int main(void)
{
    test_query();
    test_message();
    test_ed25519();
    test_orders();
    return check_done("exchange binance_parameters");
}

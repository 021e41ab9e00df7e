/* What programs of the past wrote is read for ever: a segment of the log of each layout, with a state full of
 * live orders and the events after it, gives what it gave when it was made.
 *
 * To add one when a layout becomes the next (ENGINE_STATE_VERSION, EVENT_RECORD_VERSION,
 * STATE_RECORD_VERSION, or the journal's own): build the program of that layout, run `test-layouts --make
 * DIR SEED` (of a seed that gives all that a state can hold), put the file that it left in DIR into
 * tests/engine/fixtures/ as layout-N, and the line that it printed into the table below. Those before stay as
 * they are. */
#include <dirent.h>
#include <inttypes.h>
#include <openssl/evp.h>

#include "tests/engine/logged.h"

enum {
    SAVED_SINCE =
        5, /* states of this layout and later are saved again to the byte, once they were played on */
    AFTER = 150,
    WANTED_TYPES = (1 << ORDER_TYPES) - 1,
    TRIES = 200000
};

static const struct layout {
    const char *name;
    uint32_t version; /* of the state: its digest is of this layout only */
    uint64_t seq, orders, fills, rows;
    const char *ledger, *digest; /* the last row's hash; SHA-256 of the engine's state at the end */
    int64_t equity[4];
} layouts[] = {
    {"layout-1",
     1,
     2196,
     470,
     161,
     568,
     "f288ebe1f82318503be6af164d8cdf450c1ce5a78f57c04d2acd00492719522f",
     "7514cc0cbcb5f9d38281a5e30e85d6d1bb5ebfa45c191c7a1b0c74e36605685a",
     {10349678586670, 30587061175078, 346062329857, 9727507235461}},
    {"layout-2",
     2,
     178644,
     41631,
     3328,
     13373,
     "de6c695119fc332a63b5b654d5b2ff573f026c3d5f04299b3c6175ee7de32ffe",
     "06443f43531cd46bf1a8dba94f34d369596bf3848307e649b461181e6e410f80",
     {7380122481356, 1674905521721, 2538262298913, 48986577966}},
    {"layout-3",
     3,
     178644,
     41631,
     3328,
     13373,
     "de6c695119fc332a63b5b654d5b2ff573f026c3d5f04299b3c6175ee7de32ffe",
     "6cac902d33eb293085186305724eee3de1f3c3778c38a29c8e69782295525de4",
     {7380122481356, 1674905521721, 2538262298913, 48986577966}},
    {"layout-4",
     4,
     178644,
     41631,
     3328,
     13373,
     "de6c695119fc332a63b5b654d5b2ff573f026c3d5f04299b3c6175ee7de32ffe",
     "be9a82e6b1cc8e79c224fe95d38f3ee8f5f2f248a00a14b08061926db7995853",
     {7380122481356, 1674905521721, 2538262298913, 48986577966}},
    {"layout-5",
     5,
     178644,
     41631,
     3328,
     13373,
     "de6c695119fc332a63b5b654d5b2ff573f026c3d5f04299b3c6175ee7de32ffe",
     "1c92672c2a1464b8277a9517a139400b761076e6dd4fed0e83af475a9fd95817",
     {7380122481356, 1674905521721, 2538262298913, 48986577966}},
    {"layout-6", /* with sessions, halts, splits, dividends and corrections */
     6,
     55744,
     11633,
     513,
     2951,
     "09bb3a96bf380e6e52daf11053cadf9328b653d83c88c0457b0410d77bc8ce5a",
     "ab847417b54fdb156a1eaf151bf8503e96565eea20f1e6cc043b74b1449c00da",
     {1282771054652, 76100000000, 495820995315, 1078149367225}},
    {"layout-8", /* with calendars, and accounts and orders by the rules for stocks */
     8,
     194370,
     41072,
     2017,
     11674,
     "f19dc59741d55d4331161511daacce18b508f7c154c948afb5bf95402cb72ac9",
     "b2fe172a407aef71af3032aab572200c03fd716a609b12024de06d19bff9c2fb",
     {396297702913, 10616878801203, 1773336822576, 10351510285428}},
    {"layout-9", /* with venues' clocks */
     9,
     71647,
     15009,
     649,
     3707,
     "3296cbf86567ae3ea8ff89eb065fc91be4c18bdece964503e37252feea8417c1",
     "aaf63651563b0e3d8f18ee4d902d92ef10df81588091d2645db153d659d95923",
     {9999998814855, 68036895447, 1295133796078, 1416394398197}},
    {"layout-10", /* with accounts at their venue */
     10,
     176439,
     36566,
     1544,
     9870,
     "308066cc3235dbe9dc4df21bb9765d1db038597d394037be1c2bb35a9c6e448e",
     "e1fd979647434a5f2a0e0004c28d837537aa86ed10e2cfc2ad70ee420f8ba9ef",
     {347530671594, 3463006643993, 2795336256001, 10366441781043}},
    {"layout-11",
     11,
     176439,
     36566,
     1544,
     9870,
     "308066cc3235dbe9dc4df21bb9765d1db038597d394037be1c2bb35a9c6e448e",
     "5d746983c6ff6e62ae99c34e83bfe0c88bf6d85ae15b85501cb513dcf4f19ec2",
     {347530671594, 3463006643993, 2795336256001, 10366441781043}},
    {"layout-12",
     12,
     184152,
     37467,
     1867,
     11588,
     "274736b9ba82290a2e1aa4ea20917997d65ef0b84d479093c78334fa3638cfb9",
     "da3dedab7c72264afe5a2c90a8aeb35c0a4573680e3ae53514e87720a703a09e",
     {674400000000, 1223600000000, 1479819933543, 523212999922}},
};

static void hex(const uint8_t *bytes, char to[static 2 * LEDGER_HASH_SIZE + 1])
{
    for (size_t i = 0; i < LEDGER_HASH_SIZE; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/* Is there all that a state can hold: orders of every type, an OCO, a bracket that waits, a short position?
 */
static bool rich(const struct engine *engine)
{
    unsigned types = 0;
    bool oco = false, held = false, partial = false, triggered = false, shorts = false;
    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct order *order = engine_order(engine, i);
        types |= 1u << order->type;
        oco |= order->group != 0 && order->parent == 0 && order->type == ORDER_STOP;
        held |= order->state == ORDER_HELD;
        partial |= order->state == ORDER_PARTIAL;
        triggered |= order->triggered;
    }
    for (int a = 0; a < engine_accounts(engine); a++)
        for (int s = 0; s < engine_symbols(engine); s++)
            shorts |= engine_account(engine, a)->positions[s].qty < 0;
    return types == WANTED_TYPES && oco && held && partial && triggered && shorts;
}

static int make(const char *dir, uint64_t seed)
{
    static struct logged l;
    uint8_t digest[LEDGER_HASH_SIZE];
    char ledger_text[2 * LEDGER_HASH_SIZE + 1], digest_text[2 * LEDGER_HASH_SIZE + 1];
    struct journal_tail tail;
    char err[JOURNAL_ERROR_MAX] = "";
    const struct journal_writer_config config = {.dir = dir, .block_bytes = 65536, .level = 19};
    logged_open_as(&l, seed, true);
    for (int i = 0; i < TRIES && !rich(l.engine); i++)
        logged_play(&l, 1, true);
    journal_writer_close(l.writer);
    if (!rich(l.engine) || journal_writer_open(&config, &l.writer, &tail, err, sizeof err) < 0) {
        fprintf(stderr, "nothing was made: %s\n", err);
        return EXIT_FAILURE;
    }
    logged_state(&l, STATE_AFTER_HOLE);
    logged_play(&l, AFTER, false);
    struct engine_ids ids;
    engine_ids(l.engine, &ids);
    if (engine_digest(l.engine, digest) < 0)
        return EXIT_FAILURE;
    hex(ids.hash, ledger_text);
    hex(digest, digest_text);
    printf("{\"layout-%d\", %d, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ",\n \"%s\",\n \"%s\",\n {",
           ENGINE_STATE_VERSION, ENGINE_STATE_VERSION, l.driver.seq, ids.last_order, ids.last_fill,
           ids.last_ledger, ledger_text, digest_text);
    for (int a = 0; a < 4; a++)
        printf("%s%" PRId64, a ? ", " : "", engine_equity(l.engine, a));
    printf("}},\n");
    journal_writer_close(l.writer);
    return EXIT_SUCCESS;
}

/* Of the state as a program of that layout would have saved it. */
static void digest_as(const struct engine *engine, uint32_t version, uint8_t ret[static LEDGER_HASH_SIZE])
{
    struct codec codec = {0};
    uint8_t hash[EVP_MAX_MD_SIZE];
    codec_save(&codec);
    CHECK_INT(engine_save_as(engine, version, &codec), 0);
    CHECK(EVP_Digest(codec.bytes, codec.len, hash, NULL, EVP_sha256(), NULL) == 1);
    memcpy(ret, hash, LEDGER_HASH_SIZE);
    codec_finish(&codec);
}

static void check(const struct layout *layout, const char *folder)
{
    char path[512], err[JOURNAL_ERROR_MAX] = "", text[2 * LEDGER_HASH_SIZE + 1];
    struct replay *replay = NULL;
    uint8_t digest[LEDGER_HASH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, layout->name);
    const struct replay_options options = {.path = path};
    CHECK_INT(engine_replay_open(&options, &replay, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!replay)
        return;
    const struct engine *engine = engine_replay_engine(replay);
    CHECK(rich(engine));
    CHECK_INT(engine_replay_seq(replay), layout->seq - AFTER);
    int r;
    while ((r = engine_replay_step(replay)) > 0)
        ;
    CHECK_INT(r, 0);
    CHECK_INT(engine_replay_seq(replay), layout->seq);
    engine = engine_replay_engine(replay);
    struct engine_ids ids;
    engine_ids(engine, &ids);
    CHECK_INT(ids.last_order, layout->orders);
    CHECK_INT(ids.last_fill, layout->fills);
    CHECK_INT(ids.last_ledger, layout->rows);
    hex(ids.hash, text);
    CHECK_STR(text, layout->ledger);
    for (int a = 0; a < 4; a++)
        CHECK_INT(engine_equity(engine, a), layout->equity[a]);
    if (layout->version >= SAVED_SINCE) {
        digest_as(engine, layout->version, digest);
        hex(digest, text);
        CHECK_STR(text, layout->digest);
    }
    engine_replay_close(replay);
}

/* Plays all of a log, comparing the states on the way. */
static int play(const char *path, uint64_t *ret_seq, char err[static JOURNAL_ERROR_MAX])
{
    struct replay *replay = NULL;
    const struct replay_options options = {.path = path, .check_states = true};
    err[0] = '\0';
    int r = engine_replay_open(&options, &replay, err, JOURNAL_ERROR_MAX);
    while (r == 0 && (r = engine_replay_step(replay)) > 0)
        r = 0;
    if (replay) {
        snprintf(err, JOURNAL_ERROR_MAX, "%s", engine_replay_error(replay));
        *ret_seq = engine_replay_seq(replay);
        engine_replay_close(replay);
    }
    return r;
}

/* The log of a program of layout 2, as it left it: a run, a rotation, a stop. */
static void check_run(const char *folder)
{
    char path[512], err[JOURNAL_ERROR_MAX];
    uint64_t seq = 0;
    snprintf(path, sizeof path, "%s/run-of-layout-2", folder);
    CHECK_INT(play(path, &seq, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(seq, 30300);
}

/* A state is refused that is not what the events make of it, in each older layout as in this one. */
static void check_stops(uint32_t layout)
{
    static struct logged l;
    char err[JOURNAL_ERROR_MAX];
    for (int stale = 0; stale < 2; stale++) {
        struct codec state = {0};
        uint64_t seq = 0;
        logged_open(&l, 20261122);
        logged_play(&l, 3000, false);
        codec_save(&state);
        CHECK_INT(engine_save_as(l.engine, layout, &state), 0);
        CHECK_INT(engine_state_layout(state.bytes, state.len), layout);
        logged_play(&l, stale, false);
        CHECK_INT(engine_state_record_encode(l.engine, l.run, STATE_STOP, NULL, 0, &l.codec), 0);
        struct state_record whole;
        CHECK_INT(engine_state_record_decode(l.codec.bytes, l.codec.len, &whole), 0);
        size_t head = l.codec.len - whole.len;
        uint8_t *bytes = malloc(head + state.len);
        if (!bytes)
            abort();
        memcpy(bytes, l.codec.bytes, head);
        memcpy(bytes + head, state.bytes, state.len);
        const struct journal_record record = {.kind = JOURNAL_STATE,
                                              .seq = l.driver.seq,
                                              .recv_ns = l.driver.now_ns,
                                              .bytes = bytes,
                                              .len = head + state.len};
        CHECK_INT(journal_batch_add(&l.batch, &record), 0);
        logged_put(&l);
        CHECK_INT(play(l.dir, &seq, err), stale ? -EILSEQ : 0);
        CHECK(stale ? strstr(err, "is not what the events make of it") != NULL : err[0] == '\0');
        CHECK_INT(seq, l.driver.seq);
        free(bytes);
        codec_finish(&state);
        logged_close(&l);
    }
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--make") == 0)
        return make(argv[2], strtoull(argv[3], NULL, 10));
    if (argc != 2)
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        check(&layouts[i], argv[1]);
    check_run(argv[1]);
    for (uint32_t layout = 1; layout <= ENGINE_STATE_VERSION; layout++)
        check_stops(layout);
    return check_done("engine/layouts");
}

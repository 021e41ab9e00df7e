/* The words of the ledger's kinds: the number's name without LEDGER_, the word that is stored, the account at
 * the other end. */
#ifndef RECORD_LEDGER_KINDS_H
#define RECORD_LEDGER_KINDS_H

#define LEDGER_KIND_NAMES(X) \
    X(DEPOSIT, "deposit", "equity") \
    X(TRADE, "trade", "market") \
    X(FEE, "fee", "fees") \
    X(TRANSFER, "transfer", "transfers") \
    X(BORROW, "borrow", "loans") \
    X(INTEREST, "interest", "interest") \
    X(RESET, "reset", "equity") \
    X(SPLIT, "split", "splits") \
    X(DIVIDEND, "dividend", "dividends")

#endif

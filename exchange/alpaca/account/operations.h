/* What may be asked of an account: the calls of struct venue_accounts, each of them one paper_call. */
#ifndef EXCHANGE_ALPACA_ACCOUNT_OPERATIONS_H
#define EXCHANGE_ALPACA_ACCOUNT_OPERATIONS_H

#include "exchange/venue_account.h"

int alpaca_ask_place(struct venue_account *account, const struct order *order, const char *client_id,
                     venue_answer_done *done, void *user);
int alpaca_ask_cancel(struct venue_account *account, int symbol, const char *client_id,
                      venue_answer_done *done, void *user);
int alpaca_ask_query(struct venue_account *account, int symbol, const char *client_id,
                     venue_answer_done *done, void *user);
int alpaca_ask_open(struct venue_account *account, venue_answer_done *done, void *user);
int alpaca_ask_fills(struct venue_account *account, int symbol, const char *order_id, venue_answer_done *done,
                     void *user);
int alpaca_ask_balances(struct venue_account *account, venue_answer_done *done, void *user);

#endif

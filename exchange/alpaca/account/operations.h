/* What may be asked of an account: the calls of struct venue_accounts, each of them one paper_call. */
#ifndef EXCHANGE_ALPACA_ACCOUNT_OPERATIONS_H
#define EXCHANGE_ALPACA_ACCOUNT_OPERATIONS_H

#include "exchange/alpaca/account/call.h"

int alpaca_ask_place(struct paper_requests *requests, const struct order *order, const char *client_id,
                     venue_answer_done *done, void *user);
int alpaca_ask_cancel(struct paper_requests *requests, const char *client_id, venue_answer_done *done,
                      void *user);
int alpaca_ask_query(struct paper_requests *requests, const char *client_id, venue_answer_done *done,
                     void *user);
int alpaca_ask_open(struct paper_requests *requests, venue_answer_done *done, void *user);
int alpaca_ask_fills(struct paper_requests *requests, int symbol, const char *order_id,
                     venue_answer_done *done, void *user);
int alpaca_ask_balances(struct paper_requests *requests, venue_answer_done *done, void *user);

#endif

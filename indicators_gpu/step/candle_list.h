/* The candlestick patterns, sorted by name, as X(name, bars, penetration, summary): the row is cdlNAME.
 *
 *   bars         before the newest that it reads, which is its lookback
 *   penetration  how far a later body reaches into an earlier one, where that is an option; else 0 */
#ifndef INDICATORS_GPU_STEP_CANDLE_LIST_H
#define INDICATORS_GPU_STEP_CANDLE_LIST_H

/* clang-format off */
#define CANDLES(X) \
    X(2crows, 12, 0.0, "Two crows") \
    X(3blackcrows, 13, 0.0, "Three black crows") \
    X(3inside, 12, 0.0, "Three inside up or down") \
    X(3linestrike, 8, 0.0, "Three-line strike") \
    X(3outside, 3, 0.0, "Three outside up or down") \
    X(3starsinsouth, 12, 0.0, "Three stars in the south") \
    X(3whitesoldiers, 12, 0.0, "Three advancing white soldiers") \
    X(abandonedbaby, 12, 0.3, "Abandoned baby") \
    X(advanceblock, 12, 0.0, "Advance block") \
    X(belthold, 10, 0.0, "Belt-hold") \
    X(breakaway, 14, 0.0, "Breakaway") \
    X(closingmarubozu, 10, 0.0, "Closing marubozu") \
    X(concealbabyswall, 13, 0.0, "Concealing baby swallow") \
    X(counterattack, 11, 0.0, "Counterattack") \
    X(darkcloudcover, 11, 0.5, "Dark cloud cover") \
    X(doji, 10, 0.0, "Doji") \
    X(dojistar, 11, 0.0, "Doji star") \
    X(dragonflydoji, 10, 0.0, "Dragonfly doji") \
    X(engulfing, 2, 0.0, "Engulfing pattern") \
    X(eveningdojistar, 12, 0.3, "Evening doji star") \
    X(eveningstar, 12, 0.3, "Evening star") \
    X(gapsidesidewhite, 7, 0.0, "Up or down gap, side-by-side white lines") \
    X(gravestonedoji, 10, 0.0, "Gravestone doji") \
    X(hammer, 11, 0.0, "Hammer") \
    X(hangingman, 11, 0.0, "Hanging man") \
    X(harami, 11, 0.0, "Harami") \
    X(haramicross, 11, 0.0, "Harami cross") \
    X(highwave, 10, 0.0, "High-wave candle") \
    X(hikkake, 5, 0.0, "Hikkake, and its confirmation") \
    X(hikkakemod, 10, 0.0, "Modified hikkake, and its confirmation") \
    X(homingpigeon, 11, 0.0, "Homing pigeon") \
    X(identical3crows, 12, 0.0, "Identical three crows") \
    X(inneck, 11, 0.0, "In-neck line") \
    X(invertedhammer, 11, 0.0, "Inverted hammer") \
    X(kicking, 11, 0.0, "Kicking") \
    X(kickingbylength, 11, 0.0, "Kicking, its sign by the longer marubozu") \
    X(ladderbottom, 14, 0.0, "Ladder bottom") \
    X(longleggeddoji, 10, 0.0, "Long-legged doji") \
    X(longline, 10, 0.0, "Long line candle") \
    X(marubozu, 10, 0.0, "Marubozu") \
    X(matchinglow, 6, 0.0, "Matching low") \
    X(mathold, 14, 0.5, "Mat hold") \
    X(morningdojistar, 12, 0.3, "Morning doji star") \
    X(morningstar, 12, 0.3, "Morning star") \
    X(onneck, 11, 0.0, "On-neck line") \
    X(piercing, 11, 0.0, "Piercing line") \
    X(rickshawman, 10, 0.0, "Rickshaw man") \
    X(risefall3methods, 14, 0.0, "Rising or falling three methods") \
    X(separatinglines, 11, 0.0, "Separating lines") \
    X(shootingstar, 11, 0.0, "Shooting star") \
    X(shortline, 10, 0.0, "Short line candle") \
    X(spinningtop, 10, 0.0, "Spinning top") \
    X(stalledpattern, 12, 0.0, "Stalled pattern") \
    X(sticksandwich, 7, 0.0, "Stick sandwich") \
    X(takuri, 10, 0.0, "Takuri: a dragonfly doji with a very long lower shadow") \
    X(tasukigap, 7, 0.0, "Tasuki gap") \
    X(thrusting, 11, 0.0, "Thrusting line") \
    X(tristar, 12, 0.0, "Tristar") \
    X(unique3river, 12, 0.0, "Unique three river") \
    X(upsidegap2crows, 12, 0.0, "Upside gap two crows") \
    X(xsidegap3methods, 2, 0.0, "Upside or downside gap three methods")
/* clang-format on */

#endif

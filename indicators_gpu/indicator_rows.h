/* The indicators, one line each, sorted by name: the registry, its declarations, the steps, the streams and
 * the fast kernels follow from this list, as X(number, ID, name, kernels):
 *
 *   number   part of the GPU module's ABI and of saved states: never changes; a new row has the next one
 *   kernels  BOTH: a fast kernel for either precision; F64: for float64 alone, which takes float32 widened;
 *            WINDOW: a formula over the last bars, written once for all backends (step/window.h); STEPS: its
 *            step is all there is, and the reference and the cpu backend call it; both in float64 alone
 *
 * For each line there is, under that name,
 *   indicator_name        in rows/: the row, which begins with INDICATOR_ROW(name)
 *   reference_name        in reference/
 *   step_name, its _cells, _start and _next
 *                         in step/
 *   visit_row_name        in stream/
 *   FAST(name)            in fast/, by itself or by one of WINDOW_KERNEL's forms
 *   `name:defaults`       in the first column of docs/indicators/FAMILY.md
 * A WINDOW row has a NAME_of in step/window_rows.h, or a line in step/candle_list.h, for all but the first
 * and the last of these; a STEPS row neither reference nor kernel. rows_complete.py names what is missing,
 * before anything is compiled.
 *
 * It is installed as <papertape/indicator_rows.h>, for programs that know rows by number. */
#ifndef INDICATORS_GPU_INDICATOR_ROWS_H
#define INDICATORS_GPU_INDICATOR_ROWS_H

/* clang-format off */
#define INDICATOR_ROWS(X) \
    X(154, AC, ac, WINDOW) \
    X(52, ACCBANDS, accbands, WINDOW) \
    X(29, AD, ad, BOTH) \
    X(30, ADOSC, adosc, BOTH) \
    X(155, ADR, adr, WINDOW) \
    X(19, ADX, adx, F64) \
    X(20, ADXR, adxr, F64) \
    X(156, AO, ao, WINDOW) \
    X(79, APO, apo, STEPS) \
    X(21, AROON, aroon, BOTH) \
    X(53, AROONOSC, aroonosc, WINDOW) \
    X(5, ATR, atr, BOTH) \
    X(54, AVGDEV, avgdev, WINDOW) \
    X(55, AVGPRICE, avgprice, WINDOW) \
    X(13, BBANDS, bbands, BOTH) \
    X(56, BETA, beta, WINDOW) \
    X(57, BOP, bop, WINDOW) \
    X(22, CCI, cci, BOTH) \
    X(93, CDL2CROWS, cdl2crows, WINDOW) \
    X(94, CDL3BLACKCROWS, cdl3blackcrows, WINDOW) \
    X(95, CDL3INSIDE, cdl3inside, WINDOW) \
    X(96, CDL3LINESTRIKE, cdl3linestrike, WINDOW) \
    X(97, CDL3OUTSIDE, cdl3outside, WINDOW) \
    X(98, CDL3STARSINSOUTH, cdl3starsinsouth, WINDOW) \
    X(99, CDL3WHITESOLDIERS, cdl3whitesoldiers, WINDOW) \
    X(100, CDLABANDONEDBABY, cdlabandonedbaby, WINDOW) \
    X(101, CDLADVANCEBLOCK, cdladvanceblock, WINDOW) \
    X(102, CDLBELTHOLD, cdlbelthold, WINDOW) \
    X(103, CDLBREAKAWAY, cdlbreakaway, WINDOW) \
    X(104, CDLCLOSINGMARUBOZU, cdlclosingmarubozu, WINDOW) \
    X(105, CDLCONCEALBABYSWALL, cdlconcealbabyswall, WINDOW) \
    X(106, CDLCOUNTERATTACK, cdlcounterattack, WINDOW) \
    X(107, CDLDARKCLOUDCOVER, cdldarkcloudcover, WINDOW) \
    X(108, CDLDOJI, cdldoji, WINDOW) \
    X(109, CDLDOJISTAR, cdldojistar, WINDOW) \
    X(110, CDLDRAGONFLYDOJI, cdldragonflydoji, WINDOW) \
    X(111, CDLENGULFING, cdlengulfing, WINDOW) \
    X(112, CDLEVENINGDOJISTAR, cdleveningdojistar, WINDOW) \
    X(113, CDLEVENINGSTAR, cdleveningstar, WINDOW) \
    X(114, CDLGAPSIDESIDEWHITE, cdlgapsidesidewhite, WINDOW) \
    X(115, CDLGRAVESTONEDOJI, cdlgravestonedoji, WINDOW) \
    X(116, CDLHAMMER, cdlhammer, WINDOW) \
    X(117, CDLHANGINGMAN, cdlhangingman, WINDOW) \
    X(118, CDLHARAMI, cdlharami, WINDOW) \
    X(119, CDLHARAMICROSS, cdlharamicross, WINDOW) \
    X(120, CDLHIGHWAVE, cdlhighwave, WINDOW) \
    X(121, CDLHIKKAKE, cdlhikkake, WINDOW) \
    X(122, CDLHIKKAKEMOD, cdlhikkakemod, WINDOW) \
    X(123, CDLHOMINGPIGEON, cdlhomingpigeon, WINDOW) \
    X(124, CDLIDENTICAL3CROWS, cdlidentical3crows, WINDOW) \
    X(125, CDLINNECK, cdlinneck, WINDOW) \
    X(126, CDLINVERTEDHAMMER, cdlinvertedhammer, WINDOW) \
    X(127, CDLKICKING, cdlkicking, WINDOW) \
    X(128, CDLKICKINGBYLENGTH, cdlkickingbylength, WINDOW) \
    X(129, CDLLADDERBOTTOM, cdlladderbottom, WINDOW) \
    X(130, CDLLONGLEGGEDDOJI, cdllongleggeddoji, WINDOW) \
    X(131, CDLLONGLINE, cdllongline, WINDOW) \
    X(132, CDLMARUBOZU, cdlmarubozu, WINDOW) \
    X(133, CDLMATCHINGLOW, cdlmatchinglow, WINDOW) \
    X(134, CDLMATHOLD, cdlmathold, WINDOW) \
    X(135, CDLMORNINGDOJISTAR, cdlmorningdojistar, WINDOW) \
    X(136, CDLMORNINGSTAR, cdlmorningstar, WINDOW) \
    X(137, CDLONNECK, cdlonneck, WINDOW) \
    X(138, CDLPIERCING, cdlpiercing, WINDOW) \
    X(139, CDLRICKSHAWMAN, cdlrickshawman, WINDOW) \
    X(140, CDLRISEFALL3METHODS, cdlrisefall3methods, WINDOW) \
    X(141, CDLSEPARATINGLINES, cdlseparatinglines, WINDOW) \
    X(142, CDLSHOOTINGSTAR, cdlshootingstar, WINDOW) \
    X(143, CDLSHORTLINE, cdlshortline, WINDOW) \
    X(144, CDLSPINNINGTOP, cdlspinningtop, WINDOW) \
    X(145, CDLSTALLEDPATTERN, cdlstalledpattern, WINDOW) \
    X(146, CDLSTICKSANDWICH, cdlsticksandwich, WINDOW) \
    X(147, CDLTAKURI, cdltakuri, WINDOW) \
    X(148, CDLTASUKIGAP, cdltasukigap, WINDOW) \
    X(149, CDLTHRUSTING, cdlthrusting, WINDOW) \
    X(150, CDLTRISTAR, cdltristar, WINDOW) \
    X(151, CDLUNIQUE3RIVER, cdlunique3river, WINDOW) \
    X(152, CDLUPSIDEGAP2CROWS, cdlupsidegap2crows, WINDOW) \
    X(153, CDLXSIDEGAP3METHODS, cdlxsidegap3methods, WINDOW) \
    X(157, CMF, cmf, WINDOW) \
    X(80, CMO, cmo, STEPS) \
    X(158, CMOU, cmou, WINDOW) \
    X(159, COPPOCK, coppock, WINDOW) \
    X(58, CORREL, correl, WINDOW) \
    X(179, CVI, cvi, STEPS) \
    X(7, DEMA, dema, BOTH) \
    X(15, DONCHIAN, donchian, BOTH) \
    X(160, DPO, dpo, WINDOW) \
    X(18, DX, dx, F64) \
    X(175, EFI, efi, STEPS) \
    X(2, EMA, ema, BOTH) \
    X(161, ER, er, WINDOW) \
    X(176, ERI, eri, STEPS) \
    X(162, FOSC, fosc, WINDOW) \
    X(163, FRACTAL, fractal, WINDOW) \
    X(49, GARMAN_KLASS, garman_klass, BOTH) \
    X(44, HEIKIN_ASHI, heikin_ashi, BOTH) \
    X(10, HMA, hma, BOTH) \
    X(81, HT_DCPERIOD, ht_dcperiod, STEPS) \
    X(82, HT_DCPHASE, ht_dcphase, STEPS) \
    X(83, HT_PHASOR, ht_phasor, STEPS) \
    X(84, HT_SINE, ht_sine, STEPS) \
    X(85, HT_TRENDLINE, ht_trendline, STEPS) \
    X(86, HT_TRENDMODE, ht_trendmode, STEPS) \
    X(43, ICHIMOKU, ichimoku, BOTH) \
    X(59, IMI, imi, WINDOW) \
    X(9, KAMA, kama, F64) \
    X(183, KDJ, kdj, STEPS) \
    X(14, KELTNER, keltner, BOTH) \
    X(60, LINEARREG, linearreg, WINDOW) \
    X(61, LINEARREG_INTERCEPT, linearreg_intercept, WINDOW) \
    X(39, LINREG_ANGLE, linreg_angle, BOTH) \
    X(38, LINREG_SLOPE, linreg_slope, BOTH) \
    X(45, LOG_RETURN, log_return, BOTH) \
    X(4, MACD, macd, BOTH) \
    X(87, MACDEXT, macdext, STEPS) \
    X(88, MACDFIX, macdfix, STEPS) \
    X(89, MAMA, mama, STEPS) \
    X(164, MARKETFI, marketfi, WINDOW) \
    X(180, MASSI, massi, STEPS) \
    X(62, MAX, max, WINDOW) \
    X(63, MEDPRICE, medprice, WINDOW) \
    X(27, MFI, mfi, BOTH) \
    X(64, MIDPOINT, midpoint, WINDOW) \
    X(65, MIDPRICE, midprice, WINDOW) \
    X(66, MIN, min, WINDOW) \
    X(67, MINMAX, minmax, WINDOW) \
    X(17, MINUS_DI, minus_di, F64) \
    X(90, MINUS_DM, minus_dm, STEPS) \
    X(32, MOM, mom, BOTH) \
    X(11, NATR, natr, BOTH) \
    X(172, NVI, nvi, STEPS) \
    X(28, OBV, obv, BOTH) \
    X(48, PARKINSON, parkinson, BOTH) \
    X(165, PERCENTRANK, percentrank, WINDOW) \
    X(16, PLUS_DI, plus_di, F64) \
    X(91, PLUS_DM, plus_dm, STEPS) \
    X(35, PPO, ppo, F64) \
    X(173, PVI, pvi, STEPS) \
    X(177, PVO, pvo, STEPS) \
    X(171, PVT, pvt, STEPS) \
    X(166, QSTICK, qstick, WINDOW) \
    X(50, QUANTILE, quantile, BOTH) \
    X(51, RANK, rank, BOTH) \
    X(47, REALVOL, realvol, BOTH) \
    X(170, RMA, rma, STEPS) \
    X(31, ROC, roc, BOTH) \
    X(68, ROCP, rocp, WINDOW) \
    X(69, ROCR, rocr, WINDOW) \
    X(70, ROCR100, rocr100, WINDOW) \
    X(3, RSI, rsi, BOTH) \
    X(184, RVI, rvi, STEPS) \
    X(167, RVOL, rvol, WINDOW) \
    X(40, SAR, sar, F64) \
    X(71, SINCE_MAX, since_max, WINDOW) \
    X(72, SINCE_MIN, since_min, WINDOW) \
    X(1, SMA, sma, BOTH) \
    X(182, SMI, smi, STEPS) \
    X(36, STDDEV, stddev, BOTH) \
    X(23, STOCH, stoch, BOTH) \
    X(24, STOCHF, stochf, BOTH) \
    X(25, STOCHRSI, stochrsi, BOTH) \
    X(73, SUM, sum, WINDOW) \
    X(41, SUPERTREND, supertrend, F64) \
    X(92, T3, t3, STEPS) \
    X(8, TEMA, tema, BOTH) \
    X(12, TRANGE, trange, BOTH) \
    X(74, TRIMA, trima, WINDOW) \
    X(33, TRIX, trix, F64) \
    X(75, TSF, tsf, WINDOW) \
    X(181, TSI, tsi, STEPS) \
    X(76, TYPPRICE, typprice, WINDOW) \
    X(34, ULTOSC, ultosc, BOTH) \
    X(37, VAR, var, BOTH) \
    X(168, VHF, vhf, WINDOW) \
    X(169, VORTEX, vortex, WINDOW) \
    X(42, VWAP, vwap, BOTH) \
    X(77, VWMA, vwma, WINDOW) \
    X(174, WAD, wad, STEPS) \
    X(78, WCLPRICE, wclprice, WINDOW) \
    X(26, WILLR, willr, BOTH) \
    X(6, WMA, wma, BOTH) \
    X(178, ZLEMA, zlema, STEPS) \
    X(46, ZSCORE, zscore, BOTH)
/* clang-format on */

/* What struct indicator's `id` is. */
enum indicator_id {
    INDICATOR_NONE = 0,
#define INDICATOR_NUMBERED(number, ID, name, kernels) INDICATOR_##ID = number,
    INDICATOR_ROWS(INDICATOR_NUMBERED)
#undef INDICATOR_NUMBERED
};

/* One past the last number. */
#define INDICATOR_COUNTED(number, ID, name, kernels) +1
enum { INDICATOR_IDS = 1 INDICATOR_ROWS(INDICATOR_COUNTED) };
#undef INDICATOR_COUNTED

#endif

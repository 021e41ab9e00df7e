/* A terminal's report of the mouse, byte by byte after its introducer: three bytes (X10, as xterm's mode
 * 1000) or decimal numbers (SGR, its mode 1006); XTerm Control Sequences, "Mouse Tracking". */
#ifndef TUI_MOUSE_REPORT_H
#define TUI_MOUSE_REPORT_H

#include <stdbool.h>

#define MOUSE_REPORT_X10 "\033[M"
#define MOUSE_REPORT_SGR "\033[<"

enum mouse_report_kind { MOUSE_REPORT_NONE, MOUSE_REPORT_IS_X10, MOUSE_REPORT_IS_SGR };

enum { MOUSE_REPORT_NUMBERS = 3 }; /* the button, the column, the row; these from 1 */

/* {.kind = …} begins one. */
struct mouse_report {
    enum mouse_report_kind kind; /* NONE: it is over */
    int n;                       /* numbers that are whole */
    int numbers[MOUSE_REPORT_NUMBERS];
};

/* Takes its next byte. True: it is over; *ret_press is what was pressed, PRESS_CLICK or of the wheel, at
 * column and row from 0; 0: nothing that does anything, or it is no report. */
bool tui_mouse_report_take(struct mouse_report *report, unsigned char byte, int *ret_press, int *ret_x,
                           int *ret_y);

#endif

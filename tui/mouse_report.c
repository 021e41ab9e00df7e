#include "tui/mouse_report.h"

#include "tui/press.h"

enum {
    X10_FROM = 32,          /* that each byte has more than its number */
    MODIFIERS = 4 | 8 | 16, /* shift, meta, control */
    NUMBER_MOST = 9999,     /* no screen has more columns */
    BUTTON_LEFT = 0,        /* the first, pressed */
    BUTTON_WHEEL_UP = 64,   /* buttons 4 and 5 */
    BUTTON_WHEEL_DOWN = 65,
};

static int press_of(int button)
{
    switch (button & ~MODIFIERS) {
    case BUTTON_LEFT:
        return PRESS_CLICK;
    case BUTTON_WHEEL_UP:
        return PRESS_WHEEL_UP;
    case BUTTON_WHEEL_DOWN:
        return PRESS_WHEEL_DOWN;
    default:
        return 0;
    }
}

/* True: that was the last byte; *ret_pressed: of a whole report that is not of a release. */
static bool take_sgr(struct mouse_report *report, unsigned char byte, bool *ret_pressed)
{
    int *number = &report->numbers[report->n];

    *ret_pressed = byte == 'M' && report->n == MOUSE_REPORT_NUMBERS - 1;
    if (byte == ';')
        return ++report->n == MOUSE_REPORT_NUMBERS;
    if (byte < '0' || byte > '9')
        return true;
    *number = 10 * *number + byte - '0';
    return *number > NUMBER_MOST;
}

static bool take_x10(struct mouse_report *report, unsigned char byte, bool *ret_pressed)
{
    *ret_pressed = byte >= X10_FROM;
    report->numbers[report->n++] = byte - X10_FROM;
    return !*ret_pressed || report->n == MOUSE_REPORT_NUMBERS;
}

bool tui_mouse_report_take(struct mouse_report *report, unsigned char byte, int *ret_press, int *ret_x,
                           int *ret_y)
{
    bool pressed, over = (report->kind == MOUSE_REPORT_IS_X10 ? take_x10 : take_sgr)(report, byte, &pressed);

    *ret_press = 0;
    if (!over)
        return false;
    if (pressed && report->numbers[1] > 0 && report->numbers[2] > 0)
        *ret_press = press_of(report->numbers[0]);
    *ret_x = report->numbers[1] - 1;
    *ret_y = report->numbers[2] - 1;
    report->kind = MOUSE_REPORT_NONE;
    return true;
}

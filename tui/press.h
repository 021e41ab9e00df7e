/* The keys of a keyboard, independent of the terminal's codes. */
#ifndef TUI_PRESS_H
#define TUI_PRESS_H

/* Keys are Unicode code points, or one of these. */
enum press {
    PRESS_UP = 0x110000,
    PRESS_DOWN,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_HELP,
    PRESS_BACKSPACE,
    PRESS_DELETE,
    PRESS_ENTER,
    PRESS_ESCAPE,
    PRESS_F2, /* … F12, without a gap */
    PRESS_F3,
    PRESS_F4,
    PRESS_F5,
    PRESS_F6,
    PRESS_F7,
    PRESS_F8,
    PRESS_F9,
    PRESS_F10,
    PRESS_F11,
    PRESS_F12,
    PRESS_CLICK, /* the mouse's left button; where, the screen says */
    PRESS_WHEEL_UP,
    PRESS_WHEEL_DOWN,
    PRESS_PASTE, /* what follows is pasted, until … */
    PRESS_PASTE_END,
    PRESS_OTHER,
};

/* Code points that stand for no character. */
enum {
    PRESS_TAB = '\t',
    PRESS_CONTROL_A = 'A' & 0x1f,
    PRESS_CONTROL_E = 'E' & 0x1f,
    PRESS_CONTROL_K = 'K' & 0x1f,
    PRESS_CONTROL_L = 'L' & 0x1f,
    PRESS_CONTROL_U = 'U' & 0x1f,
};

#endif

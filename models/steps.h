/*
 * Steps that are seen from outside: can(what, who) is the guard of one, and did(what, who) tells of it.
 * Normally they say what happened, for the trail of a failure. With -DTRACE they let only that happen which comes next in a history
 * (histories.h, of which the environment names one), and the search ends when one way through it is found.
 */
#ifdef TRACE
c_code {
  \#include "histories.h"
  static int history;
};
int passed;
byte what, who;

#define can(a, b) (what == a && who == b)
#define did(a, b) c_code { now.passed++; now.what = HISTORIES[history][now.passed][0]; now.who = HISTORIES[history][now.passed][1]; }
#define OVER 255

active proctype passes() {
  c_code {
    history = atoi(getenv("HISTORY"));
    now.what = HISTORIES[history][0][0];
    now.who = HISTORIES[history][0][1];
  }
  can(OVER, 0);
  c_code { printf("a way through\n"); exit(0); }
}
#else
#define can(a, b) true
#define did(a, b) printf("did %d %d\n", a, b)
#endif

/*
 * Hand-off inside a process: a grant reserves SPAN tokens, and the hold passes from hand to hand with the next of them,
 * without the engine, until they are used up; then it goes back.
 *
 * Modelled: two processes with as many callers as there is work; an engine that lets each have its turn; a pause at any time,
 * in which the lease expires on the engine; the look at the clock before each hand-off.
 * Not modelled: time (an expiry comes at some time, and whoever looks then sees it), the line, the renewal, lost messages.
 *
 * Holds: the tokens of all callers of both processes strictly grow; nobody has more than SPAN turns of one grant.
 * Twins that must fail: -DSAME_TOKEN, the token does not grow with a hand-off; -DNO_BOUND, it passes on for ever;
 * -DNO_CLOCK, it passes on after the expiry.
 *
 * Seen from outside: GRANTED, TURN, LEFT, EXPIRED. With -DTRACE these have to happen as in a history of the code (steps.h).
 */
#define GRANTED 1
#define TURN 2
#define LEFT 3
#define EXPIRED 4
#include "steps.h"

#define SPAN 3
#define WORK 6
#define NONE 2

#ifdef SAME_TOKEN
#define STEP 0
#else
#define STEP 1
#endif
#ifdef NO_BOUND
#define MORE true
#else
#define MORE (turns < SPAN)
#endif
#ifdef NO_CLOCK
#define IN_TIME true
#else
#define IN_TIME (owner == me)
#endif

byte owner = NONE;
byte tokens = 1;   /* the next that the engine gives out */
byte newest;        /* the token used last, by whoever */

proctype process(byte me) {
  byte work = WORK, token, turns;
  do
  :: work == 0 -> break
  :: atomic {
       work > 0 && owner == NONE && can(GRANTED, me) -> did(GRANTED, me);
       owner = me; token = tokens; tokens = tokens + SPAN; turns = 0
     }
     do
     :: atomic {
          work > 0 && turns == 0 && owner == me && can(TURN, me) -> did(TURN, me); assert(token > newest); newest = token; turns = 1; work--
        }
     :: atomic {   /* the hand-off; an expiry may have come since the last step */
          work > 0 && turns > 0 && MORE && IN_TIME && can(TURN, me) -> did(TURN, me);
          token = token + STEP; assert(token > newest); newest = token; turns++; work--; assert(turns <= SPAN)
        }
     :: atomic { turns > 0 && owner == me && can(LEFT, me) -> did(LEFT, me); owner = NONE; break }
     :: owner != me -> break
     od
  od
}

/* The pause of a holder that is longer than its lease. */
proctype expiry() {
  byte times = 2;
  do
  :: atomic { times > 0 && owner != NONE && can(EXPIRED, owner) -> did(EXPIRED, owner); owner = NONE; times-- }
  :: times == 0 || timeout -> break
  od
}

init { atomic { run process(0); run process(1); run expiry() } }

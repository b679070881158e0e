/*
 * Grant by release: whoever takes a claim out of the line admits the next one in the same step, and mails it. Who holds
 * follows from the order: the head of the line.
 *
 * Modelled: a line on an engine; claims that join, crash while they wait or hold, work, and leave; mail that is lost; the
 * expiry of what the dead left; a waiter that asks again now and then, which is its attempt.
 * Not modelled: time (the dead expiry at some time, the living never), tokens, readers, several keys.
 *
 * Holds: at most one believes that it holds, and it is the head; whoever lives gets its turn (else: an invalid end state).
 * Twins that must fail: -DNO_POLL, a waiter trusts the mail alone; -DNO_EXPIRY, the dead stay in line.
 *
 * Seen from outside: JOINED, HELD, LEFT, EXPIRED. With -DTRACE these have to happen as in a history of the code (steps.h).
 */
#define JOINED 1
#define HELD 2
#define LEFT 3
#define EXPIRED 4
#include "steps.h"

#define N 3
#define CRASHES 1

byte line[N];
byte length, crashes, holding;
bool mail[N], dead[N];

/* The head leaves or somebody behind it does; a new head is told, or the mail is lost. */
inline leave(who) {
  d_step {
    at = 0;
    do
    :: line[at] != who -> at++
    :: else -> break
    od;
    head = (at == 0);
    length--;
    do
    :: at < length -> line[at] = line[at + 1]; at++
    :: else -> break
    od;
    at = 0
  }
  if
  :: head && length > 0 -> mail[line[0]] = true
  :: head && length > 0
  :: else
  fi;
  head = false
}

proctype claim(byte me) {
  byte at;
  bool head;
  atomic {   /* the first attempt, and its answer */
    can(JOINED, me) -> did(JOINED, me);
    line[length] = me; length++; mail[me] = (line[0] == me)
  }
  if
  :: crashes < CRASHES -> atomic { crashes++; dead[me] = true; goto gone }
  :: atomic { mail[me] && can(HELD, me) -> did(HELD, me); assert(line[0] == me); holding++ }
#ifndef NO_POLL
  :: atomic { line[0] == me && can(HELD, me) -> did(HELD, me); holding++ }
#endif
  fi;
  assert(holding == 1);
  if
  :: atomic { crashes < CRASHES -> crashes++; dead[me] = true; holding--; goto gone }
  :: atomic { can(LEFT, me) -> did(LEFT, me); holding--; leave(me) }
  fi;
gone: skip
}

proctype expiry() {
  byte at;
  bool head;
  do
  :: atomic { dead[0] && can(EXPIRED, 0) -> did(EXPIRED, 0); dead[0] = false; leave(0) }
  :: atomic { dead[1] && can(EXPIRED, 1) -> did(EXPIRED, 1); dead[1] = false; leave(1) }
  :: atomic { dead[2] && can(EXPIRED, 2) -> did(EXPIRED, 2); dead[2] = false; leave(2) }
  :: timeout -> break
  od
}

init {
  atomic {
    run claim(0); run claim(1); run claim(2);
#ifndef NO_EXPIRY
    run expiry()
#endif
  }
}

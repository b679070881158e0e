/*
 * A token over a quorum: a proposer takes a majority of nodes for its claim, and one number that grows from grant to grant.
 *
 * Modelled: three nodes, each with who holds it and the highest number it stored; two proposers with ROUNDS rounds each, whose messages
 * reach the nodes in any order, or not at all, or after the decision; a node that answers a proposal with a number of its own when it
 * has stored a higher one; the raise to the highest number heard, which a node takes only for the claim it still admits;
 * releases; a next round that begins while they are on their way. To one node messages keep their order.
 * Not modelled: time and expires (a proposer is done before its claim expires), crashes, places in line, fresh ids.
 *
 * Holds: the tokens of all grants strictly grow. One and the same majority has admitted the claim and stored its number.
 * Twin that must fail: -DTWO_MAJORITIES, nodes store the numbers of claims that they do not admit, and those count as well.
 *
 * Seen from outside: ADMITTED, REFUSED and FREED with 10 × the node, and GRANTED. With -DTRACE these have to happen as in a history
 * of the code (steps.h).
 */
#define ADMITTED 1
#define REFUSED 2
#define FREED 3
#define GRANTED 4
#define node(i) (10 * (i) + me)
#include "steps.h"

#ifndef ROUNDS
#define ROUNDS 2
#endif
#define FREE 2
#define MAJORITY 2

byte owner[3] = FREE;
byte last[3];
byte newest;   /* the token granted last */

#ifdef TWO_MAJORITIES
#define RAISED 7
#else
#define RAISED admitted
#endif
#define bit(i) (1 << (i))
#define size(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))

/* In one step: the node admits the claim and stores its number, or a higher one of its own. */
inline propose(i) {
  if
  :: atomic {
       owner[i] == FREE && can(ADMITTED, node(i)) -> did(ADMITTED, node(i));
       asked = asked & ~bit(i); owner[i] = me; admitted = admitted | bit(i);
       if
       :: first > last[i] -> last[i] = first; if :: number == first -> stored = stored | bit(i) :: else fi
       :: else -> last[i]++; if :: last[i] > highest -> highest = last[i] :: else fi
       fi
     }
  :: atomic {
       owner[i] != FREE && can(REFUSED, node(i)) -> did(REFUSED, node(i));
       asked = asked & ~bit(i);
       if :: last[i] > highest -> highest = last[i] :: else fi;
#ifdef TWO_MAJORITIES
       if :: first > last[i] -> last[i] = first; stored = stored | bit(i) :: else fi
#endif
     }
  :: asked = asked & ~bit(i)   /* lost */
  fi
}

/* Of the round before: it is over, and what the node admits is to be given back. */
inline arrive_late(i) {
  if
  :: atomic {
       owner[i] == FREE && can(ADMITTED, node(i)) -> did(ADMITTED, node(i));
       behind = behind & ~bit(i); owner[i] = me; leaving = leaving | bit(i);
       if :: before > last[i] -> last[i] = before :: else -> last[i]++ fi
     }
  :: atomic {
       owner[i] != FREE && can(REFUSED, node(i)) -> did(REFUSED, node(i));
       behind = behind & ~bit(i)
     }
  :: behind = behind & ~bit(i)   /* lost */
  fi
}

inline raise(i) {
  atomic {
    raised = raised & ~bit(i);
    if
#ifdef TWO_MAJORITIES
    :: number >= last[i] -> last[i] = number; stored = stored | bit(i)
#else
    :: owner[i] == me && number >= last[i] -> last[i] = number; stored = stored | bit(i)
#endif
    :: skip   /* lost, or too late */
    fi
  }
}

inline free(i) {
  if
  :: atomic {
       can(FREED, node(i)) -> did(FREED, node(i));
       owner[i] = FREE; leaving = leaving & ~bit(i)
     }
  fi
}

inline end_round() {
  if :: number > highest -> highest = number :: else fi;
  before = first; behind = asked; leaving = admitted;
  number = 0; first = 0; asked = 0; raised = 0; admitted = 0; stored = 0
}

#define SETTLED (number > 0 && behind == 0 && leaving == 0)

proctype proposer(byte me) {
  byte rounds = ROUNDS, asked, raised, admitted, stored, first, number, highest;
  byte before, behind, leaving;   /* what is still to come of the round before */
  do
  :: rounds == 0 && behind == 0 && leaving == 0 -> break
  :: behind & bit(0) -> arrive_late(0)
  :: behind & bit(1) -> arrive_late(1)
  :: behind & bit(2) -> arrive_late(2)
  :: (leaving & ~behind) & bit(0) -> free(0)
  :: (leaving & ~behind) & bit(1) -> free(1)
  :: (leaving & ~behind) & bit(2) -> free(2)
  :: atomic {
       rounds > 0 && asked == 0 && number == 0 ->
       rounds--; first = highest + 1; number = first; asked = 7
     }
  :: (asked & ~behind & ~leaving) & bit(0) -> propose(0)
  :: (asked & ~behind & ~leaving) & bit(1) -> propose(1)
  :: (asked & ~behind & ~leaving) & bit(2) -> propose(2)
  :: raised & bit(0) -> raise(0)
  :: raised & bit(1) -> raise(1)
  :: raised & bit(2) -> raise(2)
  :: atomic {   /* its own number was not enough */
       size(admitted) >= MAJORITY && size(stored) < MAJORITY && number == first && highest > first ->
       number = highest; stored = 0; raised = RAISED
     }
  :: atomic {
       SETTLED && size(admitted) >= MAJORITY && size(stored) >= MAJORITY && can(GRANTED, me) -> did(GRANTED, me);
       assert(number > newest); newest = number;
       end_round()
     }
  :: atomic { SETTLED && (size(admitted) + size(asked) < MAJORITY || asked == 0) -> end_round() }   /* lost */
  od
}

init { atomic { run proposer(0); run proposer(1) } }

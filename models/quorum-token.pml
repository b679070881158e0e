/*
 * A token over a quorum: a proposer takes a majority of nodes for its claim, and one number that grows from grant to grant.
 *
 * Modelled: three nodes, each with who holds it and the highest number it stored; two proposers with ROUNDS rounds each, who ask
 * the nodes in any order and may miss any of them; a node that answers a proposal with a number of its own when it has stored a
 * higher one; the raise to the highest number heard, which a node takes only for the claim it still admits; releases, one
 * node after the other.
 * Not modelled: time and lapses (a proposer is done before its claim lapses), crashes, places in line, fresh ids.
 *
 * Holds: the tokens of all grants strictly grow. One and the same majority has admitted the claim and stored its number.
 * Twin that must fail: -DTWO_MAJORITIES, nodes store the numbers of claims that they do not admit, and those count as well.
 */
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define FREE 2
#define MAJORITY 2

byte owner[3] = FREE;
byte last[3];
byte newest;   /* the token granted last */

#define bit(i) (1 << (i))
#define size(set) (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))

/* In one step: the node admits the claim and stores its number, or a higher one of its own. */
inline propose(i) {
  atomic {
    todo = todo & ~bit(i);
    if
    :: owner[i] == FREE ->
       owner[i] = me; admitted = admitted | bit(i);
       if
       :: number > last[i] -> last[i] = number; stored = stored | bit(i)
       :: else -> last[i]++; if :: last[i] > highest -> highest = last[i] :: else fi
       fi
    :: else ->
       if :: last[i] > highest -> highest = last[i] :: else fi;
#ifdef TWO_MAJORITIES
       if :: number > last[i] -> last[i] = number; stored = stored | bit(i) :: else fi
#endif
    fi
  }
}

inline raise(i) {
  atomic {
    todo = todo & ~bit(i);
    if
#ifdef TWO_MAJORITIES
    :: highest >= last[i] -> last[i] = highest; stored = stored | bit(i)
#else
    :: owner[i] == me && highest >= last[i] -> last[i] = highest; stored = stored | bit(i)
#endif
    :: else
    fi
  }
}

#define each(todo, step) \
  do \
  :: todo & bit(0) -> if :: step(0) :: todo = todo & ~bit(0) fi \
  :: todo & bit(1) -> if :: step(1) :: todo = todo & ~bit(1) fi \
  :: todo & bit(2) -> if :: step(2) :: todo = todo & ~bit(2) fi \
  :: todo == 0 -> break \
  od

proctype proposer(byte me) {
  byte rounds = ROUNDS, todo, admitted, stored, number, highest;
  do
  :: rounds == 0 -> break
  :: else ->
     rounds--; number = highest + 1; admitted = 0; stored = 0; todo = 7;
     each(todo, propose);
     if
     :: size(admitted) >= MAJORITY && size(stored) < MAJORITY ->
        stored = 0; number = highest; todo = 7; each(todo, raise)
     :: else
     fi;
     atomic {
       if
       :: size(admitted) >= MAJORITY && size(stored) >= MAJORITY -> assert(number > newest); newest = number
       :: else
       fi;
       if :: number > highest -> highest = number :: else fi;
       todo = admitted
     }
     do
     :: todo & bit(0) -> atomic { owner[0] = FREE; todo = todo & ~bit(0) }
     :: todo & bit(1) -> atomic { owner[1] = FREE; todo = todo & ~bit(1) }
     :: todo & bit(2) -> atomic { owner[2] = FREE; todo = todo & ~bit(2) }
     :: todo == 0 -> break
     od
  od
}

init { atomic { run proposer(0); run proposer(1) } }

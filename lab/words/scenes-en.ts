import type { SceneWords } from './words.ts';

export const SCENES_EN: Readonly<Record<string, SceneWords>> = {
  'stale-write': {
    title: 'Paused, then a late write',
    about: 'A is paused right before it writes, for longer than its lease. Then it goes on.',
    naive: 'B has counted meanwhile. A writes the number that it read before the pause: the count of B is gone.',
    holdfast:
      'A has just looked at its lease, and nobody can tell a paused process that its time is over. So the resource looks at the token: B showed a newer one, and A is refused.',
  },
  'check-then-set': {
    title: 'Check, then set',
    about: 'First ask whether the lock is free, then write your name: two steps.',
    naive: 'All three look before one of them writes. All see that it is free, and all go in.',
    holdfast: 'Taking the lock is one step at the engine. It knows who was first, and keeps the others in a line.',
  },
  'outlived-lease': {
    title: 'Work that outlives the lease',
    about: 'The lease is 600 ms, the work takes 1000.',
    naive: 'From 600 ms on the lock is free, and B takes it. A does not know.',
    holdfast: 'While A works, its lease is renewed every third of it.',
  },
  robbed: {
    title: "Releasing somebody else's lock",
    about: 'A is too slow, and its lease is over. B has the lock by now when A deletes it.',
    naive: 'Deleting the key robs B. C takes it, and works beside B.',
    holdfast:
      "The guard refuses A's late write. A's release names A's own hold, which is gone: it touches nothing, and says so.",
  },
  crash: {
    title: 'Killed while it holds',
    about: 'A is killed in the middle of its work.',
    naive: 'The lock has no end. Everybody waits until a person deletes the key.',
    holdfast: 'Every hold is a lease. It expires, and B is next.',
  },
  'set-then-expire': {
    title: 'Set, then expire',
    about: 'The lock is set in one step and given an end in the next. A is killed in between.',
    naive: 'A lock without an end, and without an owner.',
    holdfast: 'The lease is part of the step that takes the lock. There is no in-between.',
  },
  'lost-reply': {
    title: 'The lost answer',
    about: 'The engine gives A the lock. The answer gets lost.',
    naive: 'A asks again, and hears: taken. By itself, but it does not know. Everyone waits until the lease is over.',
    holdfast: 'No answer is neither yes nor no. A asks again by the same id, and gets the same grant.',
  },
  ghost: {
    title: 'The request that comes too late',
    about: "A's request is held up in the network. A has long given up when it arrives.",
    naive: 'The engine gives the lock to one who does not want it any more: a ghost holds it for two seconds.',
    holdfast:
      'Each request says until when it may be done. The engine refuses the late one, and B finds the lock free.',
  },
  'repeated-release': {
    title: 'The release that is sent twice',
    about: 'A gives the lock back, and the answer is lost. So A does it again.',
    naive: "The second time it is B's lock that is deleted. C goes in beside B.",
    holdfast: 'Sent again, the release names the same hold. It is gone, and nobody else is touched.',
  },
  'lost-wake-up': {
    title: 'The wake-up that never comes',
    about: 'B waits for word that the lock is free. The word comes before B listens, or gets lost.',
    naive: 'The lock is free, nobody tells B, and B sleeps for ever.',
    holdfast:
      "B's place is kept at the engine, so the release gives B the lock. Even when word of it is lost, B asks by itself after a while.",
  },
  spinning: {
    title: 'Asking again and again',
    about: 'Whoever waits asks every few milliseconds.',
    naive: 'The engine says the same no again and again. Who is served is luck.',
    holdfast: 'Who waits asks once and sleeps. Each release wakes exactly the next one, in order.',
  },
  oneself: {
    title: 'Waiting for oneself',
    about: 'A function that holds the lock calls another one that takes it, too.',
    naive: 'A waits for A. Nobody will ever give the lock back.',
    holdfast: 'Inside its own hold A enters again: the same hold, the same token.',
  },
  clocks: {
    title: 'Two clocks',
    about: "The end of the lease is written down as a time of day. B's clock is 800 ms ahead of A's.",
    naive: "By B's clock the lease of A is over long before it is. B takes over, and both work.",
    holdfast: 'Only lengths of time are sent, and only the clock of the engine compares times.',
  },
  'fail-over': {
    title: 'The engine dies',
    about: 'The engine has given A the lock, and dies.',
    naive: 'Its replica has not heard of the lock yet. It takes over, and gives the lock to B, too.',
    holdfast: 'Three engines vote. One may die: the other two remember that A has it, and B waits.',
  },
  'split-votes': {
    title: 'Split votes',
    about: 'Three engines vote, three processes ask at once, and each is near to another engine: one vote each.',
    naive: 'All give back, all pause for the same time, and all meet again. For ever.',
    holdfast: 'Rivals pause for random times, so that one of them is first.',
  },
  free: {
    title: 'You do it',
    about: 'Nothing is planned. Take the lock, pause a holder, cut a link, lose an answer, kill somebody.',
    naive:
      'A lock of the usual kind: set if absent, with a lease of 600 ms, deleted at the end. The work takes 900 ms.',
    holdfast: 'Try to make two count on the lock at once, or to lose a count.',
  },
};

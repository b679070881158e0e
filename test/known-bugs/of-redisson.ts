import { bug, inBackend, inCore, type KnownBug, onEveryEngine, scene, underTorture } from './bug.ts';

/** Numbers are of the tracker of redisson/redisson. */
export const OF_REDISSON: readonly KnownBug[] = [
  bug(
    '775, 2515, 3194, 3714',
    'after one renewal that failed a lock was never renewed again',
    onEveryEngine('lock-laws/unknown', 'a renewal that fails is tried again before the deadline'),
  ),
  bug(
    '1602',
    'a release failed on the network, and the renewals kept the lock for ever',
    onEveryEngine(
      'lock-laws/unknown',
      'a release that fails hides neither result nor error of the work, and is made up for',
    ),
  ),
  bug(
    '2714, 4368',
    'an acquisition that was interrupted ended on the server after its caller had left, and was renewed from then on',
    inCore('does not withdraw the place of who gives up'),
  ),
  bug(
    '6472, 6483, 6506',
    'an exception in one pass of renewals stopped those of all locks of the process',
    scene(
      'test/core/lease.test.ts',
      'one call renews many, an error in it stops none of them, and each is tried again',
    ),
  ),
  bug(
    '6303',
    'thousands of locks had a timer and a command each, and renewals came late',
    scene('test/backends/redis/cost.test.ts', 'a thousand holds are renewed by four commands'),
  ),
  bug(
    '4871, 6651, 5392',
    'a release was repeated after a lost reply, and its owner was told that it owns nothing',
    onEveryEngine(
      'lock-laws/unknown',
      'a release that fails hides neither result nor error of the work, and is made up for',
    ),
  ),
  bug(
    '7367, 6025, 4822, 4706',
    'an acquisition was repeated after a lost reply and counted twice, so one release did not free it',
    inBackend('cannot tell one grant from another with the same id'),
  ),
  bug(
    '4109, 5019',
    'the reply to an acquisition was lost: the caller had an error, and the server kept the lock',
    onEveryEngine(
      'lock-laws/unknown',
      'an attempt without a wait whose reply is lost is LOCK_UNAVAILABLE, and leaves no hold',
    ),
  ),
  bug(
    '5761, 5762, 763, 1763',
    'a message came between the look at the lock and the subscription, and the waiter slept for a whole lease or for ever',
    inCore('does not attempt again once the watch is there'),
  ),
  bug('1542', 'after a writer the readers were woken one by one', inBackend('wakes one when it admits several')),
  bug('3225', 'permits were added, and nobody was woken', underTorture('drops wake-ups')),
  bug(
    '2575, 4064, 3577, 6328',
    'waiters that gave up left their channels subscribed, and memory grew',
    inCore('leaves the watches of what it waited for'),
  ),
  bug(
    '2007, 2181, 6026',
    'after a fail-over the connection that listens was dead, and nobody was woken',
    inCore('trusts its watch, without a poll beside it'),
  ),
  bug(
    '1104, 2099, 2883',
    'a fair lock kept the places of dead waiters for minutes or hours',
    onEveryEngine('laws/expiry', 'a dead waiter stalls the line no longer than its place and its hold'),
  ),
  bug(
    '3004, 4705, 3730',
    'waiters that were alive were dropped from the line, and never woken',
    onEveryEngine('laws/expiry', 'repeated attempts keep a hold and a place alive past their ttl'),
  ),
  bug(
    '757',
    'an attempt that does not wait left a place in the line',
    inBackend('keeps a place for those who did not ask for one'),
  ),
  bug(
    '891, 758',
    'the release of a reader inside removed the lock of the writer around it',
    onEveryEngine(
      'lock-laws/releasing',
      'a writer may read inside; a reader that would write inside is told of the deadlock',
    ),
  ),
  bug(
    '1110, 2144',
    'the shorter lease of one reader cut the lease of another',
    onEveryEngine('laws/expiry', 'of several readers the silent one expires alone'),
  ),
  bug(
    '624, 2172, 4033, 4456',
    'several locks in one: two had them at once, or members were kept that were not needed',
    inCore('keeps what it has of several that it cannot have'),
  ),
  bug(
    '4818, 5623, 3484',
    'two callers of one lock object, and one had the lease of the other',
    scene(
      'test/core/hand-off.test.ts',
      'who does not renew gets the lease that was asked for, not what another has left of it',
    ),
  ),
  bug(
    '6510',
    'fencing counters stayed for ever: 25 of 75 million keys',
    scene(
      'test/backends/redis/server.test.ts',
      'idle keys vanish within minutes, or as is wanted, and a hold of weeks does not',
    ),
  ),
  bug('2045, 2933, 4462', 'a permit whose holder crashed was lost for good', inBackend('never lets a hold expire')),
  bug('4698', 'a hold was lost, and nobody told its holder', inBackend('says of every hold that it was renewed')),
];

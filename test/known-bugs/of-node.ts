import { bug, inBackend, inCore, type KnownBug, onEveryEngine, scene } from './bug.ts';

const SCENES = 'test/known-bugs/scenes.test.ts';

/** Libraries for Node, and what stands beside them. A version says that it was seen by running it. */
export const OF_NODE: readonly KnownBug[] = [
  bug(
    'redlock 169, 296, 299',
    'locks were given that had expired on the way',
    scene(
      'test/backends/quorum/votes.test.ts',
      'a majority that is slower than the lease is no grant, and leaves nothing',
    ),
  ),
  bug(
    'redlock 65, 180, 362',
    'the release of a lock that had expired was an error that ended processes',
    onEveryEngine('lock-laws/releasing', 'a second release is harmless, and frees nobody else'),
  ),
  bug(
    'redlock 313',
    'a release was tried again without an end',
    scene('test/core/withdrawal.test.ts', 'a release refused with %s is tried again only if that may pass'),
  ),
  bug(
    'redlock 64, redlock-py 6',
    'a quorum was counted over the nodes that answered, not over those there are',
    scene(
      'test/backends/redlock/faults.test.ts',
      'three of five down is said within the wait, node by node, and a hold is lost before its deadline',
    ),
  ),
  bug(
    'redlock 312',
    'a retry without a pause sent thousands of commands',
    scene(
      'test/core/waiting.test.ts',
      'an engine that is always slower than the lease is asked with pauses in between, and once by tryAcquire',
    ),
  ),
  bug(
    'redis-semaphore 199, 24, 9; proper-lockfile in cline/kanban 128',
    'a loss threw from a timer, and ended the process',
    scene('test/core/odd-backends.test.ts', 'a backend that %s ends no process, and every call to its Locks ends'),
  ),
  bug(
    'redis-semaphore 175',
    'a renewal took an expired lock again, and hid that another had held it',
    inBackend('revives with a renewal'),
  ),
  bug(
    'redis-semaphore 205',
    'a release raced a renewal, and was told as a loss',
    scene(SCENES, 'a release that overtakes a renewal is no loss'),
  ),
  bug(
    'redis-semaphore 5.8.0',
    'a semaphore: whoever asks with a shorter lease drops the holds of others',
    scene(SCENES, 'who asks for a permit with a shorter lease drops nobody'),
  ),
  bug('verrou 12', 'a former holder released the lock of the next one', inBackend('releases whoever holds')),
  bug(
    'verrou 0.5.2',
    'work that outlived its lease: its result was replaced by an error of the release',
    onEveryEngine('lock-laws/releasing', 'run gives its function’s own result or error, and releases in both cases'),
  ),
  bug(
    'verrou 15',
    'two processes that started at once both made the table, and one failed',
    scene('test/backends/mysql/table.test.ts', 'many processes may set it up at once'),
  ),
  bug(
    'proper-lockfile 121',
    'to find a lock stale and to remove it were two steps, and two took it over',
    scene(
      'test/backends/file/deaths.test.ts',
      'never two inside and tokens that grow, while processes are killed at random',
    ),
  ),
  bug(
    'redlock-universal 0.8.5',
    'a reply came late, the attempt was repeated, and met its own key as if another held it',
    onEveryEngine('lock-laws/unknown', 'a grant whose reply is lost is found again, and held once'),
  ),
  bug(
    'redlock-universal 0.8.5',
    'a node that voted late kept the vote of a round that had failed',
    scene('test/backends/quorum/votes.test.ts', 'a vote that comes after the outcome is undone'),
  ),
  bug(
    'redislock, of 2026',
    'an owner was compared by the beginning of its name: user-1 took the lock of user-10',
    scene(
      'test/backends/redis/keys.test.ts',
      'an id that another one begins with takes, renews and frees nothing of it',
    ),
  ),
  bug(
    'SyncGuard',
    'the signal of the caller also ended the release, and the lock stayed',
    scene(SCENES, 'a signal that is aborted while the work runs does not keep the lock from being given back'),
  ),
  bug(
    'SyncGuard',
    'a guard refused an equal token, so a holder could write only once',
    scene('test/fence/memory.test.ts', 'a holder may claim and write as often as it likes'),
  ),
  bug(
    'microsoft/etcd3 110, 155',
    'a link that fell silent was noticed after two leases, or never',
    scene(
      'test/backends/etcd/link.test.ts',
      'a link that swallows everything is noticed in bounded time, and nothing is left once it is back',
    ),
  ),
  bug(
    'microsoft/etcd3 158, 1.1.2',
    'a lease was revoked, and the work went on as if nothing had happened',
    scene(
      'test/backends/etcd/cluster.test.ts',
      'a lease that an operator revokes is told as a loss at the next renewal',
    ),
  ),
  bug(
    'microsoft/etcd3 75',
    'a library and etcdctl lock did not keep each other out',
    scene('test/backends/etcd/rival.test.ts', '%s is refused while %s is locked, and had when it is free'),
  ),
  bug(
    'bullmq 3183, 3056; bull 476',
    'a blocked event loop missed its renewals, and a job was run twice',
    inCore('knows a loss only from its timer'),
  ),
  bug(
    'web-locks 34',
    'an abort raced the grant, and both happened',
    inCore('lets a child in that was aborted before it began'),
  ),
  bug(
    'codex-multi-auth 505; AsyncLock 13',
    're-entrance by a flag let parallel children in together',
    inCore('lets two children in together'),
  ),
  bug(
    'RedLock.net 68',
    'a lock that nobody owned any more was renewed for a week',
    scene('test/core/renewal.test.ts', 'maxHold ends a hold that a session would carry for ever'),
  ),
  bug(
    'dynamodb-lock-client 1, 116',
    'a renewal that was on its way when the lock was released brought it back',
    onEveryEngine('laws/expiry', 'renew never revives a released hold'),
  ),
];

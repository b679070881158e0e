import { bug, inBackend, inCore, type KnownBug, onEveryEngine, scene, twin } from './bug.ts';

/** Locks over databases and coordinators, in any language. */
export const OF_SERVERS: readonly KnownBug[] = [
  bug(
    'madelson/DistributedLock 147',
    'PostgreSQL said that a wait had run out, and had given the lock all the same',
    scene('test/backends/postgres/advisory.test.ts', 'a wait that is cancelled as it is granted leaves no lock behind'),
  ),
  bug(
    'DistributedLock 133, 85',
    'what tells of a loss shared the connection that the loss is about',
    scene('test/backends/postgres/busy-pool.test.ts', 'with a connection of our own, renewals go on'),
  ),
  bug(
    'DistributedLock 83, 263',
    'a broken connection from the pool spoilt the locks after it',
    scene('test/backends/postgres/lease.test.ts', 'terminated backends cost no hold'),
  ),
  bug(
    'DistributedLock 254',
    'a script used keys that it did not declare, and failed on a Cluster',
    scene('test/backends/redis/slot.test.ts', 'the three keys of one lock share a slot, whatever its name'),
  ),
  bug(
    'ShedLock 3577',
    'the time was that of the transaction of the caller, which had begun long before',
    scene(
      'test/backends/postgres/lease.test.ts',
      'an attempt that waited for the row until it was too late is refused',
    ),
  ),
  bug('ShedLock 74, 1986', 'a release did not ask who holds', inBackend('releases whoever holds')),
  bug(
    'ShedLock 132',
    'the time was taken before a pause of the program, and sent after it',
    onEveryEngine('laws/expiry', 'an attempt that reaches the engine late is refused, and leaves nothing'),
  ),
  bug(
    'spring-integration 2467, 3294, 3445',
    'rows that were made and removed brought deadlocks, which nobody handled',
    scene('test/backends/mysql/storm.test.ts', '…connections on … keys never deadlock, never overlap, and tokens grow'),
  ),
  bug(
    'spring-integration 3683, 8748',
    'a lock was taken in the transaction of the caller, and a rollback took it away',
    scene(
      'test/backends/mysql/left-open.test.ts',
      '…nothing is granted over …, the error names it, and the next attempt is sound',
    ),
  ),
  bug(
    'spring-integration 1888; symfony 44828',
    'the lock failed on the server, and the local one around it stayed locked',
    scene('test/known-bugs/scenes.test.ts', 'an engine that fails leaves no lock taken inside the process'),
  ),
  bug(
    'authentik 23876; pgbouncer 617; pgdog 1407',
    'a pooler by transactions left the lock on a session that nobody had any more',
    scene('test/backends/postgres/advisory.test.ts', 'a transaction pooler is noticed and refused'),
  ),
  bug(
    'cockroach 13546; yugabyte-db 25756',
    'advisory locks that lock nothing',
    scene(
      'test/backends/postgres/look-alike.test.ts',
      '…advisory locks are refused, and check calls the table untested',
    ),
  ),
  bug(
    'symfony 27648; distributed-lock 5',
    'an index that removes what is old decided whether a lock is free',
    scene('test/backends/mongodb/pipeline.test.ts', 'drops who gave no sign of life, to the millisecond'),
  ),
  bug(
    'CURATOR-498; zktools 2; go-zookeeper 229',
    'a node was made, the reply was lost, and the orphan kept everybody out',
    scene(
      'test/backends/zookeeper/given-up.test.ts',
      'a try whose answer was held up leaves nothing when there are answers again',
    ),
  ),
  bug(
    'CURATOR-504, 604, 620, 644, 696',
    'a node of a session that had ended was still taken for a hold',
    scene(
      'test/backends/zookeeper/faults.test.ts',
      'a holder that is stopped past its session finds out at its first look',
    ),
  ),
  bug(
    'etcd 11456; Jepsen, etcd 3.4.3',
    'a waiter was told that it holds, after its own lease had ended',
    scene(
      'test/core/waiting.test.ts',
      'mail for a place that has expired is no grant of the place that the same waiter has now',
    ),
  ),
  bug(
    'etcd 15247',
    'a leader that stood still and went on revoked leases that were kept alive',
    scene('test/backends/etcd/cluster.test.ts', 'a leader that stood still and goes on takes no hold away'),
  ),
  bug(
    'etcd 22082',
    'a release by name removed the key of the next holder',
    scene(
      'test/backends/etcd/link.test.ts',
      'a lost reply to a release is unknown; the key is free, and a repetition robs nobody',
    ),
  ),
  bug(
    'etcd 22209',
    'from 3.7 on, an answer with keys only had no lease in it, and every renewal of ours was unknown',
    scene('test/backends/etcd/newest.test.ts', 'renewals see under which lease a key is'),
  ),
  bug(
    'jetcd 0.8.2 (Jepsen)',
    'the client repeated requests that must not be repeated',
    inBackend('gives a new token for asking again'),
  ),
  bug(
    'consul 9788',
    'the command went on for up to 90 s after others had the lock',
    scene('test/cli/run.test.ts', 'because the server %s: all it started is ended before anyone else can have it'),
  ),
  bug(
    'consul 2022, 1843',
    'the shell was killed, and what it had started went on',
    scene('test/cli/run.test.ts', 'kill −9 of holdfast ends the command and what it started'),
  ),
  bug(
    'MariaDB Galera 12.1.2 (Jepsen)',
    'several nodes were written, and updates were lost',
    scene('test/backends/mysql/galera.test.ts', 'a pool whose connections lead to two nodes is a danger'),
  ),
  bug(
    'Redlock, as written in 2014',
    'the deadline was counted from the reply, not from the request',
    inCore('counts the deadline from the reply'),
  ),
  bug(
    'Redlock, Kleppmann 2016',
    'a process that was paused wrote after its lease, and nothing refused it',
    scene('test/fence/memory.test.ts', 'without a guard a paused holder loses an update'),
  ),
  bug(
    'Redlock, on tokens',
    'tokens that are counted by each node do not grow from one majority to the next',
    twin('quorum-token', 'TWO_MAJORITIES'),
  ),
  bug(
    'Redlock, on restarts',
    'a node that had forgotten its votes voted again',
    scene(
      'test/backends/redlock/restarts.test.ts',
      'two that forgot do not let a second holder in, of a process that started after it, either',
    ),
  ),
];

import { bug, inBackend, inCore, inQuorum, type KnownBug, onEveryEngine, scene, twin } from './bug.ts';

/** Every defect of ours that was mended since there are tests: by where it was. */
export const OF_OURS: readonly KnownBug[] = [
  bug('core', 'a hand-over gave the next caller the token of the last', twin('hand-off', 'SAME_TOKEN')),
  bug(
    'core',
    'a hold passed on while an extension of it was on its way',
    inCore('hands over while an extension is on its way'),
  ),
  bug(
    'core',
    'an extension ran beside a renewal, which then made it short again',
    inCore('extends beside a renewal under way'),
  ),
  bug(
    'core',
    'a listener ran in the context of another caller, and entered its hold',
    inCore('tells of a loss in the context of whoever found it'),
  ),
  bug(
    'core',
    'what the engine opens belonged to whichever caller came first',
    inCore('asks the engine in the context of a caller'),
  ),
  bug(
    'core',
    'a default wait had no end where each grant was over when it came',
    scene(
      'test/core/default-wait.test.ts',
      'a caller with a wait of %s waits no longer for an engine whose every grant is over when it comes',
    ),
  ),
  bug(
    'core',
    'an error without a text of its own, in the cause of a failure, ended the process or kept a loss from its holder',
    scene('test/core/textless.test.ts', 'an engine whose %s fails with %s ends no process'),
  ),
  bug(
    'core',
    'a quorum that was closed twice closed nodes that others still used',
    scene(
      'test/core/users.test.ts',
      'a quorum that is closed twice is one user of its nodes, and takes none from Locks that use the node, too',
    ),
  ),
  bug(
    'core',
    'all() went on with a part that was lost',
    inCore('goes on with several of which one was lost meanwhile'),
  ),
  bug(
    'core',
    'close() granted what a listener asked for in the middle of it',
    scene(
      'test/core/listeners.test.ts',
      'once close() was called nobody is granted: not by what a listener releases or asks in the middle of it',
    ),
  ),
  bug(
    'core',
    'a loop of refusals let no timer run',
    scene('test/core/starving.test.ts', 'a loop of refusals lets timers and sockets run: closed Locks'),
  ),
  bug(
    'core',
    'what a session carries was withdrawn for a while, and then left to stay',
    inCore('gives up a withdrawal that only a session would end'),
  ),
  bug(
    'core',
    'a lease that was waited for was over before its ttl',
    onEveryEngine('lock-laws/leases', 'a lease lasts what was asked for from the grant, also when it was waited for'),
  ),
  bug(
    'core',
    'in an outage waiters were told one after the other',
    scene('test/core/outage.test.ts', 'who takes up the place of another that gave up has its own ten seconds'),
  ),
  bug(
    'core',
    'when a holder expired its whole line asked at once',
    scene(
      'test/core/expiry-ahead.test.ts',
      'when a holder expires the first in line asks at once, and not the whole line with it',
    ),
  ),
  bug(
    'core',
    'of renewals that share a call, a short lease had the limit of a long one',
    scene(
      'test/core/renewal.test.ts',
      'a short lease beside a long one does not take the time that the long one has for its renewal',
    ),
  ),
  bug(
    'core',
    'a claim that rode on a release was forgotten with its reply',
    inCore('forgets a claim that rode on a release whose reply is lost'),
  ),
  bug(
    'every engine',
    'an attempt again, which may be an old message, shortened what a renewal had confirmed',
    inBackend('lets an attempt again shorten what was renewed'),
  ),
  bug(
    'memory',
    'keys that nobody asked for again were kept',
    scene('test/backends/memory-expiry.test.ts', 'keys that are left to expire and never asked for again are not kept'),
  ),
  bug(
    'file',
    'a burial of the dead that failed was not tried again',
    scene(
      'test/backends/file/deaths.test.ts',
      'the dead are buried as soon as it can be done, also where it could not be when they died',
    ),
  ),
  bug(
    'redis',
    'tokens ran ahead of the clock, and did not grow over a loss of all data',
    scene(
      'test/backends/redis/tokens.test.ts',
      'the token after a loss of all data is above every one that could be shown before, whatever callers do',
    ),
  ),
  bug(
    'redis',
    'one script passed all the dead of a line, and kept the server busy',
    scene(
      'test/backends/redis/portions.test.ts',
      'dead waiters are passed fifty at a time, and the living one behind them is told',
    ),
  ),
  bug(
    'redis',
    'who began to wait while the connection that listens was opened again heard nothing',
    scene(
      'test/backends/redis/faults.test.ts',
      '…who begins to wait between a loss and the next channel hears of its turn',
    ),
  ),
  bug(
    'redis',
    'a release that was refused while a save failed was not tried again',
    scene(
      'test/backends/redis/demotion.test.ts',
      'a save that fails for a while: a release that was refused is tried again, and the next gets in at once',
    ),
  ),
  bug(
    'redis',
    'a demotion that ends no connection reached no client as an error',
    scene(
      'test/backends/redis/demotion.test.ts',
      '…whatever is asked of a demoted primary is answered by an error, which the client sees',
    ),
  ),
  bug(
    'redis cluster',
    'a node that hangs kept everybody from the keys of the others',
    scene(
      'test/backends/redis-cluster/wake-ups.test.ts',
      'a node that hangs makes only its own holds unknown, and soon…',
    ),
  ),
  bug(
    'redlock',
    'an attempt again was good for longer than the nodes keep it',
    inQuorum('answers an attempt again with the lease of the first'),
  ),
  bug(
    'redlock',
    'an extension was believed in, which an older renewal could still shorten',
    scene(
      'test/backends/quorum/holds.test.ts',
      'a renewal that a node has not answered may arrive after an extension: so long nobody believes in more',
    ),
  ),
  bug(
    'redlock',
    'a node that started anew waited as long as one process knew leases to be, not all of them',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a process that starts after a restart counts the forgetful node no sooner than one that has seen it',
    ),
  ),
  bug(
    'redlock',
    'a new quorum whose first process died was taken for one that had lost its data',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a new quorum%s whose first process dies at any moment is free for the next when the lease is over',
    ),
  ),
  bug(
    'redlock',
    'nodes that started after one that names no run were taken for nodes that had lost their data',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a new quorum of %i, %i of which name no run, serves as soon as the others have started, however late',
    ),
  ),
  bug(
    'redlock',
    'an answer of the run of a node before its restart let the votes of the next run count at once: two held one key',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a lease whose note a restarted server answers, after another claim noticed the restart, is given to nobody else',
    ),
  ),
  bug(
    'redlock',
    'a lease that a node had stored before its restart was believed to be stored by the next run',
    scene(
      'test/backends/quorum/trust.test.ts',
      'a lease that the earlier run of a node stored is not remembered by the next run',
    ),
  ),
  bug(
    'redlock',
    'a vote of the run of a node before its restart was credited to the next run, which had forgotten it: two held one key',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a vote of a run that ended before its answer came, and was %s before, is not credited to the next run',
    ),
  ),
  bug(
    'redlock',
    'a lease that the run of a node before its restart had stored was renewed at the next run, which had lost it',
    scene(
      'test/backends/quorum/node.test.ts',
      'a renewal that a new run of the server took is not answered before that run remembers the lease, too',
    ),
  ),
  bug(
    'redlock',
    'two renewals that overlapped asked for the same lost vote again, and one of the two votes stayed behind for a whole lease',
    scene(
      'test/backends/quorum/renewals.test.ts',
      'of two renewals that overlap and find the same vote gone, one asks for it again',
    ),
  ),
  bug(
    'redlock',
    'a mark that was sent again to a node without its data let its votes count at once, as if it had kept everything',
    scene(
      'test/backends/quorum/memory.test.ts',
      'a run that keeps everything and ends before %s does not show that the next run kept its data',
    ),
  ),
  bug(
    'redlock',
    'a hold whose lost votes were given again was not watched any more, and its holder heard late of a forced release',
    scene(
      'test/backends/quorum/hold-watch.test.ts',
      'a node that lost its vote and gave another one watches that one, and a report of the lost one does not count',
    ),
  ),
  bug(
    'file and mysql',
    'keys that begin with a character of U+10000 to U+103FF were taken for hints: they excluded each other, and a listing never ended',
    scene('test/backends/file/far-characters.test.ts', 'are keys of their own, and each is listed'),
  ),
  bug(
    'redlock',
    'a claim of which the vote was under way was listed as a hold',
    scene(
      'test/backends/quorum/standings.test.ts',
      'a claim of which the vote is under way is not shown as a hold: its number may change, and it may be lost',
    ),
  ),
  bug(
    'postgres',
    'a grant was answered that a rollback could take away',
    scene('test/backends/postgres/open-transaction.test.ts', 'a forced release, a sweep and a hint are committed too'),
  ),
  bug(
    'postgres',
    'a token was answered, and forgotten when the server was killed',
    scene(
      'test/backends/postgres/durable.test.ts',
      '…a token that was answered is never given again, though the server is killed',
    ),
  ),
  bug(
    'postgres',
    'a hand-over was the dearer the longer the line',
    scene(
      'test/backends/postgres/lease.test.ts',
      'the statements for a hand-over stay the same from 10 to 1,000 waiters',
    ),
  ),
  bug(
    'mysql',
    'a connection came back to the pool with a transaction left open, and a grant was made in it',
    scene(
      'test/backends/mysql/left-open.test.ts',
      'what a transaction that was left open still sees is not taken for what is there',
    ),
  ),
  bug(
    'mysql',
    'a sweep read a large table in one go',
    scene(
      'test/backends/mysql/table.test.ts',
      'no statement of a sweep reads or removes more than a few thousand rows, however large the table is',
    ),
  ),
  bug(
    'mongodb',
    'behind a router whose clock was behind, an expiry went back',
    scene(
      'test/backends/mongodb/pipeline.test.ts',
      'one that was held up in a router never sets an expiry back, nor does a router whose clock is behind',
    ),
  ),
  bug(
    'etcd',
    'a place was thought to be on another lease than it was, after an answer was read late',
    scene(
      'test/backends/etcd/moves.test.ts',
      'is where it is thought to be, also where the answer to its move is read late',
    ),
  ),
  bug(
    'zookeeper',
    'a hold was believed in for longer than the leader knew of its session',
    scene(
      'test/backends/zookeeper/wire/last-heard.test.ts',
      'whenever a follower ends, the leader has heard of the session since what is taken for certain',
    ),
  ),
  bug(
    'zookeeper',
    'a refusal was older than the question',
    scene(
      'test/backends/zookeeper/lagging.test.ts',
      'a claim that waits at the leader is not refused for a release that a follower has answered',
    ),
  ),
  bug(
    'stock',
    'units of a removed product arrived in the new one of its name',
    scene(
      'test/stock/made-anew.ts',
      'units on their way when a product is removed do not arrive in the one that is made anew under its name',
    ),
  ),
  bug(
    'core',
    'an attempt that nobody answered came after the release, and held the key until its process ended',
    scene(
      'test/core/withdrawal.test.ts',
      'an attempt that was not answered and arrives after the release brings nothing back',
    ),
  ),
  bug(
    'core',
    'the signal of a lease of several keys stayed in memory for ever once somebody had listened to it',
    scene(
      'test/core/all-lost.test.ts',
      'a signal of several keys that somebody listens to is forgotten with its lease',
    ),
  ),
  bug(
    'core',
    'a lease was allowed that is over once clocks are allowed for, and whoever waited asked for it for ever',
    scene(
      'test/core/options.test.ts',
      'no lease is allowed of which nothing is left at once, whatever the engine says',
    ),
  ),
  bug(
    'redis',
    'a lock with more than 500 holders could not be read any more after the record of one was lost, until it vanished',
    scene(
      'test/backends/redis/line.test.ts',
      'a lock of more holders than are counted anew can be read, whoever leaves after a record was lost',
    ),
  ),
  bug(
    'locks of sessions',
    'a late refusal of an attempt ended the hold that a wait of the same claim had got meanwhile',
    scene(
      'test/backends/shared/session-locks.test.ts',
      'waits only once its attempt is answered, or a late refusal of that would end the hold of the wait',
    ),
  ),
  bug(
    'locks of sessions',
    'an attempt that failed with its session took the hold that its claim had got on another one',
    scene(
      'test/backends/shared/session-locks.test.ts',
      'takes nothing from the next attempt of its claim, when its own attempt fails later than that began',
    ),
  ),
  bug(
    'mysql',
    'a renewal that the own connection had not answered was repeated over the pool, and then shortened an extension',
    scene(
      'test/backends/mysql/renewals.test.ts',
      'a renewal that our own connection has not answered may still arrive, and shorten an extension: nobody believes in more',
    ),
  ),
  bug(
    'etcd',
    'two messages asked for the lease of one claim, and the one that came last put it back into its queue for good',
    scene(
      'test/backends/etcd/leases.test.ts',
      'the next claim of a release, asked for by itself and given up before there is a lease for it, leaves nothing',
    ),
  ),
  bug(
    'etcd and zookeeper',
    'a watch that could be set only at a second try woke nobody, so a change before that was missed',
    scene(
      'test/backends/shared/repeated-watch.test.ts',
      'is woken when its first watch could be set only at a later try: it may have missed a change in between',
    ),
  ),
  bug(
    'redis',
    'a channel that was being opened during a fail-over stayed at the old server, where nothing is sent any more',
    scene(
      'test/backends/redis/mailbox.test.ts',
      'what is still being opened at the old server, as the client comes to a new one, is opened again there',
    ),
  ),
  bug(
    'mongodb',
    'waiters were woken before the next change stream was open, and missed what changed in between',
    scene(
      'test/backends/mongodb/wake-ups.test.ts',
      'after a break, waiters are woken when the next stream is open: what changes before that is not brought',
    ),
  ),
  bug(
    'memo',
    'after a forget, close() did not end the wait of a caller for an earlier look',
    scene(
      'test/memo/close.test.ts',
      'close() ends the wait for a look that is shared no more since its key was forgotten',
    ),
  ),
  bug(
    'memo',
    'an earlier look that was answered ended the sharing of the next one',
    scene('test/memo/look.test.ts', 'a look that is shared no more leaves the next look to all later callers'),
  ),
  bug(
    'redis',
    'a run of a server that keeps nothing was told as one that keeps every write, if a restart turned that on meanwhile',
    scene(
      'test/backends/redis/run-name.test.ts',
      'what one run of a server says is not told of the next run, after %i restarts in the middle of an answer',
    ),
  ),
  bug(
    'etcd',
    'the lease of a dead process, over and not removed yet, seemed to be renewed: a wait for it was told of a deadlock',
    scene(
      'test/waits/suspects.test.ts',
      'a claim that is over, and is in the queue until the server removes it, was not renewed',
    ),
  ),
  bug(
    'core',
    'an extension that was answered beside a renewal let a second one begin, and a longer extension did not wait for it: two held',
    scene(
      'test/core/lease.test.ts',
      'an extension waits for each renewal under way, also for one that an earlier extension was answered beside',
    ),
  ),
];

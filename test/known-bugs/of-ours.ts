import { bug, inBackend, inCore, type KnownBug, onEveryEngine, scene, twin } from './bug.ts';

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
    scene(
      'test/backends/quorum/attempts.test.ts',
      'an attempt again while the first is asked is good from when the nodes were asked',
    ),
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
    'the lease of a dead process, over and not removed yet, seemed to be renewed: a waiter for it got LOCK_DEADLOCK',
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
  bug(
    'core',
    'a hold that a listener of a loss released just when it was due was renewed all the same, beside the next holder: two held',
    scene(
      'test/core/hand-off.test.ts',
      'a hold that the listener of a loss %s it releases, just when it is due, is renewed no more: the renewal would shorten what the next holder has',
    ),
  ),
  bug(
    'core',
    'a default wait for a turn inside of a run had no end',
    scene(
      'test/core/default-wait.test.ts',
      'a call with %s that waits for its turn inside of a run gives up after 30 s',
    ),
  ),
  bug(
    'core',
    'a grant that was over when the machine woke counted as a grant',
    scene(
      'test/core/slept.test.ts',
      'nothing runs by the answer of a grant that was over when the machine woke and read it',
    ),
  ),
  bug(
    'core',
    'a hold that was over when the machine woke passed on',
    scene(
      'test/core/slept.test.ts',
      'a hold that lingered when the machine fell asleep, and was over when it woke, is not passed on',
    ),
  ),
  bug(
    'core',
    'a hold that was evicted before it passed on learned of it only at its next renewal',
    scene(
      'test/core/hold-watch.test.ts',
      'a hold that was evicted before its %s is lost once the next holder watches it, and not at its next renewal',
    ),
  ),
  bug(
    'core',
    'where the engine would not shorten a lease, minHold lasted for all of it',
    scene(
      'test/core/min-hold.test.ts',
      'where the engine refuses to shorten the lease, the hold is given back when minHold is over',
    ),
  ),
  bug(
    'core',
    'a hold that was released while its Locks closed went on lingering after the engine was closed',
    scene(
      'test/core/linger.test.ts',
      'is back at the engine before that is closed, also if the listener of its release closes',
    ),
  ),
  bug(
    'waits',
    'a deadlock was not found beside many other waits of its process',
    scene(
      'test/waits/scale.test.ts',
      'a deadlock is found in time beside 140 other waits of its process, on an engine that takes a while to list',
    ),
  ),
  bug(
    'quorum',
    'a client that was not connected at first was taken for a missing right, and restarts of its server were not seen: two held',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a node whose client is connected after its first use, and which forgets its votes, lets no second holder in',
    ),
  ),
  bug(
    'quorum',
    'a hint that a closed client refused counted as written',
    scene('test/backends/quorum/memory.test.ts', 'a note that a closed client refused is not taken for written'),
  ),
  bug(
    'quorum',
    'one call with a lease too long for one node ended the quorum for its process',
    scene(
      'test/backends/quorum/check.test.ts',
      'a node that refuses a long lease makes the quorum refuse leases as long, and serves shorter ones',
    ),
  ),
  bug(
    'quorum',
    'a node that froze right after its grant kept a ballot open without a limit',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a node that freezes right after its grant keeps a vote open no longer than one that does not answer',
    ),
  ),
  bug(
    'quorum',
    'a forced release whose outcome was unknown counted as one that freed nothing',
    scene('test/backends/quorum/listing.test.ts', 'whether a hold was evicted is unknown where %s'),
  ),
  bug(
    'quorum',
    'an extension that the nodes refused seemed to be done',
    scene(
      'test/backends/quorum/renewals.test.ts',
      'a longer lease that one of the nodes that answered refused is refused',
    ),
  ),
  bug(
    'redis-plain',
    'in a Cluster a process got no wake-up any more after the slot of its first key had moved away',
    scene(
      'test/backends/redis-foreign/wake-ups.test.ts',
      'listens to a server by a key that is still there, after the slot of the first key moved away',
    ),
  ),
  bug(
    'etcd',
    'an attempt that was refused before moved a claim away from the lease that its notified grant counted on: two held',
    scene(
      'test/backends/etcd/moves.test.ts',
      'though an attempt that was refused before asks for the lease of a place',
    ),
  ),
  bug(
    'zookeeper',
    'a claim that stood again stood behind its own node, which stayed as long as the session',
    scene(
      'test/backends/zookeeper/given-up.test.ts',
      'a node that was made too late does not stand before a later node of its claim',
    ),
  ),
  bug(
    'zookeeper',
    'a late attempt removed the node of a hold that had been notified meanwhile',
    scene(
      'test/backends/zookeeper/given-up.test.ts',
      'a node whose hold was notified is not removed by an attempt that is answered too late',
    ),
  ),
  bug(
    'register',
    'a guess made a process forget what it had seen of a dead hold, which it then never took over',
    scene('test/backends/register/sightings.test.ts', 'counts also after a guess that the key has no document'),
  ),
  bug(
    'transaction',
    'after a deadlock on MySQL keepIn deleted or overwrote the result of the next holder, and work was done twice',
    scene('test/transaction/keep.test.ts', 'a deadlock %s loses no result: the next holder of the key keeps its own'),
  ),
  bug(
    'mysql',
    'a hold was lost although its own connection was free: its renewal waited for a check of the table over the pool',
    scene(
      'test/backends/mysql/busy-pool.test.ts',
      'over a connection of our own a renewal waits for no connection of the pool, also when the clock of the server was read long ago',
    ),
  ),
  bug(
    'mysql',
    'a claim that was refused after it had joined stayed in the queue',
    scene(
      'test/backends/mysql/refused-midway.test.ts',
      'leaves no claim in the queue when one of them is refused after the claim has joined',
    ),
  ),
  bug(
    'postgres',
    'over postgres.js all steps went on to a server that was read-only since a fail-over',
    scene(
      'test/backends/postgres/postgres-js.test.ts',
      'a connection to a server that takes no writes is given up, and a new one may lead to the new primary',
    ),
  ),
  bug(
    'transaction',
    'two calls of lockRow at once left the limit of one of them on the connection',
    scene('test/transaction/transaction.test.ts', 'two calls at once of one transaction leave no limit behind'),
  ),
  bug(
    'once',
    'an instance that had lost its tick while it waited wrote a record of it: no instance ran the tick',
    scene(
      'test/once/overlap.test.ts',
      'an instance that loses its tick while it waits for an earlier run leaves no record of it: the tick is run',
    ),
  ),
  bug(
    'idempotency',
    'an answer for a request that something else had answered was an unhandled rejection',
    scene(
      'test/idempotency/late.test.ts',
      '%s: an answer (%i) for a request that something else has answered is dropped',
    ),
  ),
  bug(
    'cron',
    'a second task of one name made a run of node-cron last as long as its lease',
    scene(
      'test/cron/adapters.test.ts',
      'a run ends when it is complete, also if a second task of its name has asked for it in the same process',
    ),
  ),
  bug(
    'memo',
    'a lease that outlived the function of its memo did not learn that its key was given away',
    scene(
      'test/memo/inside.test.ts',
      'a lease that outlives the function of its memo learns of its end before another holder has the key',
    ),
  ),
  bug(
    'memo',
    'a run whose hold was gone at its end did not say why its value was not kept',
    scene(
      'test/memo/lost-run.test.ts',
      'a run whose hold was gone without a notice when it ended says why its value is not kept',
    ),
  ),
  bug(
    'memo',
    'a refresh that failed gave the old result also to a call after forget()',
    scene(
      'test/memo/forget.test.ts',
      'a call after forget() does not get the old result from a refresh that fails, whose caller looked before',
    ),
  ),
  bug(
    'ui',
    'a page with a prefix showed, forgot and evicted other keys, too',
    scene('test/ui/handler.test.ts', 'with a prefix it looks at no other key, and evicts and forgets nothing there'),
  ),
  bug(
    'core',
    'a released hold that its engine had declared gone was passed on after its linger',
    scene('test/core/linger.test.ts', 'is not passed on: it ended %s, and another process may hold the key'),
  ),
  bug(
    'shared',
    'two releases of one hold unlocked twice, and freed the lock of another reader of the session: two could hold',
    scene(
      'test/backends/shared/session-locks.test.ts',
      'unlock once: a second unlock would free the lock of another reader on the session',
    ),
  ),
  bug(
    'shared',
    'a second release gave a session back to its pool while the first unlock was under way',
    scene(
      'test/backends/shared/session-locks.test.ts',
      'give the session back only when the server has answered the unlock',
    ),
  ),
  bug(
    'renewal',
    'the thread that took the place of a dead one forgot that a renewal of it was in doubt',
    scene(
      'test/connect/next-thread.test.ts',
      'a renewal that a thread sent before it died stays in doubt, also when the next thread has renewed',
    ),
  ),
  bug(
    'renewal',
    'a thread that the system refused to make was never tried again',
    scene(
      'test/connect/no-thread.test.ts',
      'a thread that died is replaced by one, also when the system refuses several times to make it',
    ),
  ),
  bug(
    'command line',
    'a command began after its lock was lost and another process had had it',
    scene('test/cli/run.test.ts', 'a command never begins if the lease was lost before: %s'),
  ),
  bug(
    'command line',
    'a signal that ended the wait of lead gave the exit code of an earlier term',
    scene(
      'test/cli/lead.test.ts',
      'a signal that ends the wait for the next term gives its own code, not that of the last term',
    ),
  ),
  bug(
    'stock',
    'a seller that had lost its lock before a resize confirmed beside the next one: both had sold',
    scene(
      'test/stock/conformance.test.ts',
      'nor when a resize has moved its buyer, and the next one sells the same request',
    ),
  ),
  bug(
    'stock',
    'a power cut could take back a sale in a SQLite file that was answered',
    scene(
      'test/stock/sqlite.test.ts',
      'what is sold in a file is on disk when it is answered, so that no power cut takes a sale back',
    ),
  ),
  bug(
    'stock',
    'a late resize of a product that was being removed ended in a TypeError',
    scene(
      'test/stock/sqlite.test.ts',
      'a late resize of a product that is being removed gets the error that the product is gone',
    ),
  ),
  bug(
    'stock',
    'a rebalancer ended while units that a dead one had sent were in the reserve',
    scene(
      'test/stock/rebalancer.test.ts',
      'a rebalancer that brings what a dead one has sent into the reserve does not end before it is in the segments',
    ),
  ),
  bug(
    'stock',
    'a rebalancer ended for good when another one overtook it',
    scene('test/stock/rebalancer.test.ts', 'a rebalancer goes on after %s'),
  ),
  bug(
    'nestjs',
    'a health check waited for a release without a limit, and then answered up',
    scene(
      'test/nestjs/module.test.ts',
      'health is down, in time, while the engine does not answer a release, also for the next caller',
    ),
  ),
  bug(
    'leading',
    'a candidate took over the claim, and the label, of another one of its process that had stopped: observers read its name',
    scene(
      'test/core/heir.test.ts',
      'a candidate leads under its own label, also when another one of its process stopped waiting before it',
    ),
  ),
  bug(
    'quorum',
    'the hint of a long lease ended after a day although such leases were given: after a restart two could hold',
    scene(
      'test/backends/quorum/memory.test.ts',
      'a longer lease is written again as well, although a shorter one was the first after a quarter of a day',
    ),
  ),
  bug(
    'quorum',
    'a node that came back with old data counted as one that knows the longest lease: two could hold',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a node that came back with old data bears no witness of leases that it may have forgotten',
    ),
  ),
  bug(
    'quorum',
    'an empty server that took the address of a node counted at once: two could hold',
    scene(
      'test/backends/quorum/guard.test.ts',
      'an empty server that takes the address of a node, and began while that node still %s, does not count at once',
    ),
  ),
  bug(
    'quorum',
    'a process that waited for more than a thousand keys asked for each every few milliseconds, for ever',
    scene(
      'test/backends/quorum/contention-backoff.test.ts',
      'a process that waits for very many keys asks for each less and less often',
    ),
  ),
  bug(
    'quorum',
    'a node that hung delayed the news of evictions by the others',
    scene(
      'test/backends/quorum/hold-watch.test.ts',
      'a holder that was evicted before its watches were set learns of it long before its next renewal, although a node hangs',
    ),
  ),
  bug(
    'core',
    'with more than 10,000 keys in use on a register, the time of each use grew with their number',
    scene('test/core/recent-keys.test.ts', 'where very many keys have to stay, the use of a key looks at few of them'),
  ),
  bug(
    'redis',
    'after a refusal that its owner ended a server was not asked again who it is, and a proxy went unnoticed',
    scene(
      'test/backends/redis/kinship.test.ts',
      'a server that refuses to say which one it is (%s) is asked again: a proxy that spreads names is found out',
    ),
  ),
  bug(
    'transaction',
    'lockRow at once on two query functions of one transaction mixed their limits',
    scene(
      'test/transaction/turns.test.ts',
      'two calls at once on two query functions of one transaction do not mix their limits',
    ),
  ),
  bug(
    'quorum',
    'a hint that a full server refused counted as written: after restarts two could hold',
    scene(
      'test/backends/quorum/memory.test.ts',
      'a note that a server refused for a time is not taken for written: %s',
    ),
  ),
  bug(
    'quorum',
    'a node whose backend a user wrote, and which answered a renewal with nothing, ended the process',
    scene(
      'test/backends/quorum/renewals.test.ts',
      'a node that answers a renewal with nothing ends no process, and leaves the hold to the other nodes',
    ),
  ),
  bug(
    'quorum',
    'a vote that came after the release of its ballot, and whose answer was lost, kept the key for a whole lease',
    scene(
      'test/backends/quorum/attempts.test.ts',
      'an attempt that %s after its release was answered is released once more, since it may have come after that',
    ),
  ),
  bug(
    'quorum',
    'a vote whose node was asked too late to raise its token was never given back, and kept the key for a whole lease',
    scene(
      'test/backends/quorum/attempts.test.ts',
      'a node that is asked too late to raise the token of its vote is asked to give that vote back with the hold',
    ),
  ),
  bug(
    'etcd',
    'a move that a notification had asked for took a key away from the lease that the grant of an attempt counted on',
    scene(
      'test/backends/etcd/moves.test.ts',
      'stays under the lease that the grant of an attempt counts on, though a notification has asked for another move',
    ),
  ),
  bug(
    'etcd',
    'a move without an answer left a revoke that could end the hold of a later claim: two could hold',
    scene('test/backends/etcd/moves.test.ts', 'and gets no answer leaves no late message that ends a later hold'),
  ),
  bug(
    'etcd',
    'an attempt that was refused for good took back a hold that had been notified meanwhile: two could hold',
    scene(
      'test/backends/etcd/values.test.ts',
      'a hold that is notified during an attempt stays, though the attempt is refused for good',
    ),
  ),
  bug(
    'zookeeper',
    'an attempt that was refused for good took back a hold that had been notified meanwhile: two could hold',
    scene(
      'test/backends/zookeeper/values.test.ts',
      'a hold that is notified during an attempt stays, though the attempt is refused for good',
    ),
  ),
  bug(
    'zookeeper',
    'a claim that was refused after it had joined left its node for as long as the session',
    scene(
      'test/backends/zookeeper/values.test.ts',
      'an attempt that is refused for good after it has joined leaves no node',
    ),
  ),
  bug(
    'register',
    'a late attempt took the place that the attempt after it had been told of',
    scene(
      'test/backends/register/late.test.ts',
      'an attempt that was too late takes no place from the attempt that followed it',
    ),
  ),
  bug(
    'mongodb',
    'the first attempt of a process had no limit, and could leave a claim that no process knows',
    scene(
      'test/backends/mongodb/driver.test.ts',
      'the first attempt of a process makes no claim where it comes too late',
    ),
  ),
  bug(
    'file',
    'with programs of different prefixes on one file a listing or a death made a process work without end',
    scene(
      'test/backends/file/prefixes.test.ts',
      'a sweep also removes the expired claims of a program with another prefix, and ends',
    ),
  ),
  bug(
    'postgres',
    'a process that stood still cut a healthy session of advisory locks, and lost all of them',
    scene(
      'test/backends/postgres/session.test.ts',
      'a session whose answer has arrived while the process stood still is not ended',
    ),
  ),
  bug(
    'postgres',
    'while our own connection hung, renewals waited for it, and short holds were lost',
    scene(
      'test/backends/postgres/renewals.test.ts',
      'while a connection of our own hangs as it is opened, renewals soon go over the pool',
    ),
  ),
  bug(
    'mysql',
    'one limit of time for the renewals of all holds left many of them unknown',
    scene(
      'test/backends/mysql/renewals.test.ts',
      'many holds are renewed over our own connection, though together that takes longer than one statement may',
    ),
  ),
  bug(
    'mysql',
    'each look for a waiter read the rows of all holds',
    scene(
      'test/backends/mysql/poller.test.ts',
      'the rows of the holds are read about once a second, however often the waiters look',
    ),
  ),
  bug(
    'idempotency',
    'a large answer to a client that was gone kept its key taken for ever',
    scene(
      'test/idempotency/gone.test.ts',
      'a large answer to a client that is gone frees the key, also if it was gone %s',
    ),
  ),
  bug(
    'idempotency',
    'a stream that was piped to a client that was gone kept its key taken for ever',
    scene(
      'test/idempotency/gone.test.ts',
      'a stream to a client that is gone frees the key, although a pipe ends no response that was closed',
    ),
  ),
  bug(
    'transaction',
    'keepIn at once for two keys of one transaction of MySQL said that there was no transaction',
    scene('test/transaction/keep.test.ts', 'two calls at once of one transaction keep both results'),
  ),
  bug(
    'idempotency',
    'a request that something else had answered before its turn was a failure of the request',
    scene(
      'test/idempotency/late.test.ts',
      '%s: a request that something else has answered does not run its handler when its turn comes',
    ),
  ),
  bug(
    'torture',
    'a process that crashed in its last release or its close was not reported: the verdict could be that all promises were kept',
    scene(
      'test/torture/crew.test.ts',
      'the referee reports a process that crashes when it is asked to end, and no process that ends as asked',
    ),
  ),
  bug(
    'torture',
    'a run did not end where a process crashed while a block of its event loop waited for a hold',
    scene('test/torture/crew.test.ts', 'a run that ends waits for no answer of a process that has crashed'),
  ),
  bug(
    'ui',
    'a user who left while a login took its time was taken for an open page: it asked the engine for as long as the process lived',
    scene(
      'test/ui/streams.test.ts',
      'a user who leaves while a login takes its time leaves no page behind that asks the engine',
    ),
  ),
  bug(
    'ui',
    'after close() a browser that asked once more kept its server from closing without an end',
    scene(
      'test/ui/streams.test.ts',
      'after close() the server can close, also when a browser asks once more in between',
    ),
  ),
  bug(
    'torture',
    'a process whose close or last wait had no end was killed without a word: the verdict could be that all promises were kept',
    scene('test/torture/broken.test.ts', 'finds processes whose close has no end'),
  ),
  bug(
    'core',
    'the grant of a try came after the try had been refused: its hold was renewed until its process ended',
    scene(
      'test/core/try-in-release.test.ts',
      'a try whose release has ended before its own answer comes keeps nothing that this answer grants',
    ),
  ),
  bug(
    'core',
    'all() looked at the clock for all pairs of its keys: with a thousand the event loop stood for seconds, and with more, holds were lost',
    scene(
      'test/core/multi-lock.test.ts',
      'all() of many keys looks at the clock a few times for each key, however many there are',
    ),
  ),
  bug(
    'core',
    'an attempt without an answer came after the caller had got the result of a memo: nobody took back what it got, and it kept the key for a lease',
    scene(
      'test/memo/forget.test.ts',
      'an unanswered attempt that arrives after another process forgot the result does not keep the key',
    ),
  ),
  bug(
    'core',
    'Locks that were closed while the engine was away left their holds in a session that other Locks kept open',
    scene(
      'test/core/withdrawal.test.ts',
      'what Locks %s in a session of other Locks, too, is taken back once the engine answers',
    ),
  ),
  bug(
    'register',
    'the removal of what the proof had tried had no limit: one that was not answered kept a process from every lock',
    scene(
      'test/backends/register/proof.test.ts',
      'a store that never answers the removal of what the races made holds up the first lock for a time only',
    ),
  ),
  bug(
    'file',
    'a process with very many claims looked after all of them in one transaction whenever another process ended: no other process could lock meanwhile',
    scene(
      'test/backends/file/disconnect.test.ts',
      'a process that looks after its many claims, since another process has ended, lets others use the file in between',
    ),
  ),
  bug(
    'mongodb',
    'an index that was asked for while the connection broke was not asked for again: idle documents stayed',
    scene(
      'test/backends/mongodb/driver.test.ts',
      'the index is asked for again after a connection that broke before its answer',
    ),
  ),
  bug(
    'postgres',
    'a claim that waited for a session of advisory locks got one that had just been granted its lock for another claim: two held',
    scene(
      'test/backends/postgres/advisory.test.ts',
      'a session that waits for a lock and gets it gives that lock to no other claim of the process',
    ),
  ),
  bug(
    'postgres',
    'a token of advisory locks was answered before the log of its sequence was on disk: after a crash a lower one followed',
    scene(
      'test/backends/postgres/durable.test.ts',
      'a token of advisory locks is on disk with its answer, also when another program has not committed the sequence yet',
    ),
  ),
  bug(
    'etcd',
    'an attempt asked for the lease from which a notification had moved its claim, took the claim for gone, and ended the notified hold: two could hold',
    scene(
      'test/backends/etcd/moves.test.ts',
      'stays when it is notified during an attempt that asks for the lease it was under before',
    ),
  ),
  bug(
    'etcd',
    'an unanswered move to the lease of a place arrived after the claim had come back, as a hold, to the lease it had at first: the hold ended in seconds, and two could hold',
    scene(
      'test/backends/etcd/moves.test.ts',
      'is not moved by a late message to the lease of a place, when its hold has the lease that the message moves it from',
    ),
  ),
  bug(
    'zookeeper',
    'a waiter lost its place in the queue when an attempt after its first one was answered late: claims that came later went first',
    scene(
      'test/backends/zookeeper/given-up.test.ts',
      'a claim keeps its place in the queue, though a later attempt of it is answered too late',
    ),
  ),
  bug(
    'etcd',
    'a permit that notifies the next one of room sent that once: where the link was cut, the next one waited for 10 s',
    scene(
      'test/backends/etcd/waiting.test.ts',
      'a permit gets its turn in time, also when the link is cut as the permit before it notifies it',
    ),
  ),
  bug(
    'core',
    'all() looked at the clock for all pairs of its keys: with a thousand the event loop stood for seconds, and with more, holds were lost',
    scene(
      'test/core/multi-lock.test.ts',
      'all() of many keys looks at the clock a few times for each key, however many there are',
    ),
  ),
  bug(
    'core',
    'run() of all() with thousands of keys called the frames of all keys one inside another, and the stack overflowed: the function never ran',
    scene('test/core/multi-lock.test.ts', 'all() runs its function with thousands of keys'),
  ),
  bug(
    'leading',
    'listeners of a term ran in the context of the caller that ended it: they entered its locks beside it (two held), and resign() waited there without end',
    scene(
      'test/leading/listeners.test.ts',
      'a listener of a term that ends by %s enters no lock of the caller that ends it',
    ),
  ),
  bug(
    'leading',
    'a term whose function had failed was told as resigned, and its signal aborted, when resign() came during its release',
    scene('test/leading/ended.test.ts', 'a term that has %s keeps that reason when resign() comes during its release'),
  ),
  bug(
    'redlock',
    'a vote counted although the other nodes noted its lease only later: its node restarted, read too short a lease there, and two held',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a vote counts only if the other nodes had noted its lease before it: a node that restarts after it waits for that lease',
    ),
  ),
  bug(
    'core',
    'with a long notice the first renewal could take all the time until the loss signal: one unanswered renewal lost a healthy hold, also with the flags of the command line',
    scene(
      'test/core/watchdog.test.ts',
      'leave time for a second try: one unanswered renewal loses no hold of %i ms with a notice of %i ms',
    ),
  ),
  bug(
    'core',
    'between the loss signal and the deadline an answer or a wake that told that the engine no longer had the hold was dropped: held stayed true beside the next holder',
    scene(
      'test/core/hold-watch.test.ts',
      'a wake ends a hold that is gone, also when its holder knows of the loss already: it %s',
    ),
  ),
  bug(
    'core',
    'run() of one key ran its function without the hold when a listener of the grant had closed the locks, and resolved',
    scene(
      'test/core/close.test.ts',
      'run() rejects, and never begins its function, when a listener of its grant has closed the Locks',
    ),
  ),
  bug(
    'core',
    'a grant whose answer came late ended the hold that the engine had granted after it, and counted as held itself, though it was gone',
    scene(
      'test/core/unrenewed.test.ts',
      'a grant whose answer comes late ends itself, and not the hold that the engine granted after it',
    ),
  ),
  bug(
    'etcd',
    'a request to join that arrived late put the key of a hold back under a lease that the key had left, and the revoke of that lease ended the hold: two could hold',
    scene(
      'test/backends/etcd/moves.test.ts',
      'is not put back by a late message to join, under the lease that its hold has left',
    ),
  ),
  bug(
    'etcd',
    'a hold that a notification had granted was removed by force during an attempt of its claim, which took a second place: each renewal confirmed the hold by the place that only waited',
    scene(
      'test/backends/etcd/waiting.test.ts',
      'a renewal confirms no place that waits, when the hold was removed during an attempt of it',
    ),
  ),
  bug(
    'zookeeper',
    'a notification granted a node whose attempt was cut after the creation was answered: the hold counted on its whole ttl, however short the session was',
    scene(
      'test/backends/zookeeper/faults.test.ts',
      'a notification grants no more time than the session has, though the attempt that made the node was cut',
    ),
  ),
  bug(
    'redis',
    'createSentinel() of node-redis sends again what a lost connection did not answer, which no event shows: a release that was done counted as one that freed nothing, and a forced release found none',
    scene('test/backends/redis/resent.test.ts', 'a release that freed the key says so'),
  ),
  bug(
    'quorum',
    'a node of a user that granted half a token, or gave no number as the time of its lease, ended the process with an unhandled rejection, and the attempt was never answered',
    scene(
      'test/backends/quorum/answers.test.ts',
      'a backend of a user whose grant has %s is refused with the reason, and nothing is left unhandled',
    ),
  ),
  bug(
    'quorum',
    'a node that ran without its volume for a while, and then with it again, counted at once, since its mark was of a run that kept everything: the votes given in between were forgotten, and two could hold',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a node that comes back with the data of a run before the last one does not count at once',
    ),
  ),
  bug(
    'memo',
    'a caller that does not wait, and joined a run whose engine had never answered, got LOCK_TIMEOUT, as if another one ran',
    scene(
      'test/memo/outage.test.ts',
      'a caller that does not wait, and joins a run that the engine has never answered, gets LOCK_UNAVAILABLE (keep %s)',
    ),
  ),
  bug(
    'register',
    'a release before the end of minHold left the key to an expiry that only a waiter can see: processes that do not wait never got the key again',
    scene(
      'test/core/min-hold.test.ts',
      'an engine without a clock frees the key when minHold is over, also for a process that sees it first, with close %s that',
    ),
  ),
  bug(
    'once',
    "with overlap: 'skip' on an engine without a clock, a killed runner kept later ticks from running: no process watched its lease for long enough",
    scene(
      'test/once/unwatched.test.ts',
      "with overlap: 'skip' a new process runs the next tick after the death of a runner, on an engine without a clock",
    ),
  ),
  bug(
    'register',
    'the first write for a key was a guess without the time of the store, so its hold seemed expired to the next process, which read that time: two held the key',
    scene(
      'test/backends/register/tells-time.test.ts',
      'one process at a time holds a new key of a store that tells conflicts and the time',
    ),
  ),
  bug(
    'register',
    'the release of a hold whose lease was over wrote nothing, so the hold stayed in the store, and a new process had to watch it for a whole lease',
    scene(
      'test/backends/register/overdue.test.ts',
      'a release after the lease removes the hold from the store, so a process that has watched nothing gets the key',
    ),
  ),
  bug(
    'postgres',
    'a statement that waited for its turn on a session was under the limit for answers: a session that answered was cut under load, or after a pause of the process, and all its holds were lost',
    scene(
      'test/backends/postgres/session.test.ts',
      'a statement that waits for its turn on a session that answers does not end it',
    ),
  ),
  bug(
    'postgres',
    'an advisory session that ended while the pool made the sequence of the tokens was kept: the process could never lock again',
    scene(
      'test/backends/postgres/advisory.test.ts',
      'a process locks also after its session ended while the sequence of the tokens was made',
    ),
  ),
  bug(
    'renewal',
    'the renewal thread marked holds that fell due during a hang of the main thread as asked for, and sent nothing: it never renewed them again, though the main thread went on',
    scene(
      'test/connect/next-thread.test.ts',
      'a hold that fell due while the main thread seemed to hang is renewed when it is late again',
    ),
  ),
  bug(
    'idempotency',
    'an answer that its handler cut short, since the client was gone, was kept and sent to later requests as a whole one',
    scene(
      'test/idempotency/gone.test.ts',
      'an answer that ends after its client is gone, in the middle of its parts, is not kept as a whole one',
    ),
  ),
  bug(
    'idempotency',
    'a file that was sent after the client had left never ended its answer: the key was held without end, and later requests got 409',
    scene('test/idempotency/gone.test.ts', 'a file for a client that is gone frees the key, also if it was gone %s'),
  ),
  bug(
    'idempotency',
    'a status that Node refuses to send ended the process, since its error came after the handler',
    scene(
      'test/idempotency/status.test.ts',
      '%s: an answer whose status has a %s that Node refuses becomes one with 500, and ends no process',
    ),
  ),
  bug(
    'transaction',
    'a query function that was given as a transaction left the turns of its transaction: calls at once mixed their limits',
    scene(
      'test/transaction/turns.test.ts',
      'a query function keeps the turns of its transaction when it is given as a transaction',
    ),
  ),
  bug(
    'otel',
    'a second stop() of an ended measurement let the same Locks be measured twice',
    scene(
      'test/otel/metrics.test.ts',
      'after stop() nothing is counted, nobody listens, and the same Locks may be instrumented again',
    ),
  ),
  bug(
    'memo',
    'a memo inside another lock, or beside a forgotten one, ran its function without the key when the hold was over before it began',
    scene(
      'test/memo/close.test.ts',
      'a memo inside another lock never runs its function when a listener of its grant has closed the Locks',
    ),
  ),
  bug(
    'core',
    'run() of all() began its function without its keys when the locks were closed after the last grant',
    scene(
      'test/core/close.test.ts',
      'run() of all() rejects, and never begins its function, when the Locks are closed after it got its last key',
    ),
  ),
  bug(
    'core',
    'run() inside itself began its function without the hold when a listener of the entry closed the locks',
    scene(
      'test/core/close.test.ts',
      'run() inside itself rejects, and never begins its function, when a listener of its entry has closed the Locks',
    ),
  ),
  bug(
    'core',
    'a backend of a user that threw when it was asked why it does not answer, or whether it has ended, ended the process, and calls were never answered',
    scene('test/core/odd-backends.test.ts', 'a backend that %s ends no process, and every call to its Locks ends'),
  ),
  bug(
    'leading',
    'a candidate gave up for good when its hold was over before its term began',
    scene(
      'test/leading/leader.test.ts',
      'run() says that the Locks are closed when a listener of its grant has closed them',
    ),
  ),
  bug(
    'quorum',
    'a session node (MySQL named locks, PostgreSQL advisory locks) confirmed a vote whose attempt was still under way: two held',
    scene(
      'test/backends/shared/session-locks.test.ts',
      'a claim is not confirmed while its attempt is under way, as a quorum asks when it was not answered',
    ),
  ),
  bug(
    'quorum',
    'over registers without a clock a key was never free after minHold for processes that do not wait; over plain Redis delay was accepted, though other programs do not keep it',
    scene('test/backends/quorum/options.test.ts', 'a quorum has %s'),
  ),
  bug(
    'etcd',
    'a hold was lost by the word of a server that was behind and did not know its lease, though the key was there',
    scene(
      'test/backends/etcd/moves.test.ts',
      'is not lost by the word of a server that is behind, and does not know its lease yet',
    ),
  ),
  bug(
    'zookeeper',
    'an attempt whose listing was older than the notified grant refused it, and the grant counted from that attempt on: longer than the session',
    scene(
      'test/backends/zookeeper/faults.test.ts',
      'an attempt after a notified grant grants the time from that attempt on, though its listing is older than the grant',
    ),
  ),
  bug(
    'zookeeper',
    'a connection that fell silent was used for a third of the session timeout, however long that was',
    scene(
      'test/backends/zookeeper/wire/session.test.ts',
      'a server that falls silent is given up after 5 s and a sign of life, also in a long session',
    ),
  ),
  bug(
    'file',
    'the tokens that a boot of the machine skips were not on the disk before the first token: after a second power cut tokens were given out again',
    scene(
      'test/backends/file/store.test.ts',
      'a new start of the machine is on the disk before the first token, whatever the durability',
    ),
  ),
  bug(
    'redis',
    'a release handed the key to the next claim of a memo without a look at the value: it ran again beside a result, and no attempt was counted',
    onEveryEngine('laws/values', 'the next claim of a release is not granted past words that answer it'),
  ),
  bug(
    'quorum',
    'a vote counted whose session had ended before the vote was read, and no loss was told: two held',
    scene(
      'test/backends/quorum/votes.test.ts',
      'a vote does not count when its session has ended before the vote is read',
    ),
  ),
  bug(
    'quorum',
    'after a long stall an expired hold was forgotten without a release: a session node kept its vote until its process ended',
    scene(
      'test/backends/quorum/holds.test.ts',
      'a hold that has expired is freed where a session still carries it, though its process stood still for long',
    ),
  ),
  bug(
    'quorum',
    'a reader of a quorum inside a quorum raised the tokens of all other keys beyond what some engines can store',
    scene('test/backends/quorum/votes.test.ts', 'a reader of a quorum inside a quorum raises no token of other keys'),
  ),
  bug(
    'core',
    'two writers, or a writer beside a reader, ran inside one hold when each was called inside a reader inside the writer',
    onEveryEngine(
      'lock-laws/releasing',
      'a writer may read inside; a reader that would write inside is told of the deadlock',
    ),
  ),
  bug(
    'core',
    'run() of all() began its function without the hold of an earlier key that had ended since the last grant',
    scene(
      'test/core/multi-lock.test.ts',
      'all() never begins its function when one of its holds has ended since the last grant',
    ),
  ),
  bug(
    'core',
    'one renewal that gave NaN as the time of a lease ended the renewal of all holds of the Locks, and no loss was told',
    scene(
      'test/core/watchdog.test.ts',
      'a renewal that gives no number as the time of a lease ends no renewal of other holds',
    ),
  ),
  bug(
    'core',
    'a hint of a user’s backend that was no text ended the process at a forced release',
    scene(
      'test/core/forced-release.test.ts',
      'a forced release ends a hold of an engine that keeps a hint that is no text',
    ),
  ),
  bug(
    'redis',
    'with replicas: an attempt that too few replicas had was given back while its claim asked again, and the release freed the later grant: two held',
    scene(
      'test/backends/redis-sentinel/acknowledged.test.ts',
      'an attempt again waits until what too few replicas have is given back, so a grant stays, by %s',
    ),
  ),
  bug(
    'idempotency',
    'a replay or a refusal was never sent on a route of Nest whose handler had taken the response',
    scene(
      'test/idempotency/nest.test.ts',
      'a handler with %s sends its own answer; a replay and a refusal are sent, too',
    ),
  ),
  bug(
    'idempotency',
    'a handler that failed after `writeHead` ended the process, or its client got no answer and the key stayed taken',
    scene(
      'test/idempotency/begun.test.ts',
      '%s: a handler that fails after `writeHead` gets the answer of its error, and ends no process',
    ),
  ),
  bug(
    'idempotency',
    'an Observable of Nest whose client left kept its key taken without end',
    scene('test/idempotency/nest.test.ts', 'an Observable that Nest drops, since its client is gone, frees the key'),
  ),
  bug(
    'idempotency',
    'the answer of an error was appended to what the handler had written before, with a wrong length, and the mixture was kept',
    scene(
      'test/idempotency/begun.test.ts',
      '%s: a handler that fails after a part of its answer gets the answer of its error alone',
    ),
  ),
  bug(
    'idempotency',
    'headers that a middleware of Hono had set for the first request, such as its id, were repeated in replays',
    scene(
      'test/idempotency/replayed.test.ts',
      'Hono: a header of a middleware before the handler is not repeated, also for a response %s',
    ),
  ),
  bug(
    'idempotency',
    'a replay without a body had the type of a binary file on Fastify',
    scene('test/idempotency/replayed.test.ts', 'Fastify: a replay without a body has no type of a body'),
  ),
  bug(
    'idempotency',
    'a replay with status 204 or 304 had a body and its length',
    scene(
      'test/idempotency/replayed.test.ts',
      'a replay with status %i has no body and no length, although its handler gave a body',
    ),
  ),
  bug(
    'transactions',
    'on MySQL, the character set of the connection changed the key and the value of keepIn: keys shared a row, and a key could be read as SQL',
    scene('test/transaction/keep.test.ts', 'a key and a value keep all their characters on a connection that speaks …'),
  ),
  bug(
    'mysql',
    'a renewal confirmed a claim that only waited: after a forced release a notified grant counted beside the next holder',
    onEveryEngine('laws/expiry', 'a renewal confirms no claim that only waits'),
  ),
  bug(
    'core',
    'inside a run of a key, a run that had given its place back ran beside the next caller there',
    scene(
      'test/core/re-entrance.test.ts',
      'a run inside another one that gives its place back does not run beside the next caller there',
    ),
  ),
  bug(
    'core',
    'inside a run of a key, work that a run had left behind was beside the next caller there',
    scene(
      'test/core/re-entrance.test.ts',
      'work that a run inside another one did not await keeps the next caller there out',
    ),
  ),
  bug(
    'core',
    'a caller inside a writer could not write once it had given its read back: a false deadlock',
    scene(
      'test/core/re-entrance.test.ts',
      'a reader inside a writer that was given back does not keep its caller from writing',
    ),
  ),
  bug(
    'core',
    'an extension without a confirmation, whose lease was released before the answer, shortened a later one: two could hold',
    scene(
      'test/core/lease.test.ts',
      'an extension whose lease was released before its answer is still in doubt for the leases around it',
    ),
  ),
  bug(
    'core',
    'a hold whose renewal failed in the turn of its release passed on, though the renewal could still arrive',
    scene(
      'test/core/hand-off.test.ts',
      'a hold whose renewal %s in the turn of its release goes back to the engine: the renewal may still arrive',
    ),
  ),
  bug(
    'redis',
    'a request that ioredis sent again in database 0 after a lost connection counted, since a later SELECT was accepted: two held a lock, and a fence took an old token',
    scene('test/backends/redis/database.test.ts', 'a grant there does not count, while another client holds the lock'),
  ),
  bug(
    'redis',
    'with replicas, a node-redis client that chose its database by select() took its locks in the database of its options',
    scene(
      'test/backends/redis/database.test.ts',
      'a database that was chosen by select() is that of the connections of ours, too',
    ),
  ),
  bug(
    'redis',
    'a release on a server that was short of memory forgot the last token, and a next token could be lower',
    scene(
      'test/backends/redis/server.test.ts',
      'short of memory, a release keeps the last token that is ahead of the clock, and as long as before',
    ),
  ),
  bug(
    'redis',
    'a connection of ours over ioredis that was no longer wanted before it was opened stayed open',
    scene(
      'test/backends/redis/closing.test.ts',
      'a connection of its own that is no longer wanted when it should be opened is not opened',
    ),
  ),
  bug(
    'quorum',
    'the hints of a node that had restarted empty counted as those of its earlier run until a claim noticed the restart: the long lease that this run had known was forgotten, and two held',
    scene(
      'test/backends/quorum/guard.test.ts',
      'a node that restarts empty while another waits for the lease that it remembered lets no second holder in, although its hints are read before its run is known',
    ),
  ),
  bug(
    'quorum',
    'without the guard against restarts, a renewal while a Redis node was down ended the process with an unhandled rejection',
    scene(
      'test/backends/quorum/renewals.test.ts',
      'a renewal without a guard against restarts asks no node for its run, so a node that is down ends no process',
    ),
  ),
  bug(
    'quorum',
    'a vote that came after the release of its ballot was not released if another claim had noticed a restart of its node, and kept the key for a whole lease',
    scene(
      'test/backends/quorum/node-claim.test.ts',
      'a grant %s before the grant is counted is released if the ballot is over',
    ),
  ),
  bug(
    'mysql',
    'close() left the connection for renewals open where the server fell silent, and the process did not end',
    scene(
      'test/backends/mysql/busy-pool.test.ts',
      'close() leaves no socket of our own connection, which %s, where the server fell silent',
    ),
  ),
  bug(
    'mysql',
    'a queue of more than half of max_allowed_packet could not be stored without a holder that had died, so its waiters waited without end',
    scene(
      'test/backends/mysql/table.test.ts',
      'a queue that takes no more claims is still stored without a holder that has died',
    ),
  ),
  bug(
    'mysql',
    'after a fail-over, a claim of mysqlNamed that stopped waiting ended the session of another program that had its number on the new primary',
    scene(
      'test/backends/mysql/named.test.ts',
      'a claim that stops waiting ends no session of the server that has taken over',
    ),
  ),
  bug(
    'core',
    'a waiter that was admitted and evicted before it read either message counted on its grant, beside the next holder',
    scene(
      'test/core/forced-release.test.ts',
      'a waiter that was admitted and evicted before it read either message is no holder',
    ),
  ),
  bug(
    'etcd',
    'permits that waited wrote without end while no hold ended: a write of one made the next one move its key, and so on',
    scene(
      'test/backends/etcd/waiting.test.ts',
      'permits that joined at once and wait write nothing while no hold ends',
    ),
  ),
  bug(
    'zookeeper',
    'the id of a claim that was refused before it was sent stayed in memory for as long as the process used the engine',
    scene(
      'test/backends/zookeeper/refused.test.ts',
      'an acquire that is refused before it is sent leaves nothing in this process',
    ),
  ),
  bug(
    'zookeeper',
    'the release of a claim whose late node was still there said that no node was, if a later attempt had found no connection',
    scene(
      'test/backends/zookeeper/given-up.test.ts',
      'the release of a claim removes its late node, though a later attempt found no connection',
    ),
  ),
  bug(
    'etcd',
    'an attempt whose keep-alive was slow answered that its claim was refused, after a notification had granted the claim',
    scene(
      'test/backends/etcd/waiting.test.ts',
      'an attempt that is answered after a notification has granted its claim is granted, too',
    ),
  ),
  bug(
    'register',
    'after its machine had slept, a process read of a hold that was alive, counted the sleep as time without a sign of life, and became a second holder',
    scene(
      'test/backends/register/slept.test.ts',
      'a hold that a watch shows after a sleep is not over when the clock is corrected',
    ),
  ),
  bug(
    'quorum',
    'a node whose restart was noticed after a sleep of the machine counted too early: the sleep counted as time since the restart',
    scene(
      'test/backends/quorum/slept.test.ts',
      'a node whose restart is noticed after a sleep does not count when the clock is corrected, but after the longest lease',
    ),
  ),
  bug(
    'core',
    'a hold that a renewal, an extension or a question found gone in the turn of its release passed on to the next caller',
    scene('test/core/hand-off.test.ts', 'a hold that %s finds gone in the turn of its release does not pass on'),
  ),
  bug(
    'core',
    'a hold passed on between the notification of its end and the question that follows, so two held until the next renewal',
    scene(
      'test/core/hand-off.test.ts',
      'a hold whose engine has just told of its end, and was not asked yet, goes back where it else %s',
    ),
  ),
  bug(
    'core',
    'after maxHold, a renewal by the worker that was answered late made the deadline later than the lease on the engine',
    scene(
      'test/core/stand-in.test.ts',
      'what the stand-in confirms late does not make a hold last longer than the engine, once the hold is not renewed any more',
    ),
  ),
  bug(
    'core',
    'a refused extension made the next renewal shorten the lease that a renewal beside it had confirmed',
    scene(
      'test/core/lease.test.ts',
      'an extension that the engine refuses, beside a renewal that had the longer lease, shortens no lease that the holder counts on',
    ),
  ),
  bug(
    'core',
    'a hold passed on to a caller whose notice was due at once, which was told of a loss that was none',
    scene(
      'test/core/hand-off.test.ts',
      'a hold does not pass on to a caller whose notice of a loss would be due before a renewal',
    ),
  ),
  bug(
    'core',
    'a hold lingered while a caller of its process waited in the queue of the engine',
    scene(
      'test/core/linger.test.ts',
      'a hold does not linger where a caller of its process waits in the queue of the engine',
    ),
  ),
  bug(
    'core',
    'a waiter that was evicted while the answer with its grant was on the way counted on the answer, beside the next holder',
    scene(
      'test/core/forced-release.test.ts',
      'a waiter that is evicted while the answer with its grant is on the way is no holder',
    ),
  ),
  bug(
    'postgres',
    'advisory locks of two schemas with one prefix were the same locks, with tokens of two sequences: a later token was lower',
    scene('test/backends/postgres/advisory.test.ts', 'another %s is another set of locks: it has other tokens'),
  ),
  bug(
    'postgres',
    'a connection on which the look for a pooler failed stayed open for good, and the next try opened another',
    scene('test/backends/postgres/lease.test.ts', 'a session on which %s failed is ended'),
  ),
  bug(
    'postgres',
    'while listening could not be had, as behind a pooler, each attempt of each waiter opened a connection, without the pause',
    scene(
      'test/backends/postgres/listening.test.ts',
      'while no connection listens, waiters that ask do not dial before the pause is over',
    ),
  ),
  bug(
    'mysql',
    'named locks of two tables with one prefix were the same locks, with tokens of two tables: a later token was lower',
    scene('test/backends/mysql/named.test.ts', 'another table is another set of locks: it has other tokens'),
  ),
  bug(
    'core',
    'a waiter that took the place of a released hold, and was evicted while the answer to that release was on the way, held beside the next holder',
    scene(
      'test/core/forced-release.test.ts',
      'a waiter that is evicted while the answer to the release before it brings its grant is no holder',
    ),
  ),
  bug(
    'core',
    'the result of a memo whose function had blocked the event loop was dropped, though the renewal thread had kept its hold',
    scene(
      'test/core/stand-in.test.ts',
      'the result of a memo whose function blocked this thread is kept, where the stand-in has renewed the hold until then',
    ),
  ),
  bug(
    'core',
    'a hold that was evicted passed on beside a caller of its process to which the engine had granted the key, with a lower token',
    scene(
      'test/core/hand-off.test.ts',
      'a hold does not pass on once the engine has granted its key to another caller of this process',
    ),
  ),
  bug(
    'mysql',
    'with sql_safe_updates, MariaDB refused the renewal of several holds of one process: all of them were lost',
    scene(
      'test/backends/mysql/safe-updates.test.ts',
      'several holds of one process are renewed where the server allows no update without a key',
    ),
  ),
  bug(
    'connect',
    'close() of connect() to PostgreSQL or MySQL left connections open where the server fell silent, and the process did not end',
    scene('test/connect/goodbye.test.ts', 'close() leaves none of them open where the server fell silent'),
  ),
  bug(
    'connect',
    'a renewal by the thread was forgotten once another hold had the place of its hold: it could arrive after an extension by the next holder, and shorten it',
    scene(
      'test/connect/next-thread.test.ts',
      'a renewal on its way when its hold ends stays in doubt, also when another hold has the slot and is renewed',
    ),
  ),
  bug(
    'fence',
    'a guard that was made with the query of a transaction refused the newest holder, whose claim was given that query, as its example has it',
    scene(
      'test/fence/servers.test.ts',
      'a fence made with the query of a transaction is claimed in it, if claim is given that query',
    ),
  ),
  bug(
    'transaction',
    'inTransaction of the pages told of success where PostgreSQL had undone it all: its work had hidden the error of a query',
    scene(
      'test/docs/blocks/sql.test.ts',
      'a transaction by hand is done as a whole, or not at all, and gives its connection back',
    ),
  ),
  bug(
    'idempotency',
    'a handler that answered a second time gave the first answer another status and length: a payment that was made was a 500, or its client waited for ever',
    scene('test/idempotency/begun.test.ts', '%s: the status and the headers of a second answer are dropped with it'),
  ),
  bug(
    'idempotency',
    'with Express 4, bodies that no parser had read were all the same: another request under the key got the answer of the first, and no 422',
    scene(
      'test/idempotency/unread.test.ts',
      'a body that no parser of Express 4 has read is refused; one that is empty is not',
    ),
  ),
  bug(
    'otel',
    'with keys: false the error of a span named the key in its message',
    scene('test/otel/spans.test.ts', 'with keys: false the error of a span tells no key either'),
  ),
  bug(
    'register',
    'where a store removes what is old, the refusal of a lease that was too long also failed the other attempts, the renewals and the releases of the same write',
    scene(
      'test/backends/register/proof.test.ts',
      'a lease that the store would not keep is refused alone: the other steps of the same write are done',
    ),
  ),
  bug(
    'register',
    'a queue had no limit but that of its store, so very many waiters made its text too long: the store refused each further write, and a healthy holder lost its lease',
    scene(
      'test/backends/register/full.test.ts',
      'a full queue takes no further claim, so its holder can renew, with a clock of the store: %s',
    ),
  ),
  bug(
    'core',
    'a caller that inherited the claim of another one slept as long as the pauses of that one: a lock that was free for half a minute was not taken',
    scene(
      'test/core/heir.test.ts',
      'a caller asks as often as its own options say, after another one of its process with longer pauses gave up',
    ),
  ),
  bug(
    'core',
    'a waiter behind a release without an answer had the error of the outage after up to 20 s, and not after 15 s',
    scene(
      'test/core/outage.test.ts',
      'a waiter behind a release that gets no answer ends within 15 s, with a ttl of %i ms',
    ),
  ),
  bug(
    'core',
    'in an outage all() released what it had before its caller got the error, 5 s later',
    scene(
      'test/core/outage.test.ts',
      'a caller of several keys ends within 15 s of an outage, though the release of those that it has gets no answer',
    ),
  ),
  bug(
    'memo',
    'a loop of refused calls of a memo let no timer and no socket run: the run that it waited for never ended',
    scene('test/core/starving.test.ts', 'a loop of refused memos lets timers and sockets run: %s'),
  ),
  bug(
    'memo',
    'with a keep below a minute, a result that could not be kept refused all callers for a minute, and not for keep',
    scene('test/memo/decisions.test.ts', 'what a later caller finds: %s'),
  ),
  bug(
    'redis',
    'a release after the clock of the server was set back forgot the last token too early, so the next token could be lower',
    scene('test/backends/redis/hit-clock.test.ts', 'stays until that clock has passed it: %s'),
  ),
  bug(
    'redlock',
    'one node whose clock was a day ahead raised the tokens of all keys at all nodes, which then kept each idle key for a day',
    scene(
      'test/backends/redlock/clock-ahead.test.ts',
      '%i nodes: tokens of all keys follow the clocks of the others, and idle keys are forgotten',
    ),
  ),
  bug(
    'zookeeper',
    'the notification of the next permit was lost if the link was cut before the server had it: the waiter noticed up to 10 s later',
    scene(
      'test/backends/zookeeper/line.test.ts',
      'a permit gets its turn in time, though the link of the permit before it is cut as that one makes the turn known',
    ),
  ),
  bug(
    'zookeeper',
    'the counts of runs that failed were never removed: they grew without bound where no run stored a value',
    scene(
      'test/backends/zookeeper/values.test.ts',
      'an attempt that is counted removes counts of other keys that are over, too',
    ),
  ),
  bug(
    'zookeeper',
    'each key on which a memo had waited left a watch, in the process and on the server, until its value changed or the connection ended',
    scene(
      'test/backends/zookeeper/values.test.ts',
      'a wait for a value that never comes leaves nothing behind, in the process and on the server',
    ),
  ),
  bug(
    'file',
    'a process that died just as another one connected to it was not found dead: its hold lasted until the lease ended',
    scene(
      'test/backends/file/peers.test.ts',
      'a process that dies while another one connects to it is found dead at once',
    ),
  ),
  bug(
    'postgres-advisory',
    'an index that was made concurrently inside the lock waited for the waiters of the lock: for ever',
    scene(
      'test/backends/postgres/advisory.test.ts',
      'inside the lock an index can be made concurrently while others wait for the lock',
    ),
  ),
  bug(
    'zookeeper',
    'an acquire that the server refused stayed in memory until the next connection',
    scene(
      'test/backends/zookeeper/access.test.ts',
      'acquires that the server refuses a stranger leave nothing in this process',
    ),
  ),
  bug(
    'register',
    'after an outage the queue of each key stayed in memory',
    scene(
      'test/backends/register/outage.test.ts',
      'the queue of a key whose write was not answered is kept while its claim may be released, and no longer',
    ),
  ),
];

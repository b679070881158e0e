/** Mutants that no test can tell from the sources, or that change nothing that is promised: by their ids, and why. */
export const EQUIVALENT: Readonly<Record<string, string>> = {
  'src/core/line/acquire-request.ts#AcquireRequest.limit 7fcddce@465+4: true => false':
    'The listener is taken away in any case.',
  'src/core/line/acquire-request.ts#AcquireRequest.settle da996dc@137+21: this.#named = NOBODY; => guard':
    'A request is settled once; what settles it again comes to no hold that is still counted.',
  'src/core/line/acquire-request.ts#AcquireRequest.circumstances 674a3a3@107+75: !this.#around && !this.resolved.beside?.lengt … == undefined => false':
    'Of nobody around there is nothing to tell either way; the question before only costs less.',
  'src/core/holds/adaptive-history.ts#AdaptiveHistory.lengthen 48fc93c@262+1: 0 => 1':
    'No lease is as short as 1 ms, so one that was not learnt lengthens none.',
  'src/core/holds/adaptive-history.ts#AdaptiveHistory.lengthen 48fc93c@239+24: this.#before?.lease ?? 0 => this.#before?.lease':
    'Without a lesson there is no number, which is not more than any lease either.',
  'src/core/holds/adaptive-history.ts#AdaptiveHistory.lengthen 48fc93c@294+20: > => >=':
    'A lease that is made as long as it is.',
  'src/core/holds/adaptive-history.ts#unlessAborted 531fc29@311+4: true => false':
    'The listener is taken away in any case.',
  "src/core/holds/adaptive.ts#read acc6301@119+10: text ?? '' => text":
    'What is not there is looked at as the word "undefined", which is no lesson.',
  "src/core/line/acquire-request.ts#AcquireRequest.beginsToWait 52520f6@111+9: 'waiting' => ''":
    'Neither of the states that are asked for.',
  'src/core/line/acquire-request.ts#aborted 7204509@81+23: resolved.signal?.reason => resolved.signal.reason':
    'Only a signal aborts.',
  'src/core/contract/admission.ts#FEW 66f2f72@12+1: 4 => 0':
    'A room that nobody names is forgotten sooner, which only costs time.',
  'src/core/contract/admission.ts#FEW 66f2f72@12+1: 4 => (4 * 10)':
    'A room that nobody names is forgotten later, which only costs space.',
  'src/core/contract/admission.ts#Tally.remove 09259ad@117+36: left === 0 && this.#rooms.size > FEW => false':
    'A room that nobody names counts for nothing, forgotten or not.',
  'src/core/contract/admission.ts#Tally.remove 09259ad@148+22: > => >=':
    'A room that nobody names counts for nothing, forgotten or not.',
  'src/core/contract/admission.ts#Tally.remove 09259ad@148+22: > => <=':
    'A room that nobody names counts for nothing, forgotten or not.',
  'src/core/contract/admission.ts#Tally.remove 09259ad@235+35: left > 0 || seats.of !== this.#room => false':
    'The smallest room is looked for where it is known, which only costs time.',
  'src/core/contract/admission.ts#Tally.remove 09259ad@235+35: left > 0 || seats.of !== this.#room => (left > 0) && (seats.of !== this.#room)':
    'The smallest room is looked for where it is known, which only costs time.',
  'src/core/contract/admission.ts#Tally.remove 09259ad@242+1: 0 => 1':
    'The smallest room is looked for where it is known, which only costs time.',
  'src/core/contract/admission.ts#Tally.remove 09259ad@390+17: < => <=': 'The same number is kept.',
  'src/core/claims/asked-claim.ts#AskedClaim.lasts d460cf3@285+40: > => >=':
    'A moment later nothing is left of it either.',
  'src/core/claims/asked-claim.ts#AskedClaim.lasts d460cf3@325+36: > => >=':
    'A moment later nothing is left of it either.',
  'src/core/engine/alarm.ts#Alarm.by 92ee2bd@36+16: >= => >': 'The timer is set anew for the same moment.',
  'src/core/engine/busy-poll.ts#BusyPoll.until af774af@9+1: 0 => 1': 'It is set before it is read.',
  'src/core/engine/busy-poll.ts#BusyPoll.turns b528781@9+1: 0 => 1': 'It is set before it is read.',
  'src/core/engine/busy-poll.ts#BusyPoll.polling d4d8046@11+5: false => true':
    'Nothing is answered before the first call has begun, which sets it.',
  'src/core/engine/busy-poll.ts#BusyPoll.turn 40b1aa4@135+31: < => <=':
    'One turn of the loop more, at the very moment of the limit.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.begin 48fa544@118+2: -1 => 1': 'The bag sets it.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.begin 48fa544@119+1: 1 => 0': 'The bag sets it.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.begin 48fa544@119+1: 1 => 2': 'The bag sets it.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.look 9d4154b@282+7: + => -':
    'Of a timer for less than 1 ms Node makes one for 1 ms.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.look 9d4154b@284+1: 1 => 0':
    'Of a timer for less than 1 ms Node makes one for 1 ms.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.look 9d4154b@284+1: 1 => 2':
    'A ms later; what counts is that the sockets come first.',
  'src/core/contract/clock.ts#systemClock 0f9c583@354+38: wall = Date.now() - performance.now(); => guard':
    'The uptime is read each time from then on, which only costs time.',
  'src/core/contract/context.ts#MANUAL 6b93ae1@39+4: true => false':
    'Only hooks that look for the end of a resource see it.',
  "src/core/contract/context.ts#Context.resource 4800fe4@39+10: 'holdfast' => ''":
    'A name for tools that look at resources.',
  "src/core/contract/context.ts#nobody 8e26069@33+10: 'holdfast' => ''": 'A name for tools that look at resources.',
  'src/core/contract/clock.ts#randomId aee8479@36+23: drawn === digits.length => true':
    'Bits are drawn for each id, which only costs time.',
  'src/core/contract/clock.ts#randomId aee8479@88+2: 16 => (16 * 10)': 'Bits are drawn for more ids at a time.',
  'src/core/contract/clock.ts#randomId aee8479@93+2: 64 => (64 * 10)': 'Bits are drawn for more ids at a time.',
  'src/core/contract/clock.ts#systemClock 0f9c583@301+55: > => >=': 'A quarter of a second, to the last bit.',
  'src/core/contract/clock.ts#systemClock 0f9c583@485+13: > => >=': 'A quarter of a second, to the last bit.',
  'src/core/claims/delay.ts#delayOf b249c54@344+1: 0 => 1':
    'Half of 1 ms leaves no delay but 0, which was answered before.',
  'src/core/claims/sent-claim.ts#Outage.exceeds 4d5d870@107+19: this.#since ?? sent => this.#since':
    'Nothing is later than what is not known, as nothing is later than itself.',
  'src/primitives/stop.ts#Stop.constructor 3046eb4@216+4: true => false': 'The listener is taken away in any case.',
  'src/core/engine/engine.ts#Engine.inspect 1d0ae80@975+20: standings.return?. => standings.return':
    'In a function whose failure is dropped.',
  'src/core/contract/events.ts#emit 5ec6258@140+30: !channels[name].hasSubscribers => false':
    'What nobody listens to is made for nobody, which only costs time.',
  'src/core/line/acquire-request.ts#RequestEvents.tell 65ee30a@112+29: channels[name].hasSubscribers => true':
    'It is asked again before anything is made.',
  'src/core/line/acquire-request.ts#RequestEvents.event d15429b@634+41: more ? Object.assign(event, more) : event => Object.assign(event, more)':
    'Nothing is assigned of what is undefined.',
  'src/core/engine/listener.ts#Listener.watchFor 6d72d53@130+171: this.#backend.watch?. => this.#backend.watch':
    'What throws is no more than a watch that is not there.',
  'src/core/engine/listener.ts#Listener.watchFor 6d72d53@324+31: { return undefined; } => skip':
    'A function that ends gives undefined.',
  'src/core/engine/listener.ts#dispose 1f10e8e@74+5: watch => true': 'What throws there is ignored.',
  'src/core/holds/hold-timing.ts#HoldTiming.constructor fae032f@905+20: > => >=':
    'A lease that lasts just what was asked for from now was asked for now.',
  'src/core/holds/hold.ts#Hold.slot 81a73d6@7+2: -1 => 1': 'The bag sets it.',
  'src/core/holds/hold.ts#Hold.slot 81a73d6@8+1: 1 => 0': 'The bag sets it.',
  'src/core/holds/hold.ts#Hold.slot 81a73d6@8+1: 1 => 2': 'The bag sets it.',
  'src/core/contract/key.ts#checkKey ef07fd1@325+30: > => >=': 'No length is a third of 512.',
  'src/core/contract/key.ts#checkKey ef07fd1@323+1: 3 => (3 * 10)':
    'Shorter keys are counted as well, which only costs time.',
  'src/core/line/line.ts#ArrivalLine.leave 90acb0c@100+24: this.#outside.size === 0 => false':
    'Of nobody outside nobody comes in; the question before only costs less.',
  'src/core/line/line.ts#ArrivalLine.exit ca7a5fe@199+4: true => false':
    'Who was inside is not outside, and is not found there.',
  'src/core/line/line.ts#ArrivalLine.head 2a1910c@39+74: this.#outside.size === 0 ? undefined : this.#outside.values => this.#outside.values':
    'The first of nobody is undefined as well; the question before only costs less.',
  'src/core/contract/origin.ts#read 070e944@531+63: { return undefined; // no percent-encoding, so not ours } => skip':
    'A function that ends gives undefined.',
  'src/core/contract/origin.ts#read 070e944@140+44: process === undefined || claim === undefined => (process === undefined) && (claim === undefined)':
    'What matches has both, what does not has neither.',
  'src/core/claims/pause.ts#watchedPause 80b45cc@48+1: 1 => 0':
    'One that is next has nobody before it in either count.',
  "src/core/line/reentrancy.ts#RULES ca1860b@231+6: 'line' => ''": 'Neither of the rules that are asked for.',
  "src/core/line/reentrancy.ts#RULES ca1860b@285+6: 'line' => ''": 'Neither of the rules that are asked for.',
  "src/core/line/reentrancy.ts#RULES ca1860b@302+6: 'line' => ''": 'Neither of the rules that are asked for.',
  "src/core/claims/queued-claim.ts#verdictOn 22b2020@202+9: 'unknown' => ''":
    'After neither there is anything to do but to wait.',
  'src/core/claims/queued-claim.ts#QueuedClaim.pauseAfter d8c71b4@370+1: 1 => 0':
    'Of a timer for less than 1 ms Node makes one for 1 ms.',
  'src/backends/shared/server-clock.ts#ServerClock.learn 2408117@275+19: > => >=': 'The same number is kept.',
  'src/backends/quorum/ballot.ts#Ballot.voted 077d543@135+28: > => >=': 'The same number is kept.',
  "src/backends/quorum/ballot.ts#Ballot.voted 077d543@223+36: this.#state === 'held' && this.#lost => (this.#state === 'held') || (this.#lost)":
    'A hold without a signal keeps the majority that it was won with, or that confirmed it; after a release nobody listens to a session.',
  'src/backends/quorum/ballot.ts#Ballot.on 1aee7b6@90+19: next ?? this.#state => next':
    'Only a claim that was released is asked to open: what state it is in then, nobody asks.',
  'src/backends/quorum/ballot.ts#Ballot.win 513bd79@191+27: fenced ? ticket : undefined => undefined':
    'When it is won, all votes there are have the number: who gave a lower one is being asked anew.',
  'src/backends/quorum/ballot.ts#proposalOf 72ba63c@32+2: 0n => 1n':
    'Both are no more than the number that is proposed without it.',
  'src/backends/quorum/contention-backoff.ts#ContentionBackoff.refused 1dc161e@397+20: oldest !== undefined => true':
    'No key is undefined, so nothing is deleted.',
  'src/backends/quorum/contention-backoff.ts#ContentionBackoff.released c5ee84e@243+27: this.#meetings.delete(key); => guard':
    'What is that old counts for nothing, and their number is bounded: it is only forgotten sooner.',
  'src/backends/quorum/identity.ts#Identity.knownAt 1a77cf2@11+1: 0 => 1': 'It is set before it is read.',
  'src/backends/quorum/link.ts#Link.probeAt c8f3168@11+1: 0 => 1': 'It is set before it is read.',
  "src/backends/quorum/link.ts#Link.ask 8eda0c7@144+8: 'silent' => ''": 'Whatever does not answer is silent.',
  'src/backends/quorum/memory.ts#classes 3f039b8@116+15: < => <=':
    'The steps of a decade that begins with the longest lease are no shorter than that, so none is taken.',
  "src/backends/quorum/node-answer.ts#lostOf 4620d24@70+43: said.kind === 'yes' ? said.lost : undefined => said.lost":
    'No other answer has that field.',
  'src/backends/quorum/node-claim.ts#NodeClaim.sent aa41def@8+1: 0 => 1': 'It is set before it is read.',
  'src/backends/quorum/standings.ts#agreed 8e3aa23@121+5: < => <=':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#agreed 8e3aa23@128+1: 1 => 2':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#agreed 8e3aa23@132+1: 1 => 0':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#agreed 8e3aa23@132+1: 1 => 2':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#mostCommon d18a9d3@176+1: 0 => 1':
    'All are counted one too high, so which is highest stays.',
  'src/backends/quorum/standings.ts#mostCommon d18a9d3@181+1: 1 => 2':
    'All are counted twice, so which is highest stays.',
  'src/backends/quorum/tally.ts#tallyRelease 1ef07c8@166+1: 0 => 1': 'Nobody asks how many are unknown.',
  "src/backends/quorum/node-claims.ts#NodeClaims.heard a494b18@69+50: said.kind === 'yes' && claim.atLeast !== undefined => (said.kind === 'yes') || (claim.atLeast !== undefined)":
    'What is not there is less than no number, and nothing is less than it.',
  "src/backends/quorum/trust.ts#Trust.state 50ce9a6@16+8: 'unseen' => ''":
    'One that says who it is has another state from then on, and one that does not counts in either.',
  'src/backends/quorum/trust.ts#Trust.beginAnew 9c105a0@85+8: run?.age => run.age':
    'It begins anew when its run was recognised.',
  'src/backends/quorum/trust.ts#Trust.look 17c376a@361+1: 0 => 1': 'No lease is as short as 1 ms.',
  'src/primitives/lock.ts#LockObject.acquire 6675b8a@167+95: resolved.wait > 0 ? (obtained as Promise<L>) : obtained.then => obtained.then':
    'Who waits is never refused, so there is nothing to replace; it only costs a promise more.',
  'src/primitives/lock.ts#LockObject.acquire 6675b8a@183+1: 0 => 1':
    'Who waits for a ms is never refused, so there is nothing to replace.',
  'src/primitives/multi-lease.ts#firstOf 7edec5b@296+4: true => false': 'A signal is aborted once.',
  'src/primitives/multi-lock.ts#multiLock 922df92@647+15: < => <=':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/primitives/multi-lock.ts#multiLock 922df92@659+1: 1 => 2':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/primitives/multi-lock.ts#multiLock 922df92@663+1: 1 => 0':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/primitives/multi-lock.ts#multiLock 922df92@663+1: 1 => 2':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/primitives/multi-lock.ts#multiLock 922df92@731+5: + => -': 'Of twins in a row each stands beside the other.',
  'src/primitives/semaphore.ts#semaphore 7473993@610+1: 1 => 0':
    'What runs inside of it does not ask how many permits it has.',
  'src/primitives/semaphore.ts#semaphore 7473993@610+1: 1 => 2':
    'What runs inside of it does not ask how many permits it has.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@909+1: 0 => 1':
    'Of the two that are read then, the first is looked at.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@963+2: <= => <':
    'What runs out in this very ms comes back with the next step, and every answer that depends on it is given by step.lua.',
  'src/stock/redis/lua/rights.lua#script bfaff24@382+1: 0 => 1': 'XX adds nobody, whatever the score.',
  "src/stock/redis/lua/step.lua#whole d4fa436@4986+39: step.op == 'look' or step.op == 'tally' => true":
    'The right is tried where it is not needed, too: everybody who sells has it.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@745+1: 0 => 1':
    'It is told only with a ttl, and then it is the clock’s.',
  'src/stock/redis/lua/rights.lua#script bfaff24@568+1: 1 => 2':
    'Nobody reads the answer: what counts is that there is one.',
  "src/stock/redis/lua/quick.lua#script 4c39b57@755+25: ttl > 0 or cell[3] ~= '0' => true":
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@759+1: > => >=':
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@771+1: 3 => 0':
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@771+1: 3 => 30':
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@1574+8: done > 0 => true':
    'Of nothing done the same numbers are written again.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@1579+1: > => >=': 'Of nothing done the same numbers are written again.',
  'src/stock/redis/lua/quick.lua#script 4c39b57@1652+1: > => >=': 'Of what is sold at once nobody reads the clock.',
  "src/stock/redis/lua/rights.lua#script bfaff24@445+31: call('HSETNX', KEYS[2], '', '') => nothing":
    'It is the first of quick.lua that changes anything, so a refusal there leaves nothing half done.',
  'src/stock/redis/lua/rights.lua#script bfaff24@532+1: 0 => 1':
    'What was counted is taken away by the next line, whose right was tried before.',
  'src/stock/redis/lua/rights.lua#script bfaff24@568+1: 1 => 0':
    'Nobody reads the answer: what counts is that there is one.',
  "src/stock/redis/lua/step.lua#text_of 42af7a1@52+57: units, til = ('%.0f'):format(units), ('%.0f'):format(til) => nothing":
    'Lua writes whole numbers of up to 14 digits as they are; an order has at most 10 of them, and a time 13.',
  "src/stock/redis/lua/step.lua#give_back_due 911e9bc@447+11: buyer ~= '' => true":
    'Nothing is counted for nobody, so nothing is there to take away.',
  'src/stock/redis/lua/step.lua#give_back_due 911e9bc@473+17: not bought[buyer] => true':
    'A buyer that is named twice gets the same number twice, which only costs.',
  'src/stock/redis/lua/step.lua#give_back_due 911e9bc@763+1: 0 => 1': 'Whoever has a reservation has a count.',
  'src/stock/redis/lua/step.lua#give_back_due 911e9bc@961+1: 0 => 1': 'It has two for each buyer.',
  'src/stock/redis/lua/step.lua#fenced 9198eb6@158+1: > => >=': 'Of the same token it was answered before.',
  "src/stock/redis/lua/step.lua#whole d4fa436@5068+18: step.op == 'tally' => true":
    'The right is tried where it is not needed, too: everybody who sells has it.',
  'src/stock/redis/lua/step.lua#whole d4fa436@5136+1: 1 => 2':
    'What is found is not read: what counts is that there is an answer.',
  'src/stock/redis/lua/step.lua#whole d4fa436@5584+1: 0 => 1': 'It has two for each field.',
  'src/backends/redis/lua/include/take.lua#behind efed5a9@81+1: < => <=':
    'One ticket is what comes of room for one in either way.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@1719+1: 0 => 1':
    'How many named the room is asked for only where it is less than all seats, and then it was counted from 0 again.',
  'src/backends/redis/lua/include/release.lua#release d7d6af4@733+1: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/release.lua#release d7d6af4@315+1: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/release.lua#release d7d6af4@174+1: 1 => 0':
    'An id has no blank and is not empty, so the first one is found from either place, by either way.',
  'src/backends/redis/lua/include/release.lua#release d7d6af4@174+1: 1 => 2':
    'An id has no blank and is not empty, so the first one is found from either place, by either way.',
  'src/backends/redis/lua/include/release.lua#release d7d6af4@177+4: true => false':
    'An id has no blank and is not empty, so the first one is found from either place, by either way.',
  'src/backends/redis/lua/include/release.lua#release d7d6af4@553+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/evict.lua#script 848fb2b@821+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/standing.lua#standing 7919a81@206+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/inspect.lua#script 6f1843b@859+1: < => <=':
    'No score is 0: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/inspect.lua#script 6f1843b@861+1: 0 => 1':
    'No score is 0: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/inspect.lua#script 6f1843b@889+1: < => <=':
    'No score is 0: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/inspect.lua#script 6f1843b@891+1: 0 => 1':
    'No score is 0: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/release.lua#script 6a44ad9@585+10: #ARGV == 1 => false':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/release.lua#script 6a44ad9@594+1: 1 => 0':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/release.lua#script 6a44ad9@673+1: 1 => 0': 'What stands at 0 is no part of a reply.',
  'src/backends/redis/lua/attempt.lua#script 6467e45@933+10: count == 1 => false':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/attempt.lua#script 6467e45@942+1: 1 => 0':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/attempt.lua#script 6467e45@1030+1: 1 => 0': 'What stands at 0 is no part of a reply.',
  "src/backends/redis/lua/evict.lua#evicted d46115e@273+13: ARGV[2] == '' => true":
    'Who waits is looked for with each portion then, which only costs.',
  'src/backends/redis/lua/evict.lua#evicted d46115e@630+1: 1 => 0': 'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/evict.lua#evicted d46115e@617+3: and => or':
    'Behind holders something always follows, and what is no number and no place among them is read as none.',
  'src/backends/redis/lua/include/portion.lua#portion 47968a0@243+1: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/include/portion.lua#portion 47968a0@313+1: * => /':
    'A portion that is not full is followed by an empty one, which only costs.',
  'src/backends/redis/lua/include/portion.lua#portion 47968a0@451+1: 2 => 0':
    'Before the first of a table there is nothing, which is no score.',
  'src/backends/redis/lua/renew.lua#renew_sole 771a4ef@152+4: true => false':
    'Who is not found by the whole text is compared by its parts, which only costs.',
  'src/backends/redis/lua/renew.lua#renew_sole 771a4ef@519+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/renew.lua#renew_sole 771a4ef@663+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/attempt.lua#attempt 35762cd@374+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/attempt.lua#attempt 35762cd@50+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/contended.lua#contention 2d1cdb5@1957+1: < => <=':
    'No score is 0 or 1: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/include/contended.lua#contention 2d1cdb5@1959+1: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/include/contended.lua#contention 2d1cdb5@423+2: 45 => 0':
    'A dash is before any digit, so the text of dashes is not more than any ticket.',
  'src/backends/redis/lua/include/contended.lua#contention 2d1cdb5@423+2: 45 => 450':
    'A dash is before any digit, so the text of dashes is not more than any ticket.',
  'src/backends/redis/lua/include/contended.lua#contention 2d1cdb5@632+1: 1 => 2':
    'What reaches just as far is written as the same number.',
  'src/backends/redis/lua/include/contended.lua#contention 2d1cdb5@634+1: < => <=':
    'What reaches just as far is written as the same number.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@1293+1: 0 => 1':
    'How many named the room is asked for only where it is less than all seats, and then it was counted from 0 again.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@1735+1: 0 => 1':
    'No key is to vanish in the first ms of 1970.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@1787+1: 0 => 1':
    'The last ticket, which is as good as the clock, is more than either.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@2267+1: 1 => 2':
    'Either way one holder leaves no room, and when it goes the sum begins anew.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@2270+1: 1 => 0':
    'Either way one holder leaves no room, and when it goes the sum begins anew.',
  "src/backends/redis/lua/include/line.lua#line_rule f7b813d@2893+64: type(redis.pcall('UNLINK', line.places, line. … ) == 'table' => true":
    'What was freed by the first command is not there for the second.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@3416+1: > => >=':
    'The last ticket of a free lock is remembered for longer.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@3567+1: > => >=':
    'The keys are kept longer, a step sooner.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@390+3: 500 => 5000':
    'More holders are counted anew by one script, which only costs time.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@4236+14: no_seats(line) => nothing':
    'The sweep that follows finds nobody, and begins anew.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@4368+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@470+6: 300000 => 0':
    'The keys are made to live longer with each step, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@470+6: 300000 => 3000000':
    'What a line of dead processes leaves is there for longer, which only costs space.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@4801+1: < => <=':
    'No score is 0 or 1: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@4803+1: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@5059+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  "src/backends/redis/lua/include/line.lua#line_rule f7b813d@5403+47: type(holders) == 'number' and holders > COUNTED => false":
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@5441+1: > => >=':
    'Where there are just as many, they are counted anew when the next one has left.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@5559+1: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@6084+1: > => >=':
    'Where no seat is taken nobody is found, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@6155+1: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tickets.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@6192+1: 1 => 2':
    'Only the first of those that are found is read.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@6312+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@6340+14: line.tight < 1 => true':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@6351+1: < => <=':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@6353+1: 1 => 2':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@7264+1: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@7267+4: true => false':
    'No sign of that text has another meaning in a pattern.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@8005+5: false => true':
    'Where no room is left no claim fits, and somebody holds: neither question needs this answer.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@8099+1: 1 => 2':
    'Only the first of those that are found is read.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@8520+1: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@8662+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@88+10: 2147483647 => 21474836470':
    'No lock has as many seats as either.',
  'src/backends/redis/lua/include/take.lua#behind efed5a9@104+1: < => <=':
    'Room for just as many is written as the same number.',
  'src/backends/redis/lua/include/take.lua#behind efed5a9@111+1: + => -': 'It only makes a number of a text.',
  'src/backends/redis/lua/include/take.lua#behind efed5a9@113+1: 0 => 1':
    'Room for just as many is written as the same number.',
  'src/backends/redis/lua/include/take.lua#behind efed5a9@83+1: 1 => 2':
    'One ticket is what comes of room for one in either way.',
  'src/backends/redis/lua/include/take.lua#set_sole 7c1f82f@69+1: > => >=': 'The key is kept 1 ms longer.',
  'src/backends/redis/lua/include/take.lua#tickets a571f5f@245+1: < => <=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/take.lua#tickets a571f5f@282+1: + => -': 'It only makes a number of a text.',
  'src/backends/redis/lua/renew.lua#renew 1c0aea6@544+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/renew.lua#renew 1c0aea6@836+10: count == 1 => false':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/renew.lua#renew 1c0aea6@845+1: 1 => 0':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/include/take.lua#tickets a571f5f@379+1: + => -':
    'The tickets are one or two µs older, and above the last one all the same.',
  'src/backends/redis/lua/include/take.lua#tickets a571f5f@381+1: 1 => 0':
    'The tickets are one or two µs older, and above the last one all the same.',
  'src/core/claims/pause.ts#backOff 0e2ff3d@163+2: 16 => (16 * 10)':
    'The bound is 60 s at most, and that is less than 2 to the 16th of the shortest pause.',
  'src/backends/mysql/sql/exchange.sql#script a26a600@862+2: 16 => 160':
    'The first 16 signs decide, and nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/exchange.sql#script a26a600@866+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/exchange.sql#script a26a600@900+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/get-lock.sql#script df760f0@422+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/idle.sql#script b5a03d1@279+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/join.sql#script 94f09d9@1196+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/leave.sql#script 85f48e4@479+2: 16 => 160':
    'The first 16 signs decide, and nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/leave.sql#script 85f48e4@483+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/leave.sql#script 85f48e4@538+1: 1 => 2':
    'Behind another place it begins far behind the second sign.',
  'src/backends/mysql/sql/note-read.sql#script cfc4c80@335+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/note-sweep.sql#script f467705@70+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/now.sql#script 4a93909@480+11: 86400000000 => 864000000000':
    'Both are multiples of the quarter of an hour that the modulus takes out.',
  'src/backends/mysql/sql/pause.sql#script b04bed4@96+1: 0 => 1':
    'Only a SLEEP that somebody interrupts gives anything but 0, and then neither answer is known to be true.',
  'src/backends/mysql/sql/sweep.sql#script 29515fd@251+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/touch.sql#script 2725d59@953+2: 16 => 160':
    'The first 16 signs decide, and nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/touch.sql#script 2725d59@957+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/touch.sql#script 2725d59@991+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/turn.sql#script 7506d97@178+2: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/postgres/sql/advisory-attempt.sql#script 1418902@581+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/postgres/sql/advisory-look.sql#script 1925f64@587+11: NOT NULL => NULL':
    'The lock is taken in either case, and nobody reads what the column says.',
  'src/backends/postgres/sql/advisory-setup.sql#script a4e2744@178+1: 0 => 1':
    'Whoever sets up keeps out all others who do; that they wait for those who draw as well only costs time.',
  'src/backends/postgres/sql/advisory-setup.sql#token cc65913@381+1: < => <=': 'The sequence is set to where it is.',
  'src/backends/postgres/sql/facts.sql#script bbeee3c@1057+1: 0 => 1':
    'Of no transaction it is told as little as of one of a second.',
  'src/backends/postgres/sql/inspect.sql#script 3c49ed2@1214+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/postgres/sql/inspect.sql#script 3c49ed2@1300+38: ORDER BY standing.key, standing.ticket => nothing':
    'The windows have sorted it so already; it is asked for so that no plan has to be trusted.',
  'src/backends/postgres/sql/note-read.sql#script ac2acca@232+1: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/file/sql/schema.sql#script 2d0fa5d@1854+1: = => <>':
    'Without the index a claim is found too, which only costs time; ids are drawn so that none comes twice.',
  'src/backends/file/sql/schema.sql#script 2d0fa5d@1856+1: 0 => 1':
    'Without the index a claim is found too, which only costs time; ids are drawn so that none comes twice.',
  'src/backends/quorum/memory.ts#Memory.mark b5d1c6c@193+4: !run => false':
    'A mark of no run fails before it is noteOf, and nobody hears of that.',
  'src/backends/quorum/tally.ts#tally 1a170f0@532+11: > => >=': 'The same number is kept.',
  'src/backends/quorum/tally.ts#tally 1a170f0@652+5: < => <=': 'Equal numbers change places.',
  'src/backends/quorum/tally.ts#tally 1a170f0@659+1: 1 => 2': 'Sorting asks only whether it is below 0.',
  'src/backends/quorum/tally.ts#tally 1a170f0@663+1: 1 => 0': 'Sorting asks only whether it is below 0.',
  'src/backends/quorum/tally.ts#tally 1a170f0@663+1: 1 => 2': 'Sorting asks only whether it is below 0.',
  'src/backends/quorum/trust.ts#Trust.countFree 42ab977@375+9: new Map() => undefined':
    'The vote fails in either case, with other words.',
  'src/backends/quorum/trust.ts#areTooFew d6bb8a5@109+48: votes.every => votes.some':
    'While fewer than a majority can vote nothing is granted, whichever of them count; with the first of the others all do.',
  'src/backends/quorum/node.ts#Node.parted 7e43ddc@184+25: trusts.all.filter(isTwin) => trusts.all':
    'All nodes say once more who they are, not only those in doubt, which only costs.',
  "src/backends/quorum/ballot.ts#Ballot.release bbb88cb@524+9: 'unknown' => ''":
    'What is unknown is what is neither freed nor nothing nor open: it is never counted by its name.',
  'src/core/line/local-line.ts#LocalLine.obtain 8dbce26@686+13: this.#tidy(); => guard':
    'Whoever is refused at once finds others there, and who gives up at once has tidied up by then.',
  'src/core/line/local-line.ts#LocalLine.successorOf 67b1ce6@178+14: queued?.open => queued.open':
    'Where somebody comes next there is its claim.',
  'src/core/line/local-line.ts#LocalLine.tellAlike 931c429@116+21: now < outage.limit(0) => false':
    'For nobody the time is over before that; the question before only costs less.',
  'src/core/line/local-line.ts#LocalLine.tellAlike 931c429@120+21: < => <=':
    'Nothing happens in the very ms of the limit.',
  'src/core/line/local-line.ts#LocalLine.tellAlike 931c429@135+1: 0 => 1':
    'Nobody asks in the first ms of a process, from which its clock counts.',
  'src/core/line/local-line.ts#LocalLine.tellAlike 931c429@246+33: < => <=':
    'Nothing happens in the very ms of the limit.',
  'src/core/line/local-line.ts#LocalLine.waits bc7e5dc@75+36: request?.beginsToWait => request.beginsToWait':
    'Who left is told of nothing: that its claim ends by a failure nobody hears, and it is taken back in any case.',
  'src/core/line/local-standing.ts#localStanding c375599@185+21: process === undefined => false':
    'Whoever stands here has claimed something, or waits behind somebody who has.',
  'src/core/line/local-standing.ts#localStanding c375599@441+40: request.queued?.claim.detects ?? detects => request.queued?.claim.detects':
    'Who looks for deadlocks inside of something has a claim: whoever waits here without one has nothing to tell.',
  'src/core/line/local-standing.ts#localStanding c375599@441+40: request.queued?.claim.detects ?? detects => detects':
    'They differ only when nothing is around it any more, and who is inside of nothing is part of no deadlock.',
  'src/core/claims/queued-claim.ts#QueuedClaim.stand 264e807@623+12: this.request => true':
    'What came for nobody is taken back in either case: else by whoever it is given to.',
  'src/core/claims/queued-claim.ts#QueuedClaim.stand 264e807@750+20: attempt = undefined; => guard':
    'The mail has rung, so that there is no pause; after an attempt that was granted there is the same one.',
  'src/core/claims/queued-claim.ts#QueuedClaim.pauseAfter d8c71b4@370+1: 1 => 2':
    'A ms later; what counts is that it is when the time is over.',
  'src/core/line/reentrancy.ts#Frame.giveUp db8ba90@67+15: request.settled => false':
    'It comes to that only at the loss of the hold, which lets nobody in any more, in whichever order they are told.',
  'src/core/engine/withdrawal.ts#untilReleased c74d2d0@506+20: >= => >':
    'One try more, at the very moment of the limit.',
  'src/core/engine/engine.ts#Activity.pause 98c43e3@255+4: true => false': 'The listener is taken away in any case.',
  'src/core/claims/asked-claim.ts#AskedClaim.began e40c892@43+24: this.request?.began ?? 0 => this.request?.began':
    'Without a request it has left the line, and is over by its next sleep as well as by an error.',
  'src/core/claims/asked-claim.ts#AskedClaim.began e40c892@43+19: this.request?.began => this.request.began':
    'Without a request it has left the line, and is over by its next sleep as well as by an error.',
  'src/core/claims/asked-claim.ts#AskedClaim.began e40c892@66+1: 0 => 1':
    'Without a request it has left the line, and is over by its next sleep as well as by an error.',
  'src/core/claims/asked-claim.ts#AskedClaim.answered e889485@607+62: <= => <':
    'The deadline comes before the place can lapse: nothing happens in the very ms.',
  'src/core/claims/asked-claim.ts#AskedClaim.mail bcf8d29@250+82: < => <=':
    'What has just as much left as a new answer would give: to ask once more only costs a request.',
  'src/core/engine/bag.ts#Bag.remove f1da8d5@227+1: 1 => 2': 'Any slot below 0 is in no bag.',
  'src/core/holds/hold.ts#Hold.listen 1fba613@159+4: true => false': 'The listener is taken away in any case.',
  'src/core/holds/hold.ts#Hold.tell f99c9c9@101+78: this.request?.events.tell => this.request.events.tell':
    'A hold has its request before anything is told of it.',
  'src/core/line/key-holds.ts#KeyHolds.served 8042f76@142+7: request => true':
    'What throws without a request is caught right there, and withdraws the claim just so.',
  'src/core/line/key-holds.ts#KeyHolds.over 9a4fb33@39+27: queued.request = undefined; => guard':
    'Nobody asks a claim that is over for its request.',
  'src/core/line/key-holds.ts#KeyHolds.release eb3d90b@92+26: !request || hold.life.over => false':
    'What is over is not held, which is asked next, and does not end again.',
  'src/core/line/key-holds.ts#KeyHolds.release eb3d90b@92+26: !request || hold.life.over => (!request) && (hold.life.over)':
    'What is over is not held, which is asked next, and does not end again.',
  'src/core/line/key-holds.ts#KeyHolds.release eb3d90b@614+22: > => >=':
    'In the very ms in which nothing can arrive any more; that it is taken back once more changes nothing.',
  'src/core/line/key-holds.ts#KeyHolds.ended 9bc0b48@112+12: hold.request => true':
    'A hold has its request from before it can end.',
  'src/core/line/key-holds.ts#KeyHolds.takeBack 326c48c@36+1: 0 => 1':
    'No process is in its first ms when it gives something back.',
  'src/core/holds/held-lease.ts#HeldLease.release 5b98e54@248+14: this.#unlisten => true':
    'A release never rejects, and of nobody who listens nothing is ended.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@7264+1: 1 => 2':
    'A prefix is not empty, so that text never begins an address.',
  'src/backends/redis/lua/renew.lua#renew 1c0aea6@721+16: id == line.whole => true':
    'Where one leaves no room nobody else holds, and where none does its lapse is not read.',
  'src/backends/redis/lua/renew.lua#renew 1c0aea6@931+1: 1 => 0': 'What stands at 0 is no part of a reply.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@1083+1: < => <=':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@1141+15: of == line.room => false':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule f7b813d@1188+1: 1 => 0':
    'Holders are counted anew where they need not be, which only costs.',
  'src/core/line/key-holds.ts#KeyHolds.served 8042f76@293+18: queued.withdraw(); => guard':
    'Nothing in there throws; should it, nothing is to be left behind.',
  'src/core/line/key-holds.ts#KeyHolds.served 8042f76@371+28: this.#failed(queued, error); => guard':
    'Nothing in there throws; should it, nothing is to be left behind.',
  'src/core/line/local-standing.ts#localStanding c375599@215+2: [] => undefined':
    'Whoever stands here has claimed something, or waits behind somebody who has.',
  'src/backends/shared/repeat.ts#repeat 884029f@382+10: cancel?. => cancel': 'It is set before anybody can end it.',
  'src/backends/shared/waiting-claims.ts#WaitingClaim. 49901f8@150+4: DONE => undefined':
    'Whoever closes it from outside waits for it, and nothing is as good to wait for; inside a promise is made of it.',
  'src/backends/quorum/ballot.ts#Ballot.release bbb88cb@342+11: !this.grant => true':
    'Whoever was told of a grant hears of no failure after it; it only costs an error.',
  'src/backends/quorum/releases.ts#Releases.close 6ec84a8@44+1: 0 => 1':
    'A pause is nothing under way, so it is not waited for in either case.',
  'src/core/line/key-holds.ts#KeyHolds.served 8042f76@283+140: { queued.withdraw(); // what came of it was n … ); return; } => skip':
    'Nothing in there throws; should it, nothing is to be left behind.',
};

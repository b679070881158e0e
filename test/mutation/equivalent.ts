/**
 * Mutants that no test can tell from the sources, or that change nothing that is promised: by their ids, and why. The six characters in an
 * id decide; the names before them may be older than the sources.
 */
export const EQUIVALENT: Readonly<Record<string, string>> = {
  'src/backends/memory.ts#memory pefZQl: true => false': 'Only the names count, and no value.',
  'src/backends/memory.ts#Memory.join osVgJe: false => true': 'It is set before it is read.',
  'src/backends/memory.ts#Memory.join ql-b1R: 0 => 1': 'It is set to what is later before it is read.',
  'src/backends/memory.ts#Memory.raise za0jrZ: 0n => 1n': 'The first token is 1, so it raises none.',
  'src/backends/memory.ts#Memory.raise VdzXXU: <= => <':
    'Raised to the token that it has, it has the same tokens as before.',
  'src/backends/memory.ts#Memory.raise TGt8zN: > => >=': 'The same number is kept.',
  'src/backends/quorum/backend.ts#Quorum.introduced VfLWyv: false => true':
    'Nothing is answered before the first call has begun, which sets it.',
  'src/backends/quorum/ballot.ts#Ballot.count tzwKMB: few => true':
    'Where all nodes were asked, there is no rest to ask.',
  'src/backends/quorum/ballot.ts#Ballot.on gJ-4p-: next ?? this.#state => next':
    'Only a claim that was released is asked to open: what state it is in then, nobody asks.',
  'src/backends/quorum/ballot.ts#Ballot.receiveVote -be23N: > => >=': 'The same number is kept.',
  'src/backends/quorum/ballot.ts#Ballot.release 8N9MW6: !this.grant => true':
    'An outcome that was told stays as it is, so that only costs the stack of an error.',
  "src/backends/quorum/ballot.ts#Ballot.release ccRYxW: 'unknown' => ''": 'Nobody asks how many are unknown.',
  'src/backends/quorum/ballot.ts#Ballot.win 97xSnM: fenced ? token : undefined => undefined':
    'When it is won, all votes there are have the number: who gave a lower one is being asked anew.',
  'src/backends/quorum/ballot.ts#proposalOf 0hzVkL: 0n => 1n':
    'Both are no more than the number that is proposed without it.',
  'src/backends/quorum/contention-backoff.ts#SOONEST BClJn5: 4 => 0':
    'A room that nobody names is forgotten sooner, which only costs time.',
  'src/backends/quorum/contention-backoff.ts#SOONEST AHtaoQ: 4 => (4 * 10)':
    'A room that nobody names is forgotten later, which only costs space.',
  'src/backends/quorum/contention-backoff.ts#ContentionBackoff.noteRelease D7Wzt0: this.#contentions.delete(key); => guard':
    'What is that old counts for nothing, and their number is bounded: it is only forgotten sooner.',
  'src/backends/quorum/identity.ts#Identity.recognisedAt _mVnbN: 0 => 1': 'It is set before it is read.',
  "src/backends/quorum/link.ts#Link.ask 8LrMzG: 'silent' => ''": 'Whatever does not answer is silent.',
  'src/backends/quorum/memory.ts#leaseClasses bUxIG6: < => <=':
    'The steps of a decade that begins with the longest lease are no shorter than that, so none is taken.',
  'src/backends/quorum/memory.ts#Memory.mark rqvIN1: !run => false':
    'A mark of no run fails before it is noteOf, and nobody hears of that.',
  'src/backends/quorum/next-note.ts#NextNote.read XX2rom: text === undefined ? undefined : parse => parse':
    'What is no note is read as a text of another version, which names nobody.',
  'src/backends/quorum/next-note.ts#NextNote.forget qE17Zf: 0 => 1': 'A note that is taken away has no time to last.',
  "src/backends/quorum/node-answer.ts#lostOf xdOHRW: answer.kind === 'yes' ? answer.lost : undefined => answer.lost":
    'Only a yes has that.',
  'src/backends/quorum/node-claims.ts#NodeClaims.askFew qnp6bz: Math.floor => Math.ceil':
    'The node that is asked first is drawn in either case, each as often as the others.',
  "src/backends/quorum/node-claims.ts#NodeClaims.receive DZLvI_: answer.kind === 'yes' && claim.atLeast !== undefined => (answer.kind === 'yes') || (claim.atLeast !== undefined)":
    'What is not there is less than no number, and nothing is less than it.',
  'src/backends/quorum/options.ts#QUORUM_OPTIONS L1ijOn: true => false': 'Only the names count, and no value.',
  'src/backends/quorum/options.ts#QUORUM_OPTIONS XkNaM5: true => false': 'Only the names count, and no value.',
  'src/backends/quorum/options.ts#QUORUM_OPTIONS Ksz3al: true => false': 'Only the names count, and no value.',
  'src/backends/quorum/options.ts#QUORUM_OPTIONS dlAizh: true => false': 'Only the names count, and no value.',
  'src/backends/quorum/precedence.ts#Precedence.constructor si2S-Z: .slice(0, 16) => nothing':
    'It is a name that no other process draws, with a few digits more or fewer.',
  'src/backends/quorum/precedence.ts#Precedence.constructor wYamu3: 0 => 1':
    'It is a name that no other process draws, with a few digits more or fewer.',
  'src/backends/quorum/precedence.ts#Precedence.constructor Tm34jh: 16 => (16 * 10)':
    'It is a name that no other process draws, with a few digits more or fewer.',
  'src/backends/quorum/precedence.ts#Precedence.readNow mTHC-W: 0 => 1':
    'A note says at least 20 ms, so it goes before who has waited for 1 ms as well.',
  'src/backends/quorum/precedence.ts#Precedence.readNow 3SrG5a: > => >=':
    'Of two that have waited for the same time either may be next.',
  'src/backends/quorum/precedence.ts#Precedence.find FhPptk: 0 => 1':
    'Who finds its own note goes behind nobody, however long that says it has waited.',
  'src/backends/quorum/precedence.ts#Precedence.use _eRcwv: 0 => 1':
    'It is asked only of who is next, and set when one becomes that.',
  'src/backends/quorum/releases.ts#Releases.close mHBkHa: 0 => 1':
    'A pause is nothing under way, so it is not waited for in either case.',
  'src/backends/quorum/standings.ts#isAgreed 6OnQQR: < => <=':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#isAgreed uzjgGG: 1 => 2':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#isAgreed Li0AKm: 1 => 0':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#isAgreed CBG4Od: 1 => 2':
    'A sort asks only whether that is below 0, and the order of two that are the same shows nowhere.',
  'src/backends/quorum/standings.ts#mostCommon 5robD-: 0 => 1':
    'All are counted one too high, so which is highest stays.',
  'src/backends/quorum/standings.ts#mostCommon AHnShQ: 1 => 2': 'All are counted twice, so which is highest stays.',
  'src/backends/quorum/tally.ts#tally 6pH_sQ: > => >=': 'The same number is kept.',
  'src/backends/quorum/tally.ts#tally ugMLmh: < => <=': 'Equal numbers change places.',
  'src/backends/quorum/tally.ts#tally YreZ4u: 1 => 2': 'Sorting asks only whether it is below 0.',
  'src/backends/quorum/tally.ts#tally rkpdHN: 1 => 0': 'Sorting asks only whether it is below 0.',
  'src/backends/quorum/tally.ts#tally 3iA6F-: 1 => 2': 'Sorting asks only whether it is below 0.',
  'src/backends/quorum/tally.ts#tallyRelease rwMGiF: 0 => 1': 'Nobody asks how many are unknown.',
  "src/backends/quorum/trust.ts#Trust.state HDTqlo: 'unseen' => ''":
    'One that says who it is has another state from then on, and one that does not counts in either.',
  'src/backends/quorum/trust.ts#Trust.countRestedNodes d4RJK6: new Map() => undefined':
    'The vote fails in either case, with other words.',
  'src/backends/quorum/trust.ts#areTooFew TrQCbL: votes.every => votes.some':
    'While fewer than a majority can vote nothing is granted, whichever of them count; with the first of the others all do.',
  'src/core/queue/pause.ts#watchedPause EJTuOv: 1 => 0': 'One that is next has nobody before it in either count.',
  'src/core/queue/pause.ts#backOff t5BP_u: 16 => (16 * 10)':
    'The bound is 60 s at most, and that is less than 2 to the 16th of the shortest pause.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pauseAfter -HicoJ: 1 => 0':
    'Of a timer for less than 1 ms Node makes one for 1 ms.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pauseAfter xj5TAc: 1 => 2':
    'A ms later; what counts is that it is when the time is over.',
  "src/core/queue/queued-claim.ts#verdictOn pkqeLG: 'unknown' => ''":
    'No branch has that name: what is none of the others is slept on.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pursue Str_A4: this.sent ?? 0 => this.sent':
    'Nothing is answered before something was sent.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pursue dWDWdO: 0 => 1': 'Nothing is answered before something was sent.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pursue JnvRKp: contended ? { ...grant!, contended } : grant => { ...grant!, contended }':
    'That others were not in the way says the same as nothing.',
  'src/core/queue/queued-claim.ts#aheadOf qfZluW: attempt?.granted === false ? attempt.ahead : undefined => attempt.ahead':
    'It is asked of a refusal only.',
  'src/core/queue/queued-claim.ts#aheadOf DEkx6f: attempt?.granted => attempt.granted':
    'It is asked of a refusal only.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pauseAfter 8k4q0O: this.request?.began ?? 0 => this.request?.began':
    'A claim whose request has left is woken already, and never sleeps.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pauseAfter HOy6h6: this.request?.began => this.request.began':
    'A claim whose request has left is woken already; that it throws instead nobody is told, and it withdraws as it would.',
  'src/core/queue/queued-claim.ts#QueuedClaim.pauseAfter PimRLY: 0 => 1':
    'A claim whose request has left is woken already, and never sleeps.',
  'src/core/queue/sent-claim.ts#SentClaim.accept 9sekpR: <= => <':
    'The place lasts for longer than its deadline, by the margin of the clocks.',
  'src/core/queue/sent-claim.ts#SentClaim.checkMail NEENhg: < => <=':
    'Of mail of which just as much is left as was asked for both are right: to take it, and to ask once more.',
  'src/core/queue/sent-claim.ts#SentClaim.checkMail R6wu5h: this.listener?.distrustMail => this.listener.distrustMail':
    'It is asked of the mail that a listener has.',
  'src/core/contract/admission.ts#Tally.remove jbt11n: left === 0 && this.#rooms.size > FEW => false':
    'A room that nobody names counts for nothing, forgotten or not.',
  'src/core/contract/admission.ts#Tally.remove 9uOoCt: > => >=':
    'A room that nobody names counts for nothing, forgotten or not.',
  'src/core/contract/admission.ts#Tally.remove TFWZG2: > => <=':
    'A room that nobody names counts for nothing, forgotten or not.',
  'src/core/contract/admission.ts#Tally.remove 5WkRpw: left > 0 || seats.capacity !== this.#room => false':
    'The smallest room is looked for where it is known, which only costs time.',
  'src/core/contract/admission.ts#Tally.remove yi8IBT: left > 0 || seats.capacity !== this.#room => (left > 0) && (seats.capacity !== this.#room)':
    'The smallest room is looked for where it is known, which only costs time.',
  'src/core/contract/admission.ts#Tally.remove Q03OFj: 0 => 1':
    'The smallest room is looked for where it is known, which only costs time.',
  'src/core/contract/admission.ts#Tally.remove ce8DEf: < => <=': 'The same number is kept.',
  'src/core/contract/clock.ts#LONGEST_TIMER CnJ-CQ: 1 => 2': 'A timer that is 1 ms shorter may be made of two as well.',
  'src/core/contract/clock.ts#randomId HmUuiW: drawn === digits.length => true':
    'Bits are drawn for each id, which only costs time.',
  'src/core/contract/clock.ts#randomId Zbdzxn: 16 => (16 * 10)': 'Bits are drawn for more ids at a time.',
  'src/core/contract/clock.ts#randomId EgyVti: 64 => (64 * 10)': 'Bits are drawn for more ids at a time.',
  'src/core/contract/clock.ts#up SDkYgL: 0 => 1': 'A ms is less than what the uptime tells.',
  'src/core/contract/clock.ts#systemClock WiVdhT: > => >=':
    'A difference of just that, to the last digit, may count either way: at most it costs a look.',
  'src/core/contract/clock.ts#systemClock 6IJ05H: > => >=':
    'A difference of just that, to the last digit, may be measurement or sleep.',
  'src/core/contract/clock.ts#wall m8i9uj: - => +':
    'The first short look asks for the uptime then, and from there on it is right.',
  'src/core/contract/context.ts#MANUAL LHklSz: true => false': 'Only hooks that look for the end of a resource see it.',
  "src/core/contract/context.ts#Context.resource M5MozH: 'holdfast' => ''": 'A name for tools that look at resources.',
  "src/core/contract/context.ts#nobody l7Kn8t: 'holdfast' => ''": 'A name for tools that look at resources.',
  'src/core/contract/key.ts#checkKey drruoX: > => >=': 'No length is a third of 512.',
  'src/core/contract/key.ts#checkKey QFy04w: 3 => (3 * 10)': 'Shorter keys are counted as well, which only costs time.',
  'src/core/contract/option-table.ts#ADAPTIVE_NAMES Ew7Z4R: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#ADAPTIVE_NAMES NP6P9j: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#HAND_OFF_NAMES OwNVCS: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#HAND_OFF_NAMES KrzV8W: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#HAND_OFF_NAMES -jJg5a: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#SPIN_NAMES vTiRNn: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#SPIN_NAMES SQKFp6: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#SPIN_NAMES JObCGd: true => false': 'Only the names count, and no value.',
  'src/core/contract/option-table.ts#sharedWith osCl0f: true => false': 'Only the names count, and no value.',
  'src/core/contract/origin.ts#originIn tH9hm5: process === undefined || claim === undefined => (process === undefined) && (claim === undefined)':
    'What matches has both, what does not has neither.',
  'src/core/contract/origin.ts#originIn YT-qQf: { return undefined; // no percent-encoding, so not ours } => skip':
    'A function that ends gives undefined.',
  'src/core/contract/promises.ts#sleep ErMFrA: true => false': 'The listener is taken away in any case.',
  'src/core/contract/terms.ts#checkDelay R6YM14: 0 => 1':
    'Half of 1 ms leaves no delay but 0, which was answered before.',
  'src/core/engine/call-timeouts.ts#Agenda.remove oS0ywY: 1 => 2': 'Any slot below 0 is in no bag.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.begin W6MtB9: -1 => 1': 'The agenda sets it.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.begin 3VA5nz: 1 => 0': 'The agenda sets it.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.begin -pt9lB: 1 => 2': 'The agenda sets it.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.look YAdgr5: + => -':
    'Of a timer for less than 1 ms Node makes one for 1 ms, and what was waited for once is not waited for again.',
  'src/core/engine/call-timeouts.ts#CallTimeouts.look mz5Emz: 1 => 0':
    'Of a timer for less than 1 ms Node makes one for 1 ms.',
  'src/core/engine/engine.ts#Activity.pause 1eSzkS: true => false': 'The listener is taken away in any case.',
  'src/core/engine/engine.ts#Engine.inspect v282os: standings.return?. => standings.return':
    'What is thrown there is ignored.',
  'src/core/engine/listener.ts#Listener.watchFor IiEGZr: this.#backend.watch?. => this.#backend.watch':
    'What throws is no more than a watch that is not there.',
  'src/core/engine/listener.ts#Listener.watchFor u-751s: { return undefined; } => skip':
    'A function that ends gives undefined.',
  'src/core/engine/listener.ts#dispose zisVcz: watch => true': 'What throws there is ignored.',
  "src/core/engine/users.ts#users pxeNbS: 'users' => ''": 'Any name will do that is shared with nothing else.',
  'src/core/engine/users.ts#removeUser ky9Mr3: 1 => 0':
    'A backend that nobody was counted of is closed in either case.',
  'src/core/queue/adaptive-history.ts#AdaptiveHistory.capacity HY8wnT: !adaptive => false':
    'Both callers ask only where the options are adaptive.',
  'src/core/queue/adaptive-history.ts#AdaptiveHistory.lengthen YYoB_g: 0 => 1':
    'No lease is as short as 1 ms, so both are no longer than what was asked for.',
  'src/core/queue/adaptive-history.ts#AdaptiveHistory.lengthen ehvMxp: <= => <':
    'With a lease of the same length the options are the same.',
  'src/core/queue/adaptive-history.ts#unlessAborted mMRkA3: true => false': 'The listener is taken away in any case.',
  "src/core/queue/adaptive.ts#lessonIn JkBowz: text ?? '' => text":
    'What is not there is looked at as the word "undefined", which is no lesson.',
  'src/core/queue/held-lease.ts#HeldLease.request -qfgVp: this.#hold.owner?.events.number => this.#hold.owner.events.number':
    'A hold has its owner before there is a lease of it.',
  'src/core/queue/held-lease.ts#HeldLease.release ljqAeY: this.#unlisten => true':
    'A release never rejects, and where there is nothing to call after it nothing is called.',
  'src/core/queue/hold.ts#Hold.markReleased 3KS5Ie: !channels.released.hasSubscribers => false':
    'It is asked again before anything is made.',
  'src/core/queue/hold.ts#Hold.tell ovNvBw: this.owner?.events.tell => this.owner.events.tell':
    'A hold has its owner before anything can be told of it.',
  'src/core/queue/hold.ts#Hold.slot nTjuWX: -1 => 1': 'The bag sets it.',
  'src/core/queue/hold.ts#Hold.slot 8yKD_I: 1 => 0': 'The bag sets it.',
  'src/core/queue/hold.ts#Hold.slot QbOcuB: 1 => 2': 'The bag sets it.',
  'src/core/queue/hold.ts#Hold.listen jQ-elP: true => false': 'The listener is taken away in any case.',
  'src/core/queue/acquire-request.ts#RequestEvents.tell ey6HCM: channels[name].hasSubscribers => true':
    'It is asked again before anything is made.',
  'src/core/queue/acquire-request.ts#RequestEvents.event AnpMBp: more ? Object.assign(event, more) : event => Object.assign(event, more)':
    'Nothing is assigned of what is undefined.',
  'src/core/queue/acquire-request.ts#AcquireRequest.settle XKHiym: this.#named = NOBODY; => guard':
    'A request is settled once; what settles it again comes to no hold that is still counted.',
  'src/core/queue/acquire-request.ts#aborted DsbDv_: terms.signal?.reason => terms.signal.reason':
    'Only a signal aborts.',
  'src/core/queue/acquire-request.ts#RequestEvents.tellEnd 17QEE7: !channels[how].hasSubscribers => false':
    'It is asked again before anything is made.',
  'src/core/queue/acquire-request.ts#AcquireRequest.startLimits -EFvm0: true => false':
    'Whatever it does settles the request, and that takes the listener away.',
  'src/core/queue/acquire-request.ts#AcquireRequest.circumstances _obfHp: !this.#around && !this.terms.beside?.length & … == undefined => false':
    'Of a caller inside of nothing an empty list says the same; the question before only costs less.',
  "src/core/queue/acquire-request.ts#AcquireRequest.beginWait qzfeJj: 'waiting' => ''":
    'It is asked only whether a request is new, or settled: this is neither.',
  "src/core/queue/frame.ts#RULES SNZX3-: 'line' => ''": 'Neither of the rules that are asked for.',
  "src/core/queue/frame.ts#RULES PsmFrH: 'line' => ''": 'Neither of the rules that are asked for.',
  "src/core/queue/frame.ts#RULES pI7Qfs: 'line' => ''": 'Neither of the rules that are asked for.',
  "src/core/queue/frame.ts#Frame.giveUp k0RMH3: 'settled' => ''":
    'It comes to that only at the loss of the hold, which lets nobody in any more, in whichever order they are told.',
  "src/core/queue/frame.ts#Frame.giveUp rH8ONV: request.state === 'settled' => false":
    'It comes to that only at the loss of the hold, which lets nobody in any more, in whichever order they are told.',
  'src/core/queue/interim.ts#Interim.linger 5DpyOr: -1 => 1': 'The agenda sets it.',
  'src/core/queue/interim.ts#Interim.linger o9S2ob: 1 => 0': 'The agenda sets it.',
  'src/core/queue/interim.ts#Interim.linger D9QCUr: 1 => 2': 'The agenda sets it.',
  'src/core/queue/key-holds.ts#KeyHolds.serve QiF4vI: queued.request = undefined; => guard':
    'A request that was served is settled, and of one that is settled nobody asks or moves the claim.',
  'src/core/queue/key-holds.ts#KeyHolds.serve ooGGHH: request => true':
    'Without a request it throws, and nobody is told: there is no request to refuse.',
  'src/core/queue/key-holds.ts#KeyHolds.release YZinxS: > => >=': 'A hold that lingers for 0 ms does not linger.',
  'src/core/queue/key-holds.ts#KeyHolds.giveUp wgonW4: > => >=':
    'From that ms on nothing of the attempt can arrive, and one release more, when minHold is over, frees nothing.',
  'src/core/queue/key-holds.ts#KeyHolds.releaseWith _3hinw: !owner || hold.life.over => false':
    'A hold that is over is not held, so the next step says the same, and whoever has left can leave again.',
  'src/core/queue/key-holds.ts#KeyHolds.releaseWith 5Sty1b: !owner || hold.life.over => (!owner) && (hold.life.over)':
    'A hold that is over is not held, so the next step says the same, and whoever has left can leave again.',
  'src/core/queue/key-holds.ts#KeyHolds.onEnd IcHU_O: hold.owner => true':
    'A hold has its owner before anything can end it.',
  'src/core/queue/key-holds.ts#takeBack Sh299P: 0 => 1':
    'It is compared with the time of a clock that has run for longer than that.',
  'src/core/queue/key-holds.ts#KeyHolds.giveBack uODEQX: this.#callers.waitedFor ? this.#callers.takeS …  : undefined => this.#callers.takeSuccessor(owner)':
    'takeSuccessor finds the same; it only costs less.',
  'src/core/queue/arrival-line.ts#ArrivalLine.head mdCNmU: this.#outside.size === 0 ? undefined : this.#outside.values => this.#outside.values':
    'The first of nobody is undefined as well; the question before only costs less.',
  'src/core/queue/arrival-line.ts#Inside.enter _KT3Be: > => >=': 'A list and a Set of 16 do the same.',
  'src/core/queue/arrival-line.ts#Inside.enter e7AX3y: this.#many = new Set(this.#few.splice(0)); => guard':
    'A list of any length does the same, and only costs more.',
  'src/core/queue/arrival-line.ts#Inside.leave 0tSTE0: this.#many.size === 0 => false':
    'An empty Set does the same as an empty list, and only costs more.',
  'src/core/queue/arrival-line.ts#Inside.leave j_ZpiT: this.#many = undefined; => guard':
    'An empty Set does the same as an empty list, and only costs more.',
  'src/core/queue/arrival-line.ts#Inside.leave 43hXKI: true => false':
    'Whoever was inside is looked for outside, too, and is not there.',
  'src/core/queue/arrival-line.ts#ArrivalLine.leave LpRit7: this.#outside.size === 0 => false':
    'Of nobody outside nobody comes in; the question before only costs less.',
  'src/core/queue/local-line.ts#LocalLine.refuseAlike wqpZAn: < => <=': 'Nothing happens in the very ms of the limit.',
  'src/core/queue/local-line.ts#LocalLine.refuseAlike uACrh6: 0 => 1':
    'Nobody asks in the first ms of a process, from which its clock counts.',
  'src/core/queue/local-line.ts#LocalLine.refuseAlike pmwrMB: < => <=': 'Nothing happens in the very ms of the limit.',
  'src/core/queue/local-line.ts#LocalLine.beginWait V8GUH_: request?.beginWait => request.beginWait':
    'Without a request it throws, which ends a claim that nobody waits for any more, as its next step would.',
  'src/core/queue/local-standing.ts#localStanding OshttR: process === undefined => false':
    'Whoever stands in a line came behind a claim, or with one, so the process has its name.',
  'src/core/queue/local-standing.ts#localStanding kCcpDB: [] => undefined':
    'Whoever stands in a line came behind a claim, or with one, so the process has its name.',
  'src/core/queue/release-with.ts#wordsLeft rj0zlk: < => <=': 'That they are equal was asked before.',
  'src/memo/caller.ts#Caller.startLimits z7Gw71: 0 => 1':
    'A wait that is counted from before a look is longer than any look.',
  'src/memo/caller.ts#Caller.startLimits wHrb5S: true => false': 'A signal is aborted once.',
  'src/memo/caller.ts#Caller.aborted zZ3KmP: this.signal?.reason => this.signal.reason': 'Only a signal aborts.',
  'src/memo/encoding.ts#fromText lDyPYy: 1 => 0': 'JSON may begin with a blank.',
  "src/memo/encoding.ts#fromText j6QwH4: text.includes('\"$') ? read(json) : json => read(json)":
    'What has nothing to be read again is only had sooner.',
  'src/memo/flight.ts#Flight.constructor p0jbNf: 1 => 2': 'What counts is whether there was any answer.',
  'src/memo/flight.ts#Flight.failed ZmsZUX: leave => true':
    'What is thrown where there is nothing to leave is no error of ours, and is not heard.',
  'src/memo/flights.ts#Flights.lookFirst dFPr8J: wait === Number.POSITIVE_INFINITY ? undefined … ne.clock.now => engine.clock.now':
    'Of a wait without an end nobody asks when it began.',
  'src/memo/flights.ts#Flights.lookFirst bB3_ob: signal || wait <= CALL_TIMEOUT ? new Caller(e …  : undefined => new Caller(engine, plan, fn, began)':
    'A caller is made that cannot give up before the look ends, which only costs.',
  'src/memo/flights.ts#Flights.lookFirst 7zXmtw: <= => <': 'A wait that is as long as a look may take ends with it.',
  'src/memo/flights.ts#Flights.lookFirst KJcKwm: < => <=':
    'A result of just that age answers the claim that asks for a newer one, too.',
  'src/memo/inquiry.ts#MemoInquiry.hears iOVJC3: attempt.tries ?? 0 => attempt.tries':
    'Where tries are not counted there is no limit that they reach.',
  'src/memo/inquiry.ts#MemoInquiry.hears QbCZ_E: 0 => 1':
    'Where tries are not counted there is no limit that they reach.',
  'src/memo/options.ts#MEMO_OPTIONS qvclNW: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS 4KHY2A: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS Pk2loW: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS 5HEwAE: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS gTNsDh: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS VHlC2D: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS TnQyAF: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS 2Jj5VA: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS ze49Uf: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS KHiE_E: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS iF8wib: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS OHwUr-: true => false': 'Only the names count, and no value.',
  'src/memo/options.ts#MEMO_OPTIONS L3CtX1: true => false': 'Only the names count, and no value.',
  'src/memo/run.ts#FlightRun.constructor iKDkA2: true => false': 'A signal is aborted once.',
  'src/primitives/lock.ts#LockObject.acquire mu0AHS: options === undefined ? this.#options.terms : this.#termsOf => this.#termsOf':
    'Without options it gives the terms of the lock, checked once more, which only costs time.',
  'src/primitives/lock.ts#LockObject.acquire NtR28N: terms.wait > 0 ? (lease as Promise<L>) : lease.then => lease.then':
    'Who waits is given a lease or an error, never nothing, so it only costs one more promise.',
  'src/primitives/lock.ts#LockObject.acquire PPB0yI: 0 => 1':
    'Who waits 1 ms is given a lease or an error, never nothing, so it only costs one more promise.',
  'src/primitives/lock.ts#LockObject.tryAcquire d0EAhk: given === undefined ? this.#options.terms : this.#termsOf => this.#termsOf':
    'Without options it gives the terms of the lock, checked once more, which only costs time.',
  'src/primitives/multi-lease.ts#firstOf vvmSfA: true => false': 'A signal is aborted once.',
  'src/primitives/multi-lock.ts#multiLock eCwXsv: < => <=':
    'A sort asks only whether that is below 0, and two that are the same are refused in either order.',
  'src/primitives/multi-lock.ts#multiLock ZAy5v6: 1 => 2':
    'A sort asks only whether that is below 0, and two that are the same are refused in either order.',
  'src/primitives/multi-lock.ts#multiLock AWZ4-U: 1 => 0':
    'A sort asks only whether that is below 0, and two that are the same are refused in either order.',
  'src/primitives/multi-lock.ts#multiLock 7H_TWN: 1 => 2':
    'A sort asks only whether that is below 0, and two that are the same are refused in either order.',
  'src/primitives/multi-lock.ts#multiLock Mg9ze6: + => -':
    'Of two that are the same and stand side by side, each has the other beside it.',
  'src/primitives/semaphore.ts#semaphore AcbRk5: 1 => 0': 'What runs inside of the permit asks for no seats.',
  'src/primitives/semaphore.ts#semaphore cI8KDG: 1 => 2': 'What runs inside of the permit asks for no seats.',
  'src/primitives/wait-abort.ts#WaitAbort.constructor Z-gayb: true => false': 'The listener is taken away in any case.',
  'src/backends/redis/lua/ask.lua#ask eTlUTT: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/ask.lua#ask OT7d0U: <= => <':
    'No age that is asked for is met to the very µs of the clock, and words without an age are below each.',
  'src/backends/redis/lua/ask.lua#ask HtJVLp: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/ask.lua#ask OhI8t0: 0 => 1':
    'Words that began or ended in the first µs of 1970 are over as well.',
  'src/backends/redis/lua/ask.lua#ask 3X8vnZ: 0 => 1':
    'Words that began or ended in the first µs of 1970 are over as well.',
  'src/backends/redis/lua/attempt.lua#script 2XlR8B: count == 1 => false':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/attempt.lua#script oCCGtd: 1 => 0':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/attempt.lua#script UE2Cq1: 1 => 0': 'What stands at 0 is no part of a reply.',
  'src/backends/redis/lua/evict.lua#script I6f4h9: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  "src/backends/redis/lua/evict.lua#evicted GVmZu7: ARGV[2] == '' => true":
    'Who waits is looked for with each portion then, which only costs.',
  'src/backends/redis/lua/evict.lua#evicted qHHez1: and => or':
    'Behind holders something always follows, and what is no number and no place among them is read as none.',
  'src/backends/redis/lua/evict.lua#evicted swmidC: 1 => 0': 'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/attempt.lua#attempt 9blD-O: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/attempt.lua#attempt NjWaCK: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/contended.lua#contention 8XiBke: 45 => 0':
    'A dash is before any digit, so the text of dashes is not more than any token.',
  'src/backends/redis/lua/include/contended.lua#contention QB57Wq: 45 => 450':
    'A dash is before any digit, so the text of dashes is not more than any token.',
  'src/backends/redis/lua/include/contended.lua#contention k6sO69: 1 => 2':
    'What reaches just as far is written as the same number.',
  'src/backends/redis/lua/include/contended.lua#contention XLyS1J: < => <=':
    'What reaches just as far is written as the same number.',
  'src/backends/redis/lua/include/contended.lua#contention qWiJ06: < => <=':
    'No score is 0 or 1: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/include/contended.lua#contention kAWxlG: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/include/portion.lua#portion w_SD4a: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/include/portion.lua#portion rcOtnm: * => /':
    'A portion that is not full is followed by an empty one, which only costs.',
  'src/backends/redis/lua/include/portion.lua#portion ubq_FN: 2 => 0':
    'Before the first of a table there is nothing, which is no score.',
  'src/backends/redis/lua/include/release.lua#release GU7l1d: 1 => 0':
    'An id has no blank and is not empty, so the first one is found from either place, by either way.',
  'src/backends/redis/lua/include/release.lua#release UYOMWr: 1 => 2':
    'An id has no blank and is not empty, so the first one is found from either place, by either way.',
  'src/backends/redis/lua/include/release.lua#release gSkdcQ: true => false':
    'An id has no blank and is not empty, so the first one is found from either place, by either way.',
  'src/backends/redis/lua/include/release.lua#release vrwdiA: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/release.lua#release 0AEM9_: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/release.lua#release zNa73F: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/standing.lua#standing -c6YNr: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/take.lua#behind soeGun: < => <=':
    'One token is what comes of room for one in either way.',
  'src/backends/redis/lua/include/take.lua#behind MvWy_b: 1 => 2':
    'One token is what comes of room for one in either way.',
  'src/backends/redis/lua/include/take.lua#behind KNVyG4: < => <=':
    'Room for just as many is written as the same number.',
  'src/backends/redis/lua/include/take.lua#behind WcH_LT: + => -': 'It only makes a number of a text.',
  'src/backends/redis/lua/include/take.lua#behind g9Fgty: 0 => 1':
    'Room for just as many is written as the same number.',
  'src/backends/redis/lua/include/take.lua#tokens BxRG7p: < => <=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/take.lua#tokens GCwyxU: + => -': 'It only makes a number of a text.',
  'src/backends/redis/lua/include/take.lua#tokens C8BQ-q: + => -':
    'The tokens are one or two µs older, and above the last one all the same.',
  'src/backends/redis/lua/include/take.lua#tokens ZAleu8: 1 => 0':
    'The tokens are one or two µs older, and above the last one all the same.',
  'src/backends/redis/lua/include/take.lua#set_sole iY1twt: > => >=': 'The key is kept 1 ms longer.',
  'src/backends/redis/lua/inspect.lua#script leLMXC: < => <=':
    'No score is 0: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/inspect.lua#script k8v5GB: 0 => 1':
    'No score is 0: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/inspect.lua#script 0Ju-iy: < => <=':
    'No score is 0: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/inspect.lua#script m1HGMb: 0 => 1':
    'No score is 0: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/release.lua#script uI_mul: #ARGV == 1 => false':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/release.lua#script 0G0KCp: 1 => 0':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/release.lua#script XS1lsD: 1 => 0': 'What stands at 0 is no part of a reply.',
  'src/backends/redis/lua/leave.lua#token_of 5rlU9J: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/leave.lua#token_of bAwLGb: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/leave.lua#leave NROyGz: 0 => 1':
    'Tries whose time is over are not counted, whatever their number is.',
  'src/backends/redis/lua/leave.lua#leave r6WKZX: 0 => 1':
    'Tries that counted until the first µs of 1970 are over as well.',
  'src/backends/redis/lua/leave.lua#leave NIVHMP: kind == $line => true':
    'Beside one that is alone nobody waits, but for claims of a deleted lock: they are told what they would have by asking.',
  'src/backends/redis/lua/renew.lua#renew_sole PzJTSe: true => false':
    'Who is not found by the whole text is compared by its parts, which only costs.',
  'src/backends/redis/lua/renew.lua#renew_sole 8JVNua: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/renew.lua#renew_sole JP0C7G: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/renew.lua#renew UFEfW3: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/renew.lua#renew nKQtQv: id == line.whole => true':
    'Where one leaves no room nobody else holds, and where none does its expiry is not read.',
  'src/backends/redis/lua/renew.lua#renew 1aJCbc: count == 1 => false':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/renew.lua#renew 19OIyz: 1 => 0':
    'A text and an array of one read the same: it only costs the server a write more.',
  'src/backends/redis/lua/renew.lua#renew yZRXC4: 1 => 0': 'What stands at 0 is no part of a reply.',
  'src/stock/redis/lua/quick.lua#script Y_tsHN: 0 => 1': 'It is told only with a ttl, and then it is the clock’s.',
  "src/stock/redis/lua/quick.lua#script 41W3sR: ttl > 0 or cell[3] ~= '0' => true":
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script G86VdM: > => >=':
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script cgdI9W: 3 => 0':
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script uFey7g: 3 => 30':
    'Where nothing is reserved nothing has run out: the clock and an empty set are lessonIn, which only costs.',
  'src/stock/redis/lua/quick.lua#script b5Ebz3: 0 => 1': 'Of the two that are read then, the first is looked at.',
  'src/stock/redis/lua/quick.lua#script nSTOEa: <= => <':
    'What runs out in this very ms comes back with the next step, and every answer that depends on it is given by step.lua.',
  'src/stock/redis/lua/quick.lua#script LjUCHr: done > 0 => true':
    'Of nothing done the same numbers are written again.',
  'src/stock/redis/lua/quick.lua#script mJDafz: > => >=': 'Of nothing done the same numbers are written again.',
  'src/stock/redis/lua/quick.lua#script urMIyh: > => >=': 'Of what is sold at once nobody reads the clock.',
  'src/stock/redis/lua/rights.lua#script mYwIfc: 0 => 1': 'XX adds nobody, whatever the score.',
  "src/stock/redis/lua/rights.lua#script qiJ1t0: call('HSETNX', KEYS[2], '', '') => nothing":
    'It is the first of quick.lua that changes anything, so a refusal there leaves nothing half done.',
  'src/stock/redis/lua/rights.lua#script V35c5c: 0 => 1':
    'What was counted is taken away by the next line, whose right was tried before.',
  'src/stock/redis/lua/rights.lua#script vr0kcl: 1 => 0': 'Nobody reads the answer: what counts is that there is one.',
  'src/stock/redis/lua/rights.lua#script b6q-WJ: 1 => 2': 'Nobody reads the answer: what counts is that there is one.',
  "src/stock/redis/lua/step.lua#text_of 9kU-Qe: units, til = ('%.0f'):format(units), ('%.0f'):format(til) => nothing":
    'Lua writes whole numbers of up to 14 digits as they are; an order has at most 10 of them, and a time 13.',
  "src/stock/redis/lua/step.lua#give_back_due bUzhmy: buyer ~= '' => true":
    'Nothing is counted for nobody, so nothing is there to take away.',
  'src/stock/redis/lua/step.lua#give_back_due wgGGPv: not bought[buyer] => true':
    'A buyer that is named twice gets the same number twice, which only costs.',
  'src/stock/redis/lua/step.lua#give_back_due xtwotO: 0 => 1': 'Whoever has a reservation has a count.',
  'src/stock/redis/lua/step.lua#give_back_due 5J3diJ: 0 => 1': 'It has two for each buyer.',
  'src/stock/redis/lua/step.lua#fenced 29g5J8: > => >=': 'Of the same token it was answered before.',
  "src/stock/redis/lua/step.lua#whole G-XAh2: step.op == 'look' or step.op == 'tally' => true":
    'The right is tried where it is not needed, too: everybody who sells has it.',
  "src/stock/redis/lua/step.lua#whole UjVVXZ: step.op == 'tally' => true":
    'The right is tried where it is not needed, too: everybody who sells has it.',
  'src/stock/redis/lua/step.lua#whole FsHTGW: 1 => 2':
    'What is found is not read: what counts is that there is an answer.',
  'src/stock/redis/lua/step.lua#whole 1_y36E: 0 => 1': 'It has two for each field.',
  'src/backends/postgres/sql/advisory-attempt.sql#script 5OmZsN: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/postgres/sql/advisory-setup.sql#script Qwy26r: 0 => 1':
    'Whoever sets up keeps out all others who do; that they wait for those who draw as well only costs time.',
  'src/backends/postgres/sql/advisory-setup.sql#token 32kAoG: < => <=': 'The sequence is set to where it is.',
  'src/backends/postgres/sql/note-read.sql#script p7S-h2: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/server.sql#pause jwDnl0: 0 => 1':
    'Only a SLEEP that somebody interrupts gives anything but 0, and then neither answer is known to be true.',
  'src/backends/file/sql/schema.sql#script v99TSd: = => <>':
    'Without the index a claim is found too, which only costs time; ids are drawn so that none comes twice.',
  'src/backends/file/sql/schema.sql#script fT2VgT: 0 => 1':
    'Without the index a claim is found too, which only costs time; ids are drawn so that none comes twice.',
  'src/backends/redis/lua/include/line.lua#line_rule wWHnda: 2147483647 => 21474836470':
    'No lock has as many seats as either.',
  'src/backends/redis/lua/include/line.lua#line_rule 6EHBdD: 500 => 5000':
    'More holders are counted anew by one script, which only costs time.',
  'src/backends/redis/lua/include/line.lua#line_rule vHMNUb: 300000 => 0':
    'The keys are made to live longer with each step, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule IZ3gRZ: 300000 => 3000000':
    'What a line of dead processes leaves is there for longer, which only costs space.',
  'src/backends/redis/lua/include/line.lua#line_rule YYlIvd: < => <=':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule 4mIjRj: of == line.room => false':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule Dqz_mN: 1 => 0':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule B2VFRe: 0 => 1':
    'How many named the room is asked for only where it is less than all seats, and then it was counted from 0 again.',
  'src/backends/redis/lua/include/line.lua#line_rule i1cZl-: 0 => 1':
    'How many named the room is asked for only where it is less than all seats, and then it was counted from 0 again.',
  'src/backends/redis/lua/include/line.lua#line_rule OftKoJ: 0 => 1': 'No key is to vanish in the first ms of 1970.',
  'src/backends/redis/lua/include/line.lua#line_rule JIE7ZS: 0 => 1':
    'The last token, which is as good as the clock, is more than either.',
  'src/backends/redis/lua/include/line.lua#line_rule NWkFZJ: 1 => 2':
    'Either way one holder leaves no room, and when it goes the sum begins anew.',
  'src/backends/redis/lua/include/line.lua#line_rule TATRyC: 1 => 0':
    'Either way one holder leaves no room, and when it goes the sum begins anew.',
  "src/backends/redis/lua/include/line.lua#line_rule 5HBfs4: type(redis.pcall('UNLINK', line.places, line. … ) == 'table' => true":
    'What was freed by the first command is not there for the second.',
  'src/backends/redis/lua/include/line.lua#line_rule JPzRTD: > => >=':
    'The last token of a free lock is remembered for longer.',
  'src/backends/redis/lua/include/line.lua#line_rule M3E-nG: > => >=': 'The keys are kept longer, a step sooner.',
  'src/backends/redis/lua/include/line.lua#line_rule aWdTQV: no_seats(line) => nothing':
    'The sweep that follows finds nobody, and begins anew.',
  'src/backends/redis/lua/include/line.lua#line_rule 5Ib_pt: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/line.lua#line_rule iE1K_e: < => <=':
    'No score is 0 or 1: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/include/line.lua#line_rule BArhd6: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/include/line.lua#line_rule hLoC0B: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  "src/backends/redis/lua/include/line.lua#line_rule PoR08_: type(holders) == 'number' and holders > COUNTED => false":
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule H_567-: > => >=':
    'Where there are just as many, they are counted anew when the next one has left.',
  'src/backends/redis/lua/include/line.lua#line_rule y36zVJ: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/include/line.lua#line_rule okOiQn: > => >=':
    'Where no seat is taken nobody is found, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule O3W7_M: 0 => 1':
    'No score is 0 or 1: those of holders are far below, those of waiters are tokens.',
  'src/backends/redis/lua/include/line.lua#line_rule Fhm33l: 1 => 2': 'Only the first of those that are found is read.',
  'src/backends/redis/lua/include/line.lua#line_rule KqlJLW: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/redis/lua/include/line.lua#line_rule PCmrSv: line.tight < 1 => true':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule avcNmZ: < => <=':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule ZiABh0: 1 => 2':
    'Holders are counted anew where they need not be, which only costs.',
  'src/backends/redis/lua/include/line.lua#line_rule 4UgODG: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/line.lua#line_rule M-7Phz: 1 => 2':
    'A prefix is not empty, so that text never begins an address.',
  'src/backends/redis/lua/include/line.lua#line_rule MgcIX4: true => false':
    'No sign of that text has another meaning in a pattern.',
  'src/backends/redis/lua/include/line.lua#line_rule 7LiiKx: false => true':
    'Where no room is left no claim fits, and somebody holds: neither question needs this answer.',
  'src/backends/redis/lua/include/line.lua#line_rule iYs31r: 1 => 2': 'Only the first of those that are found is read.',
  'src/backends/redis/lua/include/line.lua#line_rule lkUE0B: 1 => 0':
    'A text of Lua begins at 1, and 0 means the same.',
  'src/backends/redis/lua/include/line.lua#line_rule aSX_0T: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/primitives/lock.ts#LockObject.constructor FrIrmD: terms.adaptive || terms.detect => true':
    'What is called then asks the same, which only costs more on the way of every lock.',
  'src/primitives/lock.ts#LockObject.constructor LcDGl2: given === undefined ? defaults : defaults.with => defaults.with':
    'Without options the defaults stay what they are, which only costs more on the way of every lock.',
  'src/backends/postgres/sql/advisory-look.sql#script SiwqSP: NOT NULL => NULL':
    'The lock is taken in either case, and nobody reads what the column says.',
  'src/backends/postgres/sql/facts.sql#script J6Qq2O: 0 => 1':
    'Of no transaction it is told as little as of one of a second.',
  'src/backends/postgres/sql/inspect.sql#script OdspZh: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/postgres/sql/inspect.sql#script vMIMoS: ORDER BY standing.key, standing.token => nothing':
    'The windows have sorted it so already; it is asked for so that no plan has to be trusted.',
  'src/backends/mysql/sql/queue.sql#exchange 8bg2LG: 16 => 160':
    'The first 16 signs decide, and nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/queue.sql#exchange TupdZ2: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/queue.sql#exchange TcVc0W: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/named.sql#getLock tRgpOk: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/sweep.sql#idle OJ6ZtU: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/queue.sql#join Otl5PF: <= => <':
    'Nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/queue.sql#leave YN6tl2: 16 => 160':
    'The first 16 signs decide, and nothing happens in the very µs of the clock that was read before.',
  'src/backends/mysql/sql/queue.sql#leave J_OAvc: > => >=':
    'Nothing happens in the very µs of the clock that was read before.',
};

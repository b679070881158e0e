/** Mutants that no test can tell from the sources, or that change nothing that is promised: by their ids, and why. */
export const EQUIVALENT: Readonly<Record<string, string>> = {
  'src/core/adaptive-history.ts#AdaptiveHistory.lengthen 48fc93c@262+1: 0 => 1':
    'No lease is as short as 1 ms, so one that was not learnt lengthens none.',
  'src/core/adaptive-history.ts#AdaptiveHistory.lengthen 48fc93c@239+24: this.#before?.lease ?? 0 => this.#before?.lease':
    'Without a lesson there is no number, which is not more than any lease either.',
  'src/core/adaptive-history.ts#AdaptiveHistory.lengthen 48fc93c@294+20: > => >=':
    'A lease that is made as long as it is.',
  'src/core/adaptive-history.ts#unlessAborted 531fc29@311+4: true => false': 'The listener is taken away in any case.',
  "src/core/adaptive.ts#read acc6301@119+10: text ?? '' => text":
    'What is not there is looked at as the word "undefined", which is no lesson.',
  'src/core/admission.ts#Tally.remove f97deee@107+1: 0 => 1': 'Whoever leaves came in before, so its room is counted.',
  'src/core/admission.ts#Tally.remove f97deee@103+30: ?? 0 => nothing':
    'Whoever leaves came in before, so its room is counted.',
  'src/core/alarm.ts#Alarm.by 92ee2bd@36+16: >= => >': 'The timer is set anew for the same moment.',
  'src/core/busy-poll.ts#BusyPoll.until af774af@9+1: 0 => 1': 'It is set before it is read.',
  'src/core/busy-poll.ts#BusyPoll.turns b528781@9+1: 0 => 1': 'It is set before it is read.',
  'src/core/busy-poll.ts#BusyPoll.polling d4d8046@11+5: false => true':
    'Nothing is answered before the first call has begun, which sets it.',
  'src/core/busy-poll.ts#BusyPoll.turn 40b1aa4@135+31: < => <=':
    'One turn of the loop more, at the very moment of the limit.',
  'src/core/call-timeouts.ts#CallTimeouts.end 9e9bcc8@259+1: 1 => 2':
    'Any number below 0 says that it is not under way.',
  'src/core/call-timeouts.ts#CallTimeouts.look bc76a6b@282+7: + => -':
    'Any next timer runs after what lies in the sockets was read.',
  'src/core/call-timeouts.ts#CallTimeouts.look bc76a6b@284+1: 1 => 0':
    'Any next timer runs after what lies in the sockets was read.',
  'src/core/call-timeouts.ts#CallTimeouts.look bc76a6b@284+1: 1 => 2':
    'Any next timer runs after what lies in the sockets was read.',
  'src/core/delay.ts#delayOf b249c54@344+1: 0 => 1': 'Half of 1 ms leaves no delay but 0, which was answered before.',
  'src/core/line.ts#Line.leave c74e9c6@151+24: this.#outside.size === 0 => false':
    'To look at nobody gives nobody; the list that is always the same only spares making one.',
  'src/core/outage.ts#Outage.exceeds 4d5d870@107+19: this.#since ?? sent => this.#since':
    'Nothing is later than what is not known, as nothing is later than itself.',
  'src/primitives/lock.ts#LockObject.resolve 12d916f@60+21: options === undefined => false':
    'The same options, resolved anew for each call: it only costs time.',
  'src/primitives/stop.ts#Stop.constructor 3046eb4@216+4: true => false': 'The listener is taken away in any case.',
  'src/primitives/multi-lock.ts#multiLock 6da319b@684+1: 1 => 2': 'Any number above 0 sorts the same.',
  'src/primitives/multi-lease.ts#MultiLease.constructor 1d8fdd7@101+1: 1 => 0':
    'A signal of one signal says what that one says.',
  'src/primitives/multi-lease.ts#MultiLease.constructor 1d8fdd7@84+90: parts.length === 1 ? parts[0]!.signal : AbortSignal.any => AbortSignal.any':
    'A signal of one signal says what that one says.',
  'src/core/key.ts#checkKey ef07fd1@325+30: > => >=': 'No length is a third of 512.',
  'src/core/key.ts#checkKey ef07fd1@323+1: 3 => (3 * 10)': 'Shorter keys are counted as well, which only costs time.',
  'src/core/line.ts#Line.head 2a1910c@39+74: this.#outside.size === 0 ? undefined : this.#outside.values => this.#outside.values':
    'The first of nobody is undefined as well; the question before only costs less.',
  'src/core/origin.ts#read 070e944@531+63: { return undefined; // no percent-encoding, so not ours } => skip':
    'A function that ends gives undefined.',
  'src/core/origin.ts#read 070e944@140+44: process === undefined || claim === undefined => (process === undefined) && (claim === undefined)':
    'What matches has both, what does not has neither.',
  'src/core/pause.ts#watchedPause 80b45cc@48+1: 1 => 0': 'One that is next has nobody before it in either count.',
  'src/core/server-clock.ts#ServerClock.learn 2408117@275+19: > => >=': 'The same number is kept.',
  'src/primitives/multi-lock.ts#multiLock 6da319b@680+1: 1 => 2': 'Any number below 0 sorts the same.',
  'src/primitives/multi-lock.ts#multiLock 6da319b@752+5: + => -': 'Of twins in a row each stands beside the other.',
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
};

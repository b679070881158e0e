import { duration } from '../../products/ui/page/kit/language.ts';
import { SCENES_EN } from './scenes-en.ts';
import type { Words } from './words.ts';

export const en: Words = {
  language: 'English',
  title: 'The lab',
  intro:
    'Three processes want to count up one number, one at a time. Watch what the network, the clocks and a pause make of it.',
  scenes: SCENES_EN,
  ways: { naive: 'Naive code', holdfast: 'holdfast' },
  engine: (number) => (number ? `engine ${number}` : 'the engine'),
  ms: (ms) => duration(ms, 'en'),
  sentences: {
    asks: ({ who }) => `${who} asks for the lock.`,
    begins: ({ who, token }) =>
      token
        ? `${who} hears that it has the lock, with token ${token}, and begins to work.`
        : `${who} hears that it has the lock, and begins to work.`,
    checks: ({ who, token }) =>
      token
        ? `${who} looks at its lease: still held. It is about to write.`
        : `${who} is done with its work, and about to write.`,
    overlaps: ({ who, other }) => `Two at once: ${who} works, and ${other} does, too.`,
    finishes: ({ who }) => `${who} is done.`,
    'stops-believing': ({ who, code }) =>
      code === 'paused'
        ? `By ${who}'s own clock the lease is over, too. But ${who} is paused, and cannot look.`
        : `By ${who}'s own clock the lease is over: it counts on the lock no more.`,
    'told-of-loss': ({ who }) => `The signal of ${who}'s lease fires: the lock is lost.`,
    'gives-up': ({ who, code }) => `${who} stops: ${code}.`,
    're-enters': ({ who, token }) =>
      `${who} asks for the lock again, inside. It is in it already: the same hold, the same token ${token}.`,
    'returns-false': ({ who }) => `${who} gives the lock back too late: release() says false, and nobody is touched.`,
    granted: ({ who, token, n, place }) =>
      token
        ? `${cap(place)} gives the lock to ${who}, with token ${token}.`
        : `${cap(place)} writes down: the lock is ${who}'s, for ${n} ms.`,
    'granted-for-ever': ({ who, place }) => `${cap(place)} writes down: the lock is ${who}'s. Without an end.`,
    admitted: ({ who, token, place }) =>
      `${cap(place)} gives the lock to ${who}, the first in line, with token ${token}.`,
    queued: ({ who, n, place }) => `${who} has to wait. ${cap(place)} keeps a place for it: number ${n} in the line.`,
    again: ({ who, token }) =>
      `${who} asks again, by the same id, and gets the same answer: the lock is its own, token ${token}.`,
    late: ({ who, place }) => `${who}'s request comes too late. ${cap(place)} refuses it: no ghost is made.`,
    refused: ({ who, other, place }) =>
      other
        ? `${cap(place)} says no to ${who}: ${other} has it. ${who} will ask again.`
        : `${cap(place)} says no to ${who}.`,
    'looks-free': ({ who }) => `${who} looks: nobody has the lock.`,
    'looks-taken': ({ who, other }) =>
      who === other ? `${who} looks: it has the lock itself.` : `${who} looks: ${other} has the lock.`,
    overwrites: ({ who, other }) => `${who} writes its name over ${other}'s.`,
    renewed: ({ who, place }) => `${cap(place)} renews ${who}'s lease.`,
    gone: ({ who, place }) => `${cap(place)} says: ${who}'s lease is over.`,
    'ending-set': ({ who, n }) => `${who} gives the lock an end: ${n} ms from now.`,
    released: ({ who, place }) => `${who} gives the lock back to ${place}.`,
    robs: ({ who, other }) => `${who} deletes the lock. But it is ${other}'s by now!`,
    'releases-nothing': ({ who, place }) => `${who} gives back what it no longer has. ${cap(place)} changes nothing.`,
    expired: ({ who, place }) => `${who}'s lease is over at ${place}.`,
    subscribed: ({ who }) => `${who} will be told of the next release, from now on.`,
    splits: ({ who, n }) =>
      `${who} has ${n} of 3 votes: too few. It gives back, and tries again after the same pause as everyone.`,
    reads: ({ who, n }) => `${who} reads the counter: ${n}.`,
    writes: ({ who, n }) => `${who} writes ${n}.`,
    loses: ({ who, n }) => `${who} writes ${n} over somebody else's ${n}: one count is lost.`,
    fenced: ({ who, token, other, code }) =>
      `The guard refuses ${who}'s ${code === 'read' ? 'read' : 'write'}: token ${token} is older than ${other}, which it has seen.`,
    paused: ({ who }) => `${cap(who)} is paused. It does not know.`,
    'goes-on': ({ who }) => `${cap(who)} goes on, exactly where it was.`,
    killed: ({ who }) => `${cap(who)} is killed.`,
    cut: ({ who }) => `The link of ${who} is cut: nothing gets through.`,
    mended: ({ who }) => `The link of ${who} works again.`,
    lost: ({ who, other, code = '' }) =>
      code === 'wake'
        ? `The word to ${other} that it may go is lost on its way.`
        : code === 'copy'
          ? `The copy to ${other} never arrives.`
          : code.endsWith('-answer')
            ? `The answer to ${other} is lost: it was done, and ${other} hears only that the connection broke.`
            : `${cap(who)}'s message is lost on its way: nothing was done, and ${who} hears only that the connection broke.`,
    'held-up': ({ who, other, n }) => `The message from ${who} to ${other} is held up, for ${n} ms.`,
    promoted: ({ who }) => `${cap(who)} takes over. It has never heard of the lock.`,
  },
  messages: {
    attempt: 'take',
    renew: 'renew',
    release: 'give back',
    wake: 'your turn',
    get: 'who?',
    set: 'set',
    expire: 'expire',
    delete: 'delete',
    subscribe: 'listen',
    read: 'read',
    write: 'write',
    copy: 'copy',
  },
  deeds: {
    take: 'Take the lock',
    pause: 'Pause',
    go: 'Go on',
    kill: 'Kill',
    cut: 'Cut the link',
    mend: 'Mend the link',
    lose: 'Lose it',
    hold: 'Hold it up',
  },
  harms: {
    two: ({ two }) => `Two worked at once, for ${two} ms.`,
    lost: ({ lost }) => `${lost} ${lost === 1 ? 'count was' : 'counts were'} lost.`,
    idle: ({ idle }) =>
      idle < Number.POSITIVE_INFINITY
        ? `For ${idle} ms somebody waited while nobody worked.`
        : 'Somebody waits for ever, and nobody works.',
    storm: ({ requests, done }) => `${requests} requests for ${done} ${done === 1 ? 'job' : 'jobs'}.`,
  },
  fine: ({ done, fenced, requests }) =>
    `Never two at once, nothing lost: ${done} ${done === 1 ? 'job' : 'jobs'} done with ${requests} requests to the engine${fenced > 0 ? ', and a stale write refused' : ''}.`,
  ui: {
    scenes: 'Scenes',
    choose: 'Choose a scene',
    play: 'Play',
    pause: 'Hold',
    back: 'Back',
    step: 'Step',
    restart: 'From the beginning',
    speed: 'Speed',
    slow: 'slow',
    normal: 'normal',
    fast: 'fast',
    time: 'Time',
    link: 'Copy the link',
    linked: 'Copied',
    story: 'What happens',
    begin: 'The clock stands at 0. Press play, or step.',
    code: 'The code',
    timeline: 'Who held when',
    believes: 'counts on the lock',
    kept: 'engine keeps it',
    vain: 'for nobody',
    asks: 'waits',
    paused: 'paused',
    dead: 'killed',
    two: 'two at once',
    idle: 'idle',
    asking: 'asks for the lock',
    works: 'works',
    giving: 'gives it back',
    noEnd: 'no end',
    over: 'lease over',
    free: 'free',
    holder: 'holds',
    waits: 'waits',
    token: 'token',
    counter: 'The counter',
    guard: 'guard: newest token',
    noGuard: 'no guard',
    lostWrites: 'lost',
    cut: 'cut off',
    ahead: 'its clock:',
    act: 'Do something to',
    yours: 'What you did',
    undo: 'Undo the last',
    clear: 'Undo all',
    verdict: 'What came of it',
    wrong: 'Wrong',
    right: 'Right',
    other: 'Now the other way',
    seed: 'Seed',
    another: 'Another seed',
    keys: 'Keys: space plays and holds, ← and → step, Home begins again, W changes the way.',
    documentation: 'Back to the documentation',
    drag: 'Choose whom, then what. Or drag what onto whom.',
  },
};

function cap(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

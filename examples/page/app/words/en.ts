import type { Words } from './words.ts';

const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const en: Words = {
  title: 'Who gets it?',
  lead: 'Many tap in the same moment. Watch the same rush twice: without a lock, and with one.',
  scenes: 'What happens',
  scene: {
    orders: { name: 'Grab an order', words: '18 drivers, 3 orders. Each order is for one driver.' },
    sale: { name: 'Flash sale', words: '15 buyers, 6 units. Not one may be sold twice.' },
    paused: { name: 'A late write', words: 'The process that has the lock is stopped, and wakes too late.' },
  },
  strategies: 'How they take turns, on the right',
  strategy: {
    orders: {
      none: { name: 'no lock', words: 'Read, check the price, write. Nobody takes turns.' },
      url: { name: 'One lock per order', words: 'One enters, the others sleep in a line. Who leaves wakes the next.' },
      'url-spin': {
        name: 'The same, by asking',
        words: 'Nobody is woken: who waits asks again and again. Right, but slower.',
      },
      'in-process': {
        name: 'A lock in each process',
        words: 'an ordinary mutex, which the other processes do not see.',
      },
    },
    sale: {
      none: { name: 'no lock', words: 'Read the count, take the money, write the count.' },
      'segments-3': {
        name: 'Stock in segments',
        words: 'Three shelves with a lock each: three can pay at the same time.',
      },
      'one-lock': { name: 'One lock for all', words: 'One buyer at a time. Right, but everyone stands in one line.' },
      'reserve-3': {
        name: 'Reserve, then pay',
        words: 'A unit is set aside in one step, so nobody holds a lock while paying.',
      },
      'in-process': {
        name: 'A lock in each process',
        words: 'an ordinary mutex, which the other processes do not see.',
      },
    },
    paused: {
      none: { name: 'a lock, and no check of the token', words: 'The row takes any write.' },
      token: { name: 'Fencing token', words: 'Each grant has a higher number. The row refuses a lower one.' },
    },
  },
  unsafe: 'Goes wrong:',
  engine: (scheme) => (scheme === 'file' ? 'Locks are in a file on this machine.' : `Locks are on ${scheme}.`),
  again: 'Once more',
  tenMore: 'Ten more rounds',
  running: 'The processes run…',
  failed: (message) => `The round failed: ${message}`,
  without: { orders: 'Without a lock', sale: 'Without a lock', paused: 'A lock, but no token' },
  with: 'With',
  right: 'Right',
  wrong: 'Wrong',

  order: (thing) => `Order ${thing}`,
  free: 'free',
  segment: (thing) => `Shelf ${thing + 1}`,
  shelf: 'One shelf',
  process: (process) => `process ${process + 1}`,
  who: (scene, number) => (scene === 'sale' ? `buyer ${number}` : `driver ${number}`),
  read: (scene, count, left) =>
    scene === 'sale' ? `${count} read: ${left} left` : `${count} read: ${left > 0 ? 'free' : 'taken'}`,
  token: (token) => `token ${token}`,
  line: 'the line',
  doing: {
    home: 'has not tapped',
    waiting: 'waits in the line',
    inside: 'is at it',
    paused: 'its process is stopped',
    won: 'got it',
    wrong: 'was told yes, wrongly',
    refused: 'was refused',
    lost: 'was told no',
  },

  play: 'Play',
  pause: 'Pause',
  back: 'One step back',
  forward: 'One step on',
  time: 'Time',
  clock: (ms, of) => `${ms.toFixed(0)} of ${of.toFixed(0)} ms`,
  speed: 'Speed',
  slower: (factor) => (factor === 1 ? 'as it was' : `${factor} × slower`),

  holds: (token) => `lock, token ${token}`,
  stopped: (token) => `token ${token}, stopped`,
  lease: 'lease',
  leaseOver: 'the lease is over',
  newest: (token) => `newest token: ${token}`,
  refusedToken: (token) => `token ${token} refused`,
  overwritten: 'was written over',

  sentence(scene, strategy, { things, people, given, wrong, fewest, most, units, refused, ms, right }) {
    if (scene === 'paused') {
      return right && refused > 0
        ? 'Driver 1 woke too late. Its write carried an old token, and the row refused it: the order stays with driver 2.'
        : 'Driver 1 woke too late and wrote over driver 2. Both were told yes; one of them drives for nothing.';
    }
    if (scene === 'sale') {
      if (wrong > 0)
        return `${plural(given, 'buyer')} paid for ${plural(units, 'unit')}: ${wrong} of them get nothing.`;
      if (!right) return `${units - given} of ${units} units were left over.`;
      return `${units} units, ${given} buyers, none too many. The other ${people - given} were told “sold out”. All of it took ${ms.toFixed(0)} ms.`;
    }
    const each = fewest === most ? `${most}` : `${fewest} to ${most}`;
    if (strategy === 'in-process' && wrong > 0) {
      return `Each of ${things} orders went to ${each} drivers: one in each process, for no process sees the locks of the others.`;
    }
    if (wrong > 0) return `Each of ${things} orders went to ${each} drivers. ${wrong} of them drive for nothing.`;
    if (!right) return 'An order went to nobody.';
    return `Each of ${things} orders has one driver. The other ${people - given} waited their turn, read “taken”, and were told so.`;
  },
  happening(scene, { what, thing, token, left, won, ttl }, number) {
    const who = scene === 'sale' ? `Buyer ${number}` : `Driver ${number}`;
    const where = scene === 'sale' ? `shelf ${(thing ?? 0) + 1}` : `order ${thing}`;
    switch (what) {
      case 'taps':
        return scene === 'sale' ? `${who} taps.` : `${who} taps on ${where}.`;
      case 'waits':
        return `${who} waits in the line of ${where}.`;
      case 'enters':
        if (token === undefined) return `A unit on ${where} is set aside for ${who.toLowerCase()}.`;
        return `${who} has the lock of ${where}, token ${token}${ttl ? `, for ${ttl} ms` : ''}.`;
      case 'reads':
        if (scene === 'sale') return `${who} reads: ${left} left.`;
        return `${who} reads: ${where} is ${left ? 'free' : 'taken'}.`;
      case 'pauses':
        return `${who} has looked at its lease: all is well. Then its process is stopped.`;
      case 'wakes':
        return `${who} wakes, and knows nothing of the time that has passed.`;
      case 'writes':
        return scene === 'sale' ? `${who} has paid for a unit of ${where}.` : `${who} writes: ${where} is mine.`;
      case 'refused':
        return `${who} writes with token ${token}. The row has seen a newer one, and refuses.`;
      case 'told':
        if (won) return `${who} is told: it is yours.`;
        return `${who} is told: ${scene === 'sale' ? 'sold out' : 'taken'}.`;
    }
  },
  tally: 'Rounds so far',
  rounds: (rounds, wrong) => `wrong in ${wrong} of ${rounds}`,
  log: 'What the processes noted',
  real: (processes) =>
    `Nothing is acted: ${processes} processes of Node, a real table, a real lock engine. The page replays, slowly, what they noted.`,
  legend: 'Green: it is theirs. Red: told yes, and there is nothing for them. Grey: told no.',
};

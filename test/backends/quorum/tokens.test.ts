import { expect, test } from 'vitest';
import { randomFrom } from '../../../products/testing/random.ts';
import { majorityOf, tally, type Vote } from '../../../src/backends/quorum/tally.ts';

/**
 * The token algorithm alone: the real tally, over nodes and a network in miniature, in random schedules. Messages are
 * delayed, lost and overtake each other; nodes restart with their data; minorities are unreachable; rivals propose numbers of
 * their own, and their holds expire while they still gather votes.
 */
const SCHEDULES = 100_000;
const STEPS = 120;
const LEASE = 60;
/** Of messages that take longer, and how long at most. */
const SLOW = 0.3;
const DELAY = 40;

/** How it is decided: as the product does, or with a fault planted in it. */
type Variant = 'sound' | 'different majorities';

interface Storage {
  last: number;
  holder: number;
  expires: number;
}

/** A message to a node, or its answer to a rival. */
interface Message {
  readonly to: number;
  readonly rival: number;
  readonly round: number;
  readonly number: number;
  readonly kind: 'attempt' | 'store' | 'release' | 'yes' | 'stored' | 'no';
  readonly node: number;
  readonly due: number;
}

interface Rival {
  round: number;
  began: number;
  state: 'idle' | 'asking' | 'holding';
  seen: number;
  votes: Vote[];
  stored: Set<number>;
  number: number;
}

/** Runs one schedule; the first two tokens that came out of order, if any. */
function schedule(seed: number, variant: Variant): string | undefined {
  const random = randomFrom(seed);
  const among = (count: number): number => Math.floor(random() * count);
  const count = 3 + among(3);
  const majority = majorityOf(count);
  const nodes: Storage[] = Array.from({ length: count }, () => ({ last: among(40), holder: -1, expires: 0 }));
  const rivals: Rival[] = Array.from({ length: 2 + among(2) }, () => ({
    ...{ round: 0, began: 0, state: 'idle' as const, seen: 0, votes: [], stored: new Set<number>(), number: 0 },
  }));
  const wire: Message[] = [];
  let rounds = 0;
  let token = 0;
  let unreachable = -1;

  let now = 0;

  const send = (message: Omit<Message, 'due'>): void => {
    if (random() < 0.95) wire.push({ ...message, due: now + (random() < SLOW ? among(DELAY) : 0) });
  };
  const ask = (rival: number, node: number, kind: Message['kind'], number: number): void =>
    send({ to: node, rival, round: rivals[rival]!.round, number, kind, node });

  /** What a node does in one step. */
  const serve = ({ node: at, rival, round, number, kind }: Message): void => {
    const node = nodes[at]!;
    if (node.holder >= 0 && node.expires <= now) node.holder = -1;
    const answer = (reply: Message['kind'], with_: number): void =>
      send({ to: -1, rival, round, number: with_, kind: reply, node: at });
    if (kind === 'release') {
      if (node.holder === round) node.holder = -1;
    } else if (kind === 'store') {
      node.last = Math.max(node.last, number); // planted: whoever holds it
      answer('stored', number);
    } else if (node.holder >= 0 && node.holder !== round) answer('no', 0);
    else {
      const kept = node.holder === round;
      const token = kept ? Math.max(tokens.get(`${at} ${round}`)!, number) : Math.max(node.last + 1, number);
      tokens.set(`${at} ${round}`, token);
      node.last = Math.max(node.last, token);
      node.holder = round;
      node.expires = now + LEASE;
      answer('yes', token);
    }
  };
  const tokens = new Map<string, number>();

  const give = (rival: number): void => {
    for (const at of nodes.keys()) ask(rival, at, 'release', 0);
    rivals[rival]!.state = 'idle';
  };
  const granted = (rival: number, number: number): string | undefined => {
    const self = rivals[rival]!;
    self.seen = Math.max(self.seen, number);
    if (now - self.began >= LEASE) {
      give(rival); // slower than the lease
      return undefined;
    }
    self.state = 'holding';
    if (number <= token) return `seed ${seed}: token ${number} was granted after ${token}`;
    token = number;
    return undefined;
  };

  /** What a rival makes of an answer. */
  const hear = ({ rival, round, node, kind, number }: Message): string | undefined => {
    const self = rivals[rival]!;
    if (self.round !== round || self.state !== 'asking') return undefined;
    if (kind === 'stored') self.stored.add(node);
    else self.votes[node] = kind === 'yes' ? { kind: 'yes', token: BigInt(number) } : { kind: 'no' };
    self.seen = Math.max(self.seen, number);
    if (variant === 'different majorities') {
      const yes = self.votes.filter((vote) => vote.kind === 'yes');
      if (self.number > 0) return self.stored.size >= majority ? granted(rival, self.number) : undefined;
      if (yes.length < majority) return undefined;
      self.number = Math.max(...yes.map((vote) => Number(vote.token)));
      for (const at of nodes.keys()) ask(rival, at, 'store', self.number);
      return undefined;
    }
    const verdict = tally(self.votes, majority, true);
    if (verdict.kind === 'won') return granted(rival, Number(verdict.token));
    if (verdict.kind === 'lost') give(rival);
    else if (verdict.kind === 'raise') {
      for (const [at, vote] of self.votes.entries()) {
        if (vote.kind !== 'yes' || vote.token >= verdict.to) continue;
        self.votes[at] = { kind: 'open' };
        ask(rival, at, 'attempt', Number(verdict.to));
      }
    }
    return undefined;
  };

  for (now = 1; now <= STEPS; now++) {
    if (random() < 0.05) unreachable = random() < 0.5 ? among(count) : -1; // cut off; what it keeps, it keeps
    const act = random();
    if (act < 0.25) {
      const rival = among(rivals.length);
      const self = rivals[rival]!;
      if (self.state === 'holding' && random() < 0.5) give(rival);
      else if (self.state === 'asking' && now - self.began > LEASE / 2) give(rival);
      else if (self.state === 'idle') {
        Object.assign(self, { round: ++rounds, began: now, state: 'asking', number: 0, stored: new Set() });
        self.votes = nodes.map(() => ({ kind: 'open' }));
        const proposal = random() < 0.5 ? self.seen + 1 : 0;
        for (const at of nodes.keys()) ask(rival, at, 'attempt', proposal);
      }
      if (self.state === 'holding' && now - self.began >= LEASE) self.state = 'idle';
    }
    for (let attempts = 0; attempts < 4 && wire.length > 0; attempts++) {
      const at = among(wire.length);
      const message = wire[at]!;
      if (message.due > now) continue;
      wire.splice(at, 1);
      if (message.node === unreachable) {
        if (random() < 0.5) wire.push(message); // later, or never
        continue;
      }
      if (message.to >= 0) serve(message);
      else {
        const inversion = hear(message);
        if (inversion) return inversion;
      }
    }
  }
  return undefined;
}

test(`tokens strictly grow in ${SCHEDULES} random schedules`, { timeout: 120_000 }, () => {
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const inversion = schedule(seed, 'sound');
    if (inversion) expect.fail(inversion);
  }
});

test('to count admissions and stored numbers over different majorities inverts tokens', { timeout: 120_000 }, () => {
  let found: string | undefined;
  for (let seed = 1; seed <= SCHEDULES && !found; seed++) found = schedule(seed, 'different majorities');
  expect(found).toMatch(/was granted after/);
});

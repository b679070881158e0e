import { setTimeout as sleep } from 'node:timers/promises';
import type { LineProgram } from '../../../kit/line-program.ts';
import { until } from '../../../kit/wait.ts';
import { half } from '../fleet.ts';
import { type Peer, type Sides, sidesOf } from './peers.ts';

/** The lease under which both renew, ms, unless the peer has another. */
const LEASE = 700;
/** The lease of those that are killed, ms. */
export const DEAD_LEASE = 1_000;
/** What one waits for a lease that nobody renews, ms. */
export const LONG = 3_000;

export interface Scale {
  /** Hand-overs in each direction. */
  readonly rounds: number;
  /** How long both race, ms. */
  readonly race: number;
  /** How many processes of each race. At least 2. */
  readonly racers: number;
}

/** One direction: the first holds, and the second one wants the lock. */
export interface HandOver {
  /** How often it was refused while the first held, of `rounds`. */
  readonly refused: number;
  /** From the call of the release to the answer that it holds, ms. */
  readonly took: readonly number[];
}

/** A holder was killed, and the other one waited for its lease to end. ms. */
export interface Death {
  readonly sinceTake: number;
  readonly sinceKill: number;
}

/** What was seen of a peer and us. */
export interface Row {
  readonly rounds: number;
  readonly weHold: HandOver;
  readonly theyHold: HandOver;
  /** How often the other side was let in beside a holder that renewed, for three leases. */
  readonly besideUs: number;
  readonly besideThem: number;
  readonly weDied: Death;
  readonly theyDied: Death;
  /** What one of our processes needs to take a free lock and give it back, the middle one of some, ms. */
  readonly idle: number;
  /** Whether the second take of a holder was granted, and the hold was kept until the second release. */
  readonly weReenter: boolean;
  readonly theyReenter: boolean;
  /** How long the race was, ms, and the sections of each process. */
  readonly race: number;
  readonly ourSections: readonly number[];
  readonly theirSections: readonly number[];
  readonly overlaps: number;
}

const takes = async (side: LineProgram, key: string, ttl: number, wait = 0): Promise<boolean> =>
  (await side.ask(`take ${key} ${ttl} ${wait}`, wait)) === 'yes';

/** A peer that gives up after some tries is asked again, and one that gives a busy server a part of its lease only. */
const getsIn = (side: LineProgram, key: string, ttl = 10_000): Promise<void> =>
  until(`the next gets ${key}`, () => takes(side, key, ttl, LONG));

async function handOver(first: LineProgram, second: LineProgram, key: string, rounds: number): Promise<HandOver> {
  const took: number[] = [];
  let refused = 0;
  for (let i = 0; i < rounds; i++) {
    await getsIn(first, key);
    if (await takes(second, key, 10_000)) {
      for (const side of [second, first]) await side.ask(`release ${key}`);
      continue;
    }
    refused++;
    const waiting = getsIn(second, key).then(() => performance.now());
    await sleep(150 + 10 * i);
    const began = performance.now();
    await first.ask(`release ${key}`);
    took.push((await waiting) - began);
    await second.ask(`release ${key}`);
  }
  return { refused, took };
}

async function reenters(side: LineProgram, other: LineProgram, key: string): Promise<boolean> {
  await getsIn(side, key);
  const again = await takes(side, key, 10_000);
  if (again) {
    await side.ask(`release ${key}`);
    if (await takes(other, key, 10_000)) throw new Error(`${key} was free after the first of two releases`);
  }
  await side.ask(`release ${key}`);
  await getsIn(other, key);
  await other.ask(`release ${key}`);
  return again;
}

/** Gives how often the other one was let in within three leases. One that cannot renew takes the lock for longer. */
async function renewing(
  first: LineProgram,
  second: LineProgram,
  key: string,
  { lease = LEASE, renews }: Pick<Peer, 'lease' | 'renews'>,
) {
  await getsIn(first, key, renews === 'never' ? 5 * lease : lease);
  let [beside, missed] = [0, 0];
  const began = performance.now();
  for (let renewed = began; performance.now() - began < 3.1 * lease; ) {
    if (renews === 'by a call' && performance.now() - renewed > lease / 6) {
      renewed = performance.now();
      missed = (await first.ask(`renew ${key} ${lease}`)) === 'yes' ? 0 : missed + 1;
      if (missed > 2) throw new Error(`${key} was not renewed`);
    }
    if (await takes(second, key, 10_000)) {
      beside++;
      await second.ask(`release ${key}`);
    }
    await sleep(lease / 10);
  }
  await first.ask(`release ${key}`);
  await getsIn(second, key);
  await second.ask(`release ${key}`);
  return beside;
}

async function death(first: LineProgram, second: LineProgram, key: string): Promise<Death> {
  const taken = performance.now();
  await getsIn(first, key, DEAD_LEASE);
  await sleep(DEAD_LEASE / 4);
  await first.kill();
  const killed = performance.now();
  await getsIn(second, key);
  const now = performance.now();
  return { sinceTake: now - taken, sinceKill: now - killed };
}

async function idling(side: LineProgram, key: string): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < 9; i++) {
    const began = performance.now();
    await getsIn(side, key);
    await side.ask(`release ${key}`);
    took.push(performance.now() - began);
  }
  return half(took);
}

async function racing(
  key: string,
  race: number,
  all: readonly LineProgram[],
): Promise<{ sections: number[]; overlaps: number }> {
  const answers = await Promise.all(all.map((side) => side.ask(`race ${key} 5000 ${race}`, 2 * race)));
  const numbers = answers.map((answer) => answer.split(' ').map(Number));
  return {
    sections: numbers.map(([served]) => served!),
    overlaps: numbers.reduce((sum, [, overlaps]) => sum + overlaps!, 0),
  };
}

/**
 * Two processes of a peer and two of ours, one over each client library, on one server or over a majority of several. More of each come for the
 * race.
 */
export async function rowOf(
  peer: Peer,
  ports: readonly number[],
  referee: number,
  scale: Scale,
): Promise<Row | undefined> {
  const sides: Sides | undefined = await sidesOf(peer, ports, referee);
  if (!sides) return undefined;
  const { rounds, race, racers } = scale;
  await using stack = new AsyncDisposableStack();
  const startAll = async (count: number) => {
    const ours = Array.from({ length: count }, (_, i) => sides.us(i % 2 === 0 ? 'ioredis' : 'node-redis'));
    const theirs = Array.from({ length: count }, () => sides.them());
    // If one cannot be started, the others are ended when they are there.
    const started = await Promise.allSettled([...ours, ...theirs].map(async (each) => stack.use(await each)));
    const programs = started.map((each) => {
      if (each.status === 'rejected') throw each.reason;
      return each.value;
    });
    return { ours: programs.slice(0, count), theirs: programs.slice(count) };
  };
  const { ours, theirs } = await startAll(2);
  const [us, us2] = ours as [LineProgram, LineProgram];
  const [them, them2] = theirs as [LineProgram, LineProgram];
  const key = (what: string): string => `${peer.title.replaceAll(/\W+/g, '-')}:${what}`;
  const idle = await idling(us, key('idle'));
  const weHold = await handOver(us, them, key('ours'), rounds);
  const theyHold = await handOver(them, us, key('theirs'), rounds);
  const weReenter = await reenters(us, them, key('again'));
  const theyReenter = await reenters(them, us, key('again'));
  const [besideUs, besideThem] = await Promise.all([
    renewing(us, them, key('our-renewal'), { ...peer, renews: 'itself' }),
    renewing(them2, us2, key('their-renewal'), peer),
  ]);
  const more = await startAll(racers - 2);
  const { sections, overlaps } = await racing(key('race'), race, [...more.ours, us, us2, ...more.theirs, them, them2]);
  const [weDied, theyDied] = await Promise.all([
    death(us2, them, key('our-death')),
    death(them2, us, key('their-death')),
  ]);
  return {
    ...{ rounds, weHold, theyHold, besideUs, besideThem, weDied, theyDied, weReenter, theyReenter, idle, overlaps },
    race,
    ourSections: sections.slice(0, racers),
    theirSections: sections.slice(racers),
  };
}

import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/*
 * What each program of a peer, in any language, and our own one reads, a line each. Times are in ms.
 *   take KEY TTL WAIT   yes, or no if somebody else has it. A holder that takes again asks as a re-entrant one would: the same thread or context
 *   renew KEY TTL       yes, or no if the lock was lost
 *   release KEY         yes; gives back the last one of KEY that was taken
 *   race KEY TTL MS     takes and releases for so long, and answers how many sections there were, and how many of them overlapped with others:
 *                       the counter KEY at another server, the referee, was not 1 after an INCR. After a section comes a pause of up to 20
 *                       times its length, so that the lock is free for most of the time, however slow the machine is
 * A failure is answered by `error` and a text. The program says `ready` when it is, and ends with its input.
 */

export interface Held {
  renew?(ttl: number): Promise<boolean>;
  release(): Promise<unknown>;
}

/** Gives null where somebody else has the lock. */
export type Take = (key: string, ttl: number, wait: number) => Promise<Held | null>;

async function race(take: Take, referee: Redis, key: string, ttl: number, during: number): Promise<string> {
  let [served, overlaps] = [0, 0];
  for (const end = performance.now() + during; performance.now() < end; ) {
    const held = await take(key, ttl, during);
    if (!held) continue;
    const began = performance.now();
    if ((await referee.incr(key)) !== 1) overlaps++;
    await sleep(2);
    await referee.decr(key);
    await held.release();
    served++;
    await sleep(Math.random() * 20 * (performance.now() - began));
  }
  return `${served} ${overlaps}`;
}

/** Answers until the input ends, and then ends the process. */
export async function serve(take: Take, refereePort: number): Promise<never> {
  const referee = new Redis(refereePort);
  const holds = new Map<string, Held[]>();
  const answer = async (command: string, key: string, first: number, second: number): Promise<string> => {
    const mine = holds.get(key) ?? [];
    holds.set(key, mine);
    if (command === 'race') return race(take, referee, key, first, second);
    if (command === 'renew') return (await mine.at(-1)!.renew!(first)) ? 'yes' : 'no';
    const held = command === 'take' ? await take(key, first, second) : await mine.pop()!.release();
    if (command === 'take' && held) mine.push(held as Held);
    return command === 'take' && !held ? 'no' : 'yes';
  };
  console.log('ready');
  for await (const line of createInterface(process.stdin)) {
    const [command, key, first, second] = line.split(' ');
    const said = await answer(command!, key!, Number(first), Number(second)).catch((error) => `error ${error}`);
    console.log(said.replaceAll('\n', ' '));
  }
  process.exit(0);
}

import { backOff } from '../../core/claims/pause.ts';
import type { Finding } from '../../core/contract/backend.ts';
import { LockError } from '../../core/contract/errors.ts';
import { sleep } from '../../core/contract/promises.ts';
import type { Written } from '../../core/contract/register-store.ts';
import type { Calls } from './calls.ts';
import { keyOf, noteText } from './document.ts';

/** What a store did that makes it useless for locks. */
export type Lie = 'over a version that was gone' | 'over something that was there';

/** Others may prove at the same time. That a write is refused because of them proves something, too. */
const MOST_TRIES = 6;
const PAUSE = { pause: 5, jitter: 1, bound: 200 };

const took = (written: Written): boolean => written === true || typeof written === 'string';

/**
 * Writes twice with one version, and once only if nothing is there, over an object that is kept for that: four requests, and two more the
 * first time. Some stores ignore the conditions of a write, and say that all went well.
 */
export async function proof(calls: Calls): Promise<Lie | undefined> {
  const { clock, prefix } = calls;
  const name = `${prefix}/proof`;
  const write = (ifVersion: string | undefined): Promise<Written> =>
    calls.write(name, noteText('proof', { text: 'of compare and set', life: 0 }, calls.mark()), ifVersion);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { text, version } = (await calls.read(name)) ?? {};
    if (text === undefined) {
      await write(undefined);
      continue;
    }
    if (keyOf(text) !== 'proof') throw foreign(calls, name);
    if (took(await write(version))) {
      if (took(await write(version))) return 'over a version that was gone';
      return took(await write(undefined)) ? 'over something that was there' : undefined;
    }
    await sleep(clock, backOff(PAUSE, tries, clock.random()));
  }
  return undefined;
}

const foreign = ({ store: { name: backend } }: Calls, name: string): LockError =>
  new LockError('LOCK_INVALID', `in ${backend}, ${name} is something that holdfast did not write; choose a prefix`, {
    backend,
  });

const ADVICE =
  'two processes would both hold; use a store that keeps the conditions of a write, or a version of it that does';

/** @throws LockError `LOCK_UNSUPPORTED` */
export function refuse(backend: string, lie: Lie | undefined): void {
  if (!lie) return;
  throw new LockError('LOCK_UNSUPPORTED', `${backend} let a write go ${lie}: ${ADVICE}`, { backend });
}

export const findingOf = (backend: string, lie: Lie): Finding => ({
  severity: 'danger',
  code: 'no-compare-and-set',
  message: `${backend} let a write go ${lie}, so two processes would both hold; no lock is taken here`,
  advice: 'use a store that keeps the conditions of a write, or a version of it that does',
});

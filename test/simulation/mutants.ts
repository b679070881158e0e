import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { memory } from '../../src/backends/memory.ts';
import type { quorum } from '../../src/backends/quorum/index.ts';
import type { register } from '../../src/backends/register/index.ts';
import type { createLocks } from '../../src/locks.ts';
import type { CheckerName } from './checkers.ts';

/** What is changed in a file of `src`, to plant a bug. */
export interface Edit {
  readonly file: string;
  readonly sound: string;
  readonly broken: string;
}

/** The core with one planted bug, and the checker that must find it. */
export interface Mutant extends Edit {
  readonly bug: string;
  readonly foundBy: CheckerName;
  /** The first seed to try, where those below it were seen to find nothing: a rare one takes minutes otherwise. Default 1. */
  readonly from?: number;
}

const SOURCE = join(import.meta.dirname, '..', '..', 'src');

/** What a run is made of. */
export interface Planted {
  readonly createLocks: typeof createLocks;
  readonly quorum: typeof quorum;
  readonly memory: typeof memory;
  readonly register: typeof register;
}

/** The library with a bug, from a copy of its source in `folder`. */
export async function plant(edits: readonly Edit[], folder: string): Promise<Planted> {
  cpSync(SOURCE, folder, { recursive: true });
  for (const edit of edits) make(edit, folder);
  const load = (...path: string[]): Promise<Planted> =>
    import(/* @vite-ignore */ pathToFileURL(join(folder, ...path)).href);
  const { createLocks } = await load('locks.ts');
  const { quorum } = await load('backends', 'quorum', 'index.ts');
  const { memory } = await load('backends', 'memory.ts');
  const { register } = await load('backends', 'register', 'index.ts');
  return { createLocks, quorum, memory, register };
}

function make({ file, sound, broken }: Edit, folder: string): void {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(sound).length !== 2)
    throw new Error(`${file} has to have this once, for the bug to replace: ${sound}`);
  writeFileSync(
    path,
    text.replace(sound, () => broken),
  );
}

export const QUORUM_MUTANTS: readonly Mutant[] = [
  {
    bug: 'answers an attempt again with the lease of the first',
    file: 'backends/quorum/backend.ts',
    sound: 'return ballot.outcomeFor(this.#context.clock.now());',
    broken: 'return ballot.open();',
    foundBy: 'votes',
    from: 9000,
  },
];

export const MUTANTS: readonly Mutant[] = [
  {
    bug: 'counts the deadline from the reply',
    file: 'core/queue/claim-step.ts',
    sound: 'this.outage = undefined;\n    this.sent = sent;',
    broken: 'this.outage = undefined;\n    this.sent = now;',
    foundBy: 'exclusion',
  },
  {
    bug: 'knows a loss only from its timer',
    file: 'core/queue/hold.ts',
    sound: 'return !this.life.over && this.timing.lasts(this.keeper.engine.clock.now());',
    broken: 'return !this.life.over;',
    foundBy: 'exclusion',
  },
  {
    bug: 'leaves no margin for clocks that go wrong',
    file: 'core/contract/clock.ts',
    sound: 'validFor * PART - ROUNDING',
    broken: 'validFor',
    foundBy: 'exclusion',
    from: 1000,
  },
  {
    bug: 'extends beside a renewal under way',
    file: 'core/queue/held-lease.ts',
    sound: 'await hold.renewing;',
    broken: '',
    foundBy: 'exclusion',
  },
  {
    bug: 'extends twice at once',
    file: 'core/queue/held-lease.ts',
    sound: 'await this.#engine.extensions.take(this.#hold.claim.id, () => this.#extend(ms));',
    broken: 'await this.#extend(ms);',
    foundBy: 'exclusion',
  },
  {
    bug: 'revives what a renewal finds past its deadline',
    file: 'core/queue/watchdog.ts',
    sound: 'const late = !hold.held;',
    broken: 'const late = false;',
    foundBy: 'finality',
  },
  {
    bug: 'hands over with the same token',
    file: 'core/queue/hold.ts',
    sound: 'token: token + 1n',
    broken: 'token',
    foundBy: 'tokens',
  },
  {
    bug: 'hands over beyond the reserved tokens',
    file: 'core/queue/release.ts',
    sound: 'if (tenure.passes + 1 >= hold.tokenCount) return false;',
    broken: '',
    foundBy: 'tokens',
    from: 550,
  },
  {
    bug: 'hands over while an extension is on its way',
    file: 'core/queue/release.ts',
    sound: ' || !hold.settled',
    broken: '',
    foundBy: 'exclusion',
    from: 2950,
  },
  {
    bug: 'says of a late release that it was in time',
    file: 'core/queue/key-holds.ts',
    sound: "hold.end('its deadline passed without a renewal');\n      return false;",
    broken: '',
    foundBy: 'losses',
  },
  {
    bug: 'does not withdraw the place of who gives up',
    file: 'core/queue/claim.ts',
    sound: 'if (!kept) this.withdraw();',
    broken: 'if (!kept && this.claimant) this.withdraw();',
    foundBy: 'wakeUps',
  },
  {
    bug: 'gives up a withdrawal that only a session would end',
    file: 'core/engine/withdrawal.ts',
    sound: "const expires = backend.traits.lifetime === 'lease';",
    broken: 'const expires = true;',
    foundBy: 'residue',
  },
  {
    bug: 'does not attempt again once the watch is there',
    file: 'core/engine/listener.ts',
    sound: 'this.#watch = armed;\n        this.ring();',
    broken: 'this.#watch = armed;',
    foundBy: 'wakeUps',
  },
  {
    bug: 'trusts its watch, without a poll beside it',
    file: 'core/queue/pause.ts',
    sound: 'Math.max(1, Math.min(net, turn))',
    broken: '1e9',
    foundBy: 'endings',
  },
  {
    bug: 'takes several locks in the order given',
    file: 'primitives/multi-lock.ts',
    sound: '.sort((a, b) => (a.name < b.name ? -1 : 1))',
    broken: '',
    foundBy: 'endings',
  },
  {
    bug: 'forgets a claim that rode on a release whose reply is lost',
    file: 'core/queue/claim-step.ts',
    sound: 'this.sent = sent; // it was sent, whether or not an answer ever comes',
    broken: '',
    foundBy: 'endings',
  },
  {
    bug: 'lets a child in that was aborted before it began',
    file: 'core/queue/frame.ts',
    sound: 'if (!request.isSettled && this.#children.join(request))',
    broken: 'if (this.#children.join(request))',
    foundBy: 'endings',
  },
  {
    bug: 'lets two children in together',
    file: 'core/queue/frame.ts',
    sound: 'if (!request.isSettled && this.#children.join(request)) this.#admit(request);',
    broken: 'this.#children.join(request);\n    this.#admit(request);',
    foundBy: 'children',
  },
  {
    bug: 'ends a hold while a child is inside',
    file: 'core/queue/frame.ts',
    sound: 'this.#lease.hold.life.enter();',
    broken: '',
    foundBy: 'losses',
  },
  {
    bug: 'waits for what the last holders left as long as it takes',
    file: 'core/queue/adaptive-history.ts',
    sound: "this.#engine.limit(ask, Math.min(within, NOTE_TIMEOUT), 'a note')",
    broken: 'ask()',
    foundBy: 'endings',
  },
  {
    bug: 'keeps what it has of several that it cannot have',
    file: 'primitives/multi-lock.ts',
    sound: 'await undo(leases);\n      throw abort.loss ?? error;',
    broken: 'throw abort.loss ?? error;',
    foundBy: 'endings',
  },
  {
    bug: 'goes on with several of which one was lost meanwhile',
    file: 'primitives/multi-lock.ts',
    sound:
      'abort.onLossOf(held);\n        for (const each of leases) each.assertHeld(); // one may be lost during the wait for the rest',
    broken: '',
    foundBy: 'tokens',
  },
  {
    bug: 'gives a key back before minHold is over',
    file: 'core/queue/hold-timing.ts',
    sound: 'this.keptUntil = terms.minHold > 0 ? now + terms.minHold : 0;',
    broken: 'this.keptUntil = 0;',
    foundBy: 'minHold',
  },
  {
    bug: 'tells of a loss in the context of whoever found it',
    file: 'core/contract/context.ts',
    sound: 'return this.#resource.runInAsyncScope(fn);',
    broken: 'return fn();',
    foundBy: 'contexts',
  },
  {
    bug: 'asks the engine in the context of a caller',
    file: 'core/contract/context.ts',
    sound: 'return nobody.runInAsyncScope(fn, undefined, ...args);',
    broken: 'return fn(...args);',
    foundBy: 'contexts',
  },
  {
    bug: 'leaves the watches of what it waited for',
    file: 'core/queue/claim.ts',
    sound: '} finally {\n      this.#listener?.disarm();',
    broken: '} finally {',
    foundBy: 'residue',
  },
];

import type { Memo, MemoOptions } from '../../src/index.ts';
import { FOR_EVER } from '../simulation/memo/simulate.ts';
import type { Actor } from './actor.ts';
import type { Plot } from './plots.ts';

const KEPT = { keeps: true, attempts: Number.POSITIVE_INFINITY } as const;

const memo = (actor: Actor, options: MemoOptions<string> = {}): Memo<string> =>
  actor.locks.memo<string>('a', { keep: FOR_EVER, ...options });

const fails = (actor: Actor) => async (): Promise<undefined> => void (await actor.step());

/** What the callers of memos in a few processes do. */
export const MEMO_PLOTS: readonly Plot[] = [
  { name: 'a memo', clients: 2, memos: KEPT, act: (actor) => actor.remembers(memo(actor)) },
  {
    name: 'a memo, told by mail',
    clients: 2,
    wakes: 'buffered',
    memos: KEPT,
    act: (actor) => actor.remembers(memo(actor)),
  },
  {
    name: 'a memo where nobody is woken',
    clients: 2,
    wakes: 'never',
    memos: KEPT,
    act: (actor) => actor.remembers(memo(actor)),
  },
  { name: 'a memo, three processes', clients: 3, memos: KEPT, act: (actor) => actor.remembers(memo(actor)) },
  {
    name: 'a memo, two callers in each process',
    clients: 2,
    memos: KEPT,
    act: async (actor) => void (await Promise.all([1, 2].map(() => actor.remembers(memo(actor))))),
  },
  {
    name: 'a memo whose work is longer than a lease',
    clients: 2,
    memos: KEPT,
    act: (actor, which) =>
      actor.remembers(memo(actor), which > 0 ? undefined : (op) => actor.works(400).then(() => `value of ${op}`)),
  },
  {
    name: 'a memo whose work fails in one process',
    clients: 2,
    memos: KEPT,
    act: (actor, which) => actor.remembers(memo(actor), which > 0 ? undefined : fails(actor)),
  },
  {
    name: 'a memo that is begun twice at most',
    clients: 3,
    memos: { keeps: true, attempts: 2 },
    act: (actor) => actor.remembers(memo(actor, { attempts: 2, rest: FOR_EVER }), fails(actor)),
  },
  {
    name: 'a memo for those who wait',
    clients: 2,
    memos: { keeps: false, attempts: Number.POSITIVE_INFINITY },
    act: async (actor, which) => {
      await actor.remembers(memo(actor, { keep: 0 }));
      if (which > 0) await actor.remembers(memo(actor, { keep: 0 }));
    },
  },
  {
    name: 'a memo whose caller gives up',
    clients: 2,
    memos: KEPT,
    act: (actor, which) =>
      which > 0
        ? actor.remembers(memo(actor), undefined, { wait: 50 })
        : actor.remembers(memo(actor), (op) => actor.works(100).then(() => `value of ${op}`)),
  },
];

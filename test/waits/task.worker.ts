import { connect } from '../../src/connect/index.ts';
import type { Duration, Lock, LockOptions } from '../../src/index.ts';
import { serve } from '../kit/worker.ts';

const locks = await connect(process.env.URL!, {
  label: process.env.LABEL!,
  ttl: (process.env.TTL ?? '10s') as Duration,
});

/** `a`: a mutex; `r|a` and `w|a`: a reader and a writer; `2/3|a`: two of three permits. */
function lockOf(text: string, options: LockOptions): Lock {
  const [kind, name] = text.includes('|') ? (text.split('|') as [string, string]) : ['', text];
  const [units, permits] = kind.split('/').map(Number);
  if (kind === 'r') return locks.rwLock(name, options).read;
  if (kind === 'w') return locks.rwLock(name, options).write;
  if (permits === undefined) return locks.mutex(name, options);
  const semaphore = locks.semaphore(name, { permits, ...options });
  return { ...semaphore, run: (fn, options) => semaphore.run(fn, { ...options, units }) } as Lock;
}

const inner = new Map<string, () => void>();
const works = new Map<string, Promise<string>>();

const calls = {
  /** Takes `first`, and when told by `goOn`, `second` inside of it. Resolves when it has the first. */
  async begin(first: string, second: string, options: LockOptions): Promise<void> {
    const told = Promise.withResolvers<void>();
    const has = Promise.withResolvers<void>();
    inner.set(first, told.resolve);
    const work = lockOf(first, {}).run(async () => {
      has.resolve();
      await told.promise;
      await lockOf(second, options).run(() => {});
    });
    works.set(
      first,
      work.then(
        () => 'done',
        (error) => error.code,
      ),
    );
    await has.promise;
  },
  goOn: (first: string): void => inner.get(first)!(),
  end: (first: string): Promise<string> => works.get(first)!,
  /** Nested holds for so long, in one order: how many, and the codes of what went wrong. */
  async nest(prefix: string, ms: number): Promise<{ holds: number; errors: string[] }> {
    const until = performance.now() + ms;
    const errors: string[] = [];
    let holds = 0;
    const work = async (i: number): Promise<void> => {
      while (performance.now() < until) {
        await locks
          .mutex(`${prefix}${i++ % 3}`)
          .run(() =>
            lockOf(`${i % 4 ? 'r' : 'w'}|${prefix}last`, { detect: true }).run(() => {
              holds += 2;
            }),
          )
          .catch((error) => errors.push(error.code));
      }
    };
    await Promise.all([work(0), work(1), work(2)]);
    return { holds, errors };
  },
};

export type TaskCalls = typeof calls;
serve(calls);

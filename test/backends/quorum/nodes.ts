import { memory } from '../../../src/backends/memory.ts';
import { EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Attempt, Backend, Claim } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';

export const claim = (more: Partial<Claim> = {}): Claim => ({
  ...{
    key: 'k',
    id: systemClock.id(),
    ...EXCLUSIVE,
    ttl: 30_000,
    queue: false,
    tokenCount: 1,
    within: 5_000,
    label: 'test',
  },
  ...more,
});

/** A node that does as it is told, and keeps what it was asked. */
export function told(backend: Backend, attempt: (asked: Promise<Attempt>) => Promise<unknown>): Backend {
  return new Proxy(backend, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (name === 'attempt') return (asked: Claim) => attempt(target.attempt(asked));
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** A node that can start anew, without what it has granted. */
export function restarting(): { readonly node: Backend; restart(): void } {
  let run = 0;
  let at = memory();
  const node = new Proxy(at, {
    get: (_, name) => {
      if (name === 'incarnation') return () => Promise.resolve(`run ${run}`);
      const value = Reflect.get(at, name, at);
      return typeof value === 'function' ? value.bind(at) : value;
    },
  });
  return {
    node,
    restart: () => {
      run++;
      at = memory();
    },
  };
}

export const holders = async (backend: Backend, prefix = ''): Promise<number> => {
  let count = 0;
  for await (const { held } of backend.inspect!(prefix)) if (held) count++;
  return count;
};

/** Gives the rejections that nothing handled while `work` ran. In a program of a user, each of them would end the process. */
export async function unhandledIn(work: () => Promise<void>): Promise<unknown[]> {
  const found: unknown[] = [];
  const note = (error: unknown): void => void found.push(error);
  process.on('unhandledRejection', note);
  try {
    await work();
    await new Promise((resolve) => setTimeout(resolve, 20));
  } finally {
    process.off('unhandledRejection', note);
  }
  return found;
}

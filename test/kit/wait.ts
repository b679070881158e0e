import { setTimeout as sleep } from 'node:timers/promises';

/** ms after which what has not come is taken to hang, also on a machine with ten times the work it can do. Where the time itself is the law, the test gives another. */
export const PATIENCE = 30_000;

/** Asks again and again until the answer is yes; throws after `within` ms, with the last error as its cause. */
export async function until(what: string, probe: () => boolean | Promise<boolean>, within = PATIENCE): Promise<void> {
  const end = performance.now() + within;
  let cause: unknown;
  for (let pause = 5; ; pause = Math.min(pause * 1.5, 100)) {
    try {
      if (await probe()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > end) throw new Error(`${what}: not within ${within} ms`, { cause });
    await sleep(pause);
  }
}

/** `promise`, or an error after `within` ms. */
export async function settleWithin<T>(what: string, promise: Promise<T>, within = PATIENCE): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${within} ms`)), within);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

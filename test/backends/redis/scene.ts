import { inspect } from 'node:util';
import { type Demand, EXCLUSIVE } from '../../../src/core/contract/admission.ts';
import type { Attempt, Backend, Claim, Grant } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';

/** A wish for one key, as core would make it. */
export const wish = (key: string, more: Partial<Claim> = {}, demand: Demand = EXCLUSIVE): Claim => ({
  key,
  id: systemClock.id(),
  ...demand,
  ttl: 30_000,
  queue: true,
  tokenCount: 1,
  within: 5_000,
  label: 'test',
  ...more,
});

export function granted(attempt: Attempt | undefined): Grant {
  if (!attempt?.granted) throw new Error(`expected a grant, got ${inspect(attempt)}`);
  return attempt;
}

/** The mailbox of one claim. */
export class Mail implements AsyncDisposable {
  readonly wakes: (Grant | undefined)[] = [];
  #watch: AsyncDisposable | undefined;
  #heard = (): void => {};

  static async of(backend: Backend, claim: Claim): Promise<Mail> {
    const mail = new Mail();
    mail.#watch = await backend.watch!(claim, (grant) => {
      mail.wakes.push(grant);
      mail.#heard();
    });
    return mail;
  }

  /** The next wake, with the grant if it brought one. */
  async next(within = 5_000): Promise<Grant | undefined> {
    if (this.wakes.length === 0) {
      await new Promise<void>((resolve, reject) => {
        const cancel = systemClock.after(within, () => reject(new Error(`nothing was heard in ${within} ms`)));
        this.#heard = () => {
          cancel();
          resolve();
        };
      });
    }
    return this.wakes.shift();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch?.[Symbol.asyncDispose]();
  }
}

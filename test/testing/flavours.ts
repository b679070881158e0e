import { around } from '../../products/testing/around.ts';
import { manualClock, type Subject } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { BufferedClaims } from '../../src/backends/shared/waiting-claims.ts';
import type { Backend, Claim } from '../../src/core/contract/backend.ts';
import type { Clock } from '../../src/core/contract/clock.ts';

/** The least that an engine may be: polled, without a line, readers, tokens or listings. */
export function poor(): Subject {
  const clock = manualClock();
  const engine = memory({ clock });
  const client = around(engine, {
    name: 'poor',
    traits: {
      ...engine.traits,
      units: 'exclusive',
      fair: false,
      canStarve: true,
      fencing: 'never',
      tokenBlocks: false,
      wakes: 'never',
    },
    attempt: (claim) => engine.attempt({ ...claim, queue: false }),
    watch: undefined,
    inspect: undefined,
    evict: undefined,
  });
  return { name: 'a poor backend', open: async () => client, clock };
}

/** All that an engine may be: wakes that come as mail, clients that die, a network that stalls, another prefix. */
export function rich(): Subject {
  const clock = manualClock();
  const engine = memory({ clock });
  const apart = memory({ clock });
  const lines = new Map<Backend, Line>();
  return {
    name: 'a rich backend',
    async open() {
      const line = new Line();
      const client = mailing(engine, line, clock);
      lines.set(client, line);
      return client;
    },
    apart: async () => apart,
    faults: {
      die: async (client) => lines.get(client)!.cut(),
      stall: async (client) => lines.get(client)!.stall(),
    },
    clock,
  };
}

/** The way from a client to the engine. */
class Line {
  #stalled: Promise<void> | undefined;
  #dead = false;

  async reach(): Promise<void> {
    if (this.#stalled) await this.#stalled;
    if (this.#dead) throw new Error('the connection is closed');
  }

  cut(): void {
    this.#dead = true;
  }

  stall(): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stalled = promise;
    return async () => {
      this.#stalled = undefined;
      resolve();
      await promise;
    };
  }
}

/** Grants come by mail to whoever opened a mailbox, before or after the attempt. */
function mailing(engine: Backend, line: Line, clock: Clock): Backend {
  const waiting = new BufferedClaims(clock);
  const listen = (claim: Claim): void => {
    void engine.watch!(claim, (grant) => waiting.addressee(claim.id)?.wake(grant));
  };
  return around(engine, {
    name: 'rich',
    traits: { ...engine.traits, wakes: 'buffered', renewedFrom: 'anywhere' },
    async attempt(claim) {
      const sent = clock.now();
      await line.reach();
      if (clock.now() - sent > claim.within) return { granted: false, late: true };
      const answer = engine.attempt(claim);
      listen(claim);
      return answer;
    },
    async renew(claims) {
      await line.reach();
      return engine.renew(claims);
    },
    async release(handle, next) {
      await line.reach();
      const answer = engine.release(handle, next);
      if (next) listen(next);
      return answer;
    },
    async store(handle, value) {
      await line.reach();
      return engine.store!(handle, value);
    },
    watch: (claim, wake, age) => waiting.watchSince(claim, wake, age),
    watchHold: (claim, wake, age) => waiting.watchSince(claim, wake, age),
    changed: (key, tell) => watchLine(engine, key, tell, clock),
  });
}

/** Looks at the line each ms. */
async function watchLine(engine: Backend, key: string, tell: () => void, clock: Clock): Promise<AsyncDisposable> {
  const look = async (): Promise<string> => {
    const line = [];
    for await (const { token } of engine.inspect!(key, { exact: true })) line.push(token);
    return line.join();
  };
  const before = await look();
  let cancel: () => void;
  const again = (): void => {
    cancel = clock.after(1, async () => ((await look()) === before ? again() : tell()), true);
  };
  again();
  return { [Symbol.asyncDispose]: async () => cancel() };
}

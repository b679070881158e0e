import { around } from '../../products/testing/around.ts';
import { ALL_UNITS, isExclusive } from '../../src/core/contract/admission.ts';
import type { Attempt, Backend, Claim } from '../../src/core/contract/backend.ts';

/** A grant that the engine knows nothing of. */
const MADE_UP: Attempt = { granted: true, token: 9_000_000_000_000_000n, validFor: 2_000 };

const mapped = (backend: Backend, change: (attempt: Attempt, claim: Claim) => Attempt): Backend =>
  around(backend, {
    attempt: async (claim) => change(await backend.attempt(claim), claim),
    // A wake-up may bring the grant.
    ...(backend.watch && {
      watch: (claim, wake, age) =>
        backend.watch!(
          claim,
          (grant) => {
            const changed = grant && change(grant, claim);
            wake(changed?.granted ? changed : undefined);
          },
          age,
        ),
    }),
    release: async (handle, next) => {
      const released = await backend.release(handle, next);
      return released.next && next ? { ...released, next: change(released.next, next) } : released;
    },
  });

/** Engines that break a promise, each in a way of its own. What the referee should say of them is in `broken.test.ts`. */
export const BROKEN: Readonly<Record<string, (backend: Backend) => Backend>> = {
  /** Now and then whoever is refused is told that they have it. */
  'grants twice': (backend) => {
    let refused = 0;
    return mapped(backend, (attempt, { units, capacity }) =>
      !attempt.granted && isExclusive({ units, capacity }) && ++refused % 10 === 0 ? MADE_UP : attempt,
    );
  },
  /** Its holders believe in a lease that is over. */
  'says that leases last longer than they do': (backend) =>
    around(
      mapped(backend, (attempt) => {
        if (!attempt.granted) return attempt;
        const { lost: _, ...grant } = attempt; // what a session carries is told of by that
        return { ...grant, validFor: grant.validFor * 20 };
      }),
      {
        renew: async (claims) =>
          (await backend.renew(claims)).map((answer) =>
            typeof answer === 'object' ? { validFor: answer.validFor * 20 } : 'unknown',
          ),
      },
    ),
  /** What a dead process held stays held. */
  'ignores expires': (backend) => {
    const eternal = (claim: Claim): Claim => ({ ...claim, ttl: claim.ttl * 1_000 });
    return around(backend, {
      attempt: (claim) => backend.attempt(eternal(claim)),
      renew: (claims) => backend.renew(claims.map(eternal)),
      release: (handle, next) => backend.release(handle, next && eternal(next)),
    });
  },
  /** Several grants in a row have the same token. */
  'gives tokens twice': (backend) => {
    const coarse = (token: bigint): bigint => token - (token % (token > 10n ** 12n ? 1_000_000n : 16n));
    return mapped(around(backend, { traits: { ...backend.traits, tokenBlocks: false } }), (attempt) =>
      attempt.granted ? { ...attempt, token: coarse(attempt.token) } : attempt,
    );
  },
  /** Who waits has to find out by asking again. */
  'drops wake-ups': (backend) => around(backend, { watch: () => ({ [Symbol.asyncDispose]: async () => {} }) }),
  /** A writer takes no more than a reader does. */
  'lets readers in beside a writer': (backend) => {
    const small = (claim: Claim): Claim => (claim.readWrite ? { ...claim, units: 1 } : claim);
    return around(backend, {
      attempt: (claim) => backend.attempt(small(claim)),
      release: (handle, next) => backend.release(handle, next && small(next)),
    });
  },
  /** There is room for one permit more than there are. */
  'gives a permit too many': (backend) => {
    const roomy = (claim: Claim): Claim =>
      claim.capacity === ALL_UNITS ? claim : { ...claim, capacity: claim.capacity + 1 };
    return around(backend, {
      attempt: (claim) => backend.attempt(roomy(claim)),
      release: (handle, next) => backend.release(handle, next && roomy(next)),
    });
  },
};

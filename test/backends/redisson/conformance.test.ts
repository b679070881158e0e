import { describe } from 'vitest';
import { around } from '../../../products/testing/around.ts';
import { conformance, type Subject } from '../../../products/testing/index.ts';
import type { RedissonOptions } from '../../../src/backends/redisson/index.ts';
import type { Backend, Claim } from '../../../src/core/index.ts';
import { describeCases, describeConformance, describeOn, type Lacks } from '../../kit/suite.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { sharedFleet } from '../redis/shared-fleet.ts';
import { FOREIGN_LACKS, MUTEX_LACKS } from '../redis-foreign/lacks.ts';
import { redissonOver } from './fleet.ts';

/**
 * A name is one kind of lock for Redisson, and the laws mix mutexes with readers on a key. So each kind keeps them by itself: mutexes alone, and
 * readers with every exclusive claim as a writer.
 */
const KINDS: Readonly<Record<string, { of: (backend: Backend) => Backend; lacks: Lacks }>> = {
  mutexes: {
    of: (backend) => around(backend, { traits: { ...backend.traits, units: 'exclusive' } }),
    lacks: MUTEX_LACKS,
  },
  'readers and writers': {
    of: (backend) => around(backend, { attempt: (claim: Claim) => backend.attempt({ ...claim, readWrite: true }) }),
    lacks: FOREIGN_LACKS,
  },
};

/** An `RFairLock` has a queue, in which nobody is passed. */
const { fairness: _, turns: __, ...FAIR_LACKS } = MUTEX_LACKS;

describeOn('redisson', 'redisson', () => {
  const here = sharedFleet();

  /** Clients of both libraries in turn. */
  const subjectOf = (kind: string, options: RedissonOptions = {}): Subject => {
    const name = `${kind} of redisson${options.fenced ? ', fenced' : options.fair ? ', fair' : ''}`;
    let opened = 0;
    const open = async (prefix: string): Promise<Backend> => {
      const key = (name: string): string => `${prefix}:${name}`;
      return KINDS[kind]!.of(await redissonOver(here.fleet, LIBRARIES[opened++ % 2]!, { ...options, key }));
    };
    return { name, open: () => open(name), apart: () => open(`${name}:apart`) };
  };

  for (const [kind, { lacks }] of Object.entries(KINDS)) describeConformance(subjectOf(kind), 'side by side', lacks);
  describeConformance(subjectOf('mutexes', { fenced: true }), 'side by side', MUTEX_LACKS);
  // It takes the head of a queue for a holder. For Redisson it is one when it has asked again.
  const other = 'random histories agree with the rule';
  const fair = subjectOf('mutexes', { fair: true });
  describe(`${fair.name} conforms, but for ${other}`, () =>
    describeCases(
      conformance(fair).filter(({ name }) => name !== other),
      'side by side',
      FAIR_LACKS,
    ));
});

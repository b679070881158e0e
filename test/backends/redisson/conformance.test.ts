import type { RedissonOptions } from '../../../src/backends/redisson/index.ts';
import type { Backend, Claim } from '../../../src/core/index.ts';
import { around } from '../../../src/testing/around.ts';
import type { Subject } from '../../../src/testing/index.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { sharedFleet } from '../redis/shared-fleet.ts';
import { redissonOver } from './fleet.ts';

/**
 * A name is one kind of lock for Redisson, and the laws mix mutexes with readers on a key. So each kind keeps them by itself: mutexes alone, and
 * readers with every exclusive claim as a writer.
 */
const KINDS: Readonly<Record<string, (backend: Backend) => Backend>> = {
  mutexes: (backend) => around(backend, { traits: { ...backend.traits, units: 'exclusive' } }),
  'readers and writers': (backend) =>
    around(backend, { attempt: (claim: Claim) => backend.attempt({ ...claim, readWrite: true }) }),
};

describeOn('redisson', 'redisson', () => {
  const here = sharedFleet();

  /** Clients of both libraries in turn. */
  const subjectOf = (kind: string, options: RedissonOptions = {}): Subject => {
    const name = `${kind} of redisson${options.fenced ? ', fenced' : ''}`;
    let opened = 0;
    const open = async (prefix: string): Promise<Backend> => {
      const key = (name: string): string => `${prefix}:${name}`;
      return KINDS[kind]!(await redissonOver(here.fleet, LIBRARIES[opened++ % 2]!, { ...options, key }));
    };
    return { name, open: () => open(name), apart: () => open(`${name}:apart`) };
  };

  for (const kind of Object.keys(KINDS)) describeConformance(subjectOf(kind));
  describeConformance(subjectOf('mutexes', { fenced: true }));
});

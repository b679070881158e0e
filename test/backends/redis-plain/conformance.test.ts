import type { Subject } from '../../../products/testing/index.ts';
import { describeConformance, describeOn } from '../../kit/suite.ts';
import { LIBRARIES, type Library } from '../redis/fleet.ts';
import { sharedFleet } from '../redis/shared-fleet.ts';
import { MUTEX_LACKS } from '../redis-foreign/lacks.ts';
import { plainOver } from './fleet.ts';

describeOn('redis-plain', 'plain redis', () => {
  const here = sharedFleet();

  /** Clients of these libraries in turn. */
  const subjectOf = (name: string, libraries: readonly Library[]): Subject => {
    let opened = 0;
    const open = (prefix: string): Promise<ReturnType<typeof plainOver> extends Promise<infer B> ? B : never> =>
      plainOver(here.fleet, libraries[opened++ % libraries.length]!, { key: (key) => `${prefix}:${key}` });
    return { name, open: () => open(name), apart: () => open(`${name}:apart`) };
  };

  for (const library of LIBRARIES)
    describeConformance(subjectOf(`plain redis over ${library}`, [library]), 'side by side', MUTEX_LACKS);
  describeConformance(subjectOf('plain redis in a mixed fleet', LIBRARIES), 'side by side', MUTEX_LACKS);
});

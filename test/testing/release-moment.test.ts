/**
 * What users of locks rely on holds on each engine, also where nobody waits for releases and holds linger: where others are known to
 * wait for the key, a hold does not linger, and its release leaves at the end of the turn. So both moments come up.
 */
import { afterAll, beforeAll } from 'vitest';
import { conformance, laws, type Subject } from '../../products/testing/index.ts';
import { openBackend } from '../../src/connect/open.ts';
import type { LockOptions } from '../../src/index.ts';
import { ENGINES } from '../kit/engines.ts';
import { ALL_SITES, type Site } from '../kit/sites.ts';
import { describeCases, describeOn } from '../kit/suite.ts';
import { ALL } from '../leading/sites.ts';

const OPTIONS: LockOptions = { awaitRelease: false, handOff: { linger: '3ms' } };

/** Without those of the contract, which an engine keeps or does not, whenever it is sent a release. */
const lawsOfLocks = (subject: Subject) => conformance(subject).slice(laws(subject).length);

for (const engine of ALL) {
  describeOn(engine === 'redlock' ? 'redis' : engine, `on ${engine}`, () => {
    let site: Site;
    beforeAll(async () => {
      site = await ALL_SITES[engine].start();
    }, 60_000);
    afterAll(() => site?.[Symbol.asyncDispose]());
    const subject = {
      name: engine,
      open: () => openBackend(site.url),
      options: OPTIONS,
      timing: ENGINES[engine].timing,
    };
    describeCases(lawsOfLocks(subject), engine === 'redlock' ? 'one by one' : 'side by side');
  });
}

import type { Found, KnownBug } from './bug.ts';
import { OF_MEMOS } from './of-memos.ts';
import { OF_NODE } from './of-node.ts';
import { OF_OURS } from './of-ours.ts';
import { OF_REDISSON } from './of-redisson.ts';
import { OF_SERVERS } from './of-servers.ts';

export const KNOWN_BUGS: Readonly<Record<string, readonly KnownBug[]>> = {
  Redisson: OF_REDISSON,
  'Libraries for Node': OF_NODE,
  'Locks over databases and coordinators': OF_SERVERS,
  'Results that are shared, by hand': OF_MEMOS,
  Ours: OF_OURS,
};

const DRAWN = 'the simulation, `test/simulation/mutants.test.ts`';

/** Where it is planted or played, in words. */
export function where(found: Found): string {
  switch (found.by) {
    case 'scene':
      return `*${found.test}* (\`${found.file}\`)`;
    case 'twin of a model':
      return `planted: \`${found.twin}\` in \`models/${found.model}.pml\` (\`test/models.test.ts\`)`;
    case 'planted in a backend':
      return `planted: a backend that *${found.bug}* (the conformance suite, \`test/testing/mutants.test.ts\`)`;
    case 'planted in memos':
      return `planted: a memo that *${found.bug}* (its simulation, \`test/simulation/memo/mutants.test.ts\`)`;
    case 'planted under torture':
      return `planted: an engine that *${found.bug}* (\`test/torture/broken.test.ts\`)`;
    default:
      return `planted: a ${found.by === 'planted in the core' ? 'core' : 'quorum'} that *${found.bug}* (${DRAWN})`;
  }
}

/** docs/known-bugs.md. */
export function page(): string {
  const all = Object.values(KNOWN_BUGS).flat();
  const planted = all.filter(({ found }) => found.by !== 'scene').length;
  const parts = Object.entries(KNOWN_BUGS).map(([name, bugs]) =>
    [
      `## ${name}`,
      ...(name === 'Redisson' ? ['', 'Numbers are of the tracker of `redisson/redisson`.'] : []),
      '',
      '| where | what went wrong | what finds it here |',
      '| --- | --- | --- |',
      ...bugs.map(({ source, what, found }) => `| ${source} | ${what} | ${where(found)} |`),
    ].join('\n'),
  );
  const head = [
    '# Known bugs, found again',
    '',
    `${all.length} defects that locks really had: of other projects, by their trackers or by running them, and our own. For each there is a`,
    `check here that finds it. ${planted} are planted: the defect stands in a copy of our code, and a test fails where the check misses it. For the others a`,
    'test plays the scene in which it showed. In a name, an ellipsis or a `%s` stands for what differs.',
    '',
    'This page is written from `test/known-bugs/table.ts` by `npm run prove -- known-bugs`; a test looks that all that it names is there.',
  ].join('\n');
  return `${[head, ...parts].join('\n\n')}\n`;
}

/** What stands beside every page, in the order in which a newcomer needs it. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { englishOf, isChinese, linkedPath, root } from './pages.ts';

export interface Section {
  readonly name: string;
  readonly chinese: string;
  /** Closed until it is opened, or one of its pages is read. */
  readonly folded?: boolean;
  /** Each page as a path from the top of the repository, and its title here. */
  readonly pages: readonly (readonly [page: string, title: string])[];
}

/** Each page of an engine, under the beginning of its heading. */
const pagesOfEngines = (): Section['pages'] =>
  globSync('docs/backends/*.md', { cwd: root })
    .map((page) => page.replaceAll('\\', '/'))
    .filter((page) => !isChinese(page))
    .sort()
    .map((page) => [page, /^# ([^:\n]+)/.exec(readFileSync(join(root, page), 'utf8'))![1]!]);

export const navigation: readonly Section[] = [
  {
    name: 'Start',
    chinese: '开始',
    pages: [
      ['docs/start.md', 'Start here'],
      ['docs/start-2.md', 'The second page'],
      ['docs/which-lock.md', 'Which lock, which engine?'],
      ['docs/guides/ttl-renewal-fencing.md', 'ttl, renewal and fencing'],
      ['docs/guides/traps.md', 'Traps, and the lab'],
      ['docs/README.md', 'All pages, and the words'],
    ],
  },
  {
    name: 'Use it',
    chinese: '使用',
    pages: [
      ['docs/guides/frameworks.md', 'In your framework'],
      ['docs/guides/nestjs.md', 'NestJS'],
      ['docs/guides/memo.md', 'Once: idempotency, memos'],
      ['docs/guides/schedules.md', 'Schedules and cron'],
      ['docs/guides/leading.md', 'Leading'],
      ['docs/recipes.md', 'Recipes'],
      ['docs/guides/locks-in-your-transaction.md', 'Locks in your transaction'],
      ['docs/guides/selling-without-overselling.md', 'Selling, and one hot key'],
      ['docs/guides/java-and-node.md', 'Java and Node.js on one lock'],
      ['docs/guides/testing.md', 'Testing'],
      ['docs/guides/advanced.md', 'Advanced options'],
    ],
  },
  {
    name: 'Engines',
    chinese: '引擎',
    folded: true,
    pages: [...pagesOfEngines(), ['docs/guides/your-own-engine.md', 'Your own engine']],
  },
  {
    name: 'Operate it',
    chinese: '运维',
    pages: [
      ['docs/production.md', 'Production'],
      ['docs/troubleshooting.md', 'Questions and troubleshooting'],
      ['docs/guides/seeing.md', 'Seeing locks'],
      ['docs/guides/telemetry.md', 'Telemetry'],
      ['docs/support.md', 'Support and upgrading'],
    ],
  },
  {
    name: 'Reference',
    chinese: '参考',
    pages: [
      ['docs/reference.md', 'Options and members'],
      ['docs/cli.md', 'The command line'],
      ['docs/comparison.md', 'Compared with others'],
      ['CHANGELOG.md', 'Changes'],
    ],
  },
  {
    name: 'Proof',
    chinese: '证据',
    folded: true,
    pages: [
      ['docs/promises.md', 'Promises'],
      ['docs/evidence/promises.md', 'The test and the run that show each'],
      ['docs/evidence.md', 'Evidence'],
      ['docs/evidence/suite.md', 'The whole suite'],
      ['docs/evidence/torture.md', 'Torture'],
      ['docs/evidence/hosts.md', 'Hosts of their own'],
      ['docs/evidence/owner.md', 'Faults of the server'],
      ['docs/evidence/histories.md', 'Random histories'],
      ['docs/evidence/orders.md', 'Orders of messages'],
      ['docs/evidence/bugs.md', 'Known bugs, planted bugs, models'],
      ['docs/evidence/mutants.md', 'Mutants'],
      ['docs/evidence/peers-under-faults.md', 'Other libraries'],
      ['docs/guides/torture.md', 'Torture your own server'],
      ['docs/evidence/memos.md', 'Memos under faults'],
      ['docs/evidence/peers.md', 'Other programs on one lock'],
      ['docs/compatibility.md', 'Versions that the tests ran on'],
      ['docs/known-bugs.md', 'Known bugs, found again'],
      ['docs/speed.md', 'How fast'],
      ['SECURITY.md', 'Security'],
      ['docs/decisions/README.md', 'Decisions'],
      ['docs/decisions/contract.md', 'The contract'],
      ['docs/decisions/one-queue.md', 'One queue'],
      ['docs/decisions/leases.md', 'Leases'],
      ['docs/decisions/re-entrance.md', 'Re-entrance'],
      ['docs/decisions/unawaited-release.md', 'Releases that no caller waits for'],
      ['docs/decisions/deadlocks.md', 'Deadlocks'],
      ['docs/decisions/server-clocks.md', 'Servers’ clocks'],
      ['docs/decisions/quorum.md', 'Quorum'],
      ['docs/decisions/redis-scripts.md', 'Redis scripts'],
      ['docs/decisions/tools.md', 'Tools'],
      ['README.md', 'The README'],
      ['ARCHITECTURE.md', 'Architecture'],
      ['CONTRIBUTING.md', 'Contributing'],
      ['CODE_OF_CONDUCT.md', 'Code of conduct'],
    ],
  },
];

/** Pages that only readers of Chinese have: they map what articles in Chinese teach. */
export const ONLY_CHINESE: Section['pages'] = [['docs/articles.zh-CN.md', '你读过的那些文章']];

/** What a page calls the pages that it links to, in whatever language they are. */
export function titlesIn(page: string): ReadonlyMap<string, string> {
  const links = readFileSync(join(root, page), 'utf8').matchAll(/\[([^\]]+)\]\(([\w./-]+\.md)\)/g);
  return new Map(
    [...links].map(([, title, target]) => [englishOf(linkedPath(page, target!)), title!.replaceAll('`', '')]),
  );
}

/** What stands beside every page, in the order in which a newcomer needs it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { englishOf, linkedPath, root } from './pages.ts';

export interface Section {
  readonly name: string;
  readonly chinese: string;
  /** Closed until it is opened, or one of its pages is read. */
  readonly folded?: boolean;
  /** Each page as a path from the top of the repository, and its title here. */
  readonly pages: readonly (readonly [page: string, title: string])[];
}

export const navigation: readonly Section[] = [
  {
    name: 'Start',
    chinese: '开始',
    pages: [
      ['README.md', 'holdfast'],
      ['docs/start.md', 'Start here'],
      ['docs/which-lock.md', 'Which lock do I need?'],
      ['docs/questions.md', 'Questions and answers'],
      ['docs/guides/choosing-an-engine.md', 'Choosing an engine'],
      ['docs/guides/ttl-renewal-fencing.md', 'ttl, renewal and fencing'],
      ['docs/guides/traps.md', 'Twelve traps'],
      ['docs/guides/lab.md', 'The lab'],
      ['docs/comparison.md', 'Compared with others'],
      ['docs/glossary.md', 'Glossary'],
      ['docs/README.md', 'All pages'],
    ],
  },
  {
    name: 'Engines',
    chinese: '引擎',
    folded: true,
    pages: [
      ['docs/backends/memory.md', 'Memory'],
      ['docs/backends/file.md', 'A file'],
      ['docs/backends/redis.md', 'Redis and Valkey'],
      ['docs/backends/redis-sentinel.md', 'Redis behind sentinels'],
      ['docs/backends/redis-cluster.md', 'Redis Cluster'],
      ['docs/guides/redis-replication.md', 'Redis with replicas'],
      ['docs/backends/redlock.md', 'Redlock, and any quorum'],
      ['docs/backends/redis-plain.md', 'Plain Redis, shared'],
      ['docs/backends/redisson.md', 'Redisson, shared with Java'],
      ['docs/backends/postgres.md', 'PostgreSQL'],
      ['docs/backends/mysql.md', 'MySQL and MariaDB'],
      ['docs/backends/mongodb.md', 'MongoDB'],
      ['docs/backends/etcd.md', 'etcd'],
      ['docs/backends/zookeeper.md', 'ZooKeeper'],
      ['docs/backends/nats.md', 'NATS'],
      ['docs/backends/s3.md', 'S3'],
      ['docs/backends/dynamodb.md', 'DynamoDB'],
      ['docs/backends/register.md', 'Register'],
    ],
  },
  {
    name: 'Guides',
    chinese: '指南',
    pages: [
      ['docs/guides/waiting.md', 'Waiting'],
      ['docs/guides/errors.md', 'Errors'],
      ['docs/guides/re-entrance.md', 'Re-entrance'],
      ['docs/guides/deadlocks.md', 'Deadlocks'],
      ['docs/guides/adaptive-leases.md', 'Adaptive leases'],
      ['docs/guides/blocked-loop.md', 'A blocked event loop'],
      ['docs/guides/releasing.md', 'What a release waits for'],
      ['docs/guides/locks-in-your-transaction.md', 'Locks in your transaction'],
      ['docs/guides/leading.md', 'Leading'],
      ['docs/guides/memo.md', 'Memos: one runs, all have it'],
      ['docs/guides/schedules.md', 'Schedules: once per tick'],
      ['docs/guides/one-hot-key.md', 'One hot key'],
      ['docs/guides/selling-without-overselling.md', 'Selling without overselling'],
      ['docs/guides/testing.md', 'Testing code that locks'],
      ['docs/guides/moving.md', 'Moving from other libraries'],
      ['docs/guides/java-and-node.md', 'Java and Node.js on one lock'],
      ['docs/guides/write-your-own-backend.md', 'Write your own backend'],
      ['docs/guides/your-own-store.md', 'Your own store'],
    ],
  },
  {
    name: 'Frameworks',
    chinese: '框架',
    pages: [
      ['docs/guides/frameworks.md', 'Express, Fastify, Next, a worker'],
      ['docs/guides/decorator.md', '@Locked'],
      ['docs/guides/nestjs.md', 'NestJS'],
      ['docs/guides/cron-libraries.md', 'Cron libraries'],
    ],
  },
  {
    name: 'Recipes',
    chinese: '实用范例',
    folded: true,
    pages: [
      ['docs/recipes/README.md', 'All recipes'],
      ['docs/recipes/scheduled-job.md', 'A scheduled job'],
      ['docs/recipes/message-once.md', 'A message, once'],
      ['docs/recipes/idempotency-key.md', 'An HTTP request, once'],
      ['docs/recipes/one-crawler-per-site.md', 'One crawler per site'],
      ['docs/recipes/partner-calls.md', 'Calls to a partner'],
      ['docs/recipes/rate-limit.md', 'A rate limit'],
      ['docs/recipes/rebuild.md', 'A cache stampede'],
      ['docs/recipes/over-services.md', 'Over several services'],
      ['docs/recipes/poller.md', 'A poller'],
      ['docs/recipes/one-connection.md', 'One outgoing connection'],
      ['docs/recipes/migrations.md', 'Migrations at start'],
      ['docs/recipes/refresh-token.md', 'A refresh token'],
      ['docs/recipes/job-table.md', 'A job table with leases'],
      ['docs/recipes/start-order.md', 'Starting before the engine'],
      ['docs/recipes/team-page.md', 'The page for a team'],
      ['docs/recipes/prom-client.md', 'Metrics by prom-client'],
    ],
  },
  {
    name: 'Operating',
    chinese: '运维',
    pages: [
      ['docs/production.md', 'Going to production'],
      ['docs/upgrading.md', 'Upgrading'],
      ['docs/support.md', 'Support'],
      ['docs/guides/operating.md', 'Operating it'],
      ['docs/guides/seeing.md', 'Seeing locks'],
      ['docs/guides/telemetry.md', 'Telemetry'],
      ['docs/troubleshooting.md', 'Troubleshooting'],
      ['docs/guides/torture.md', 'Torture your own server'],
    ],
  },
  {
    name: 'Reference',
    chinese: '参考',
    pages: [
      ['docs/reference.md', 'Options and members'],
      ['docs/cli.md', 'The command line'],
      ['CHANGELOG.md', 'Changes'],
    ],
  },
  {
    name: 'Promises and evidence',
    chinese: '保证与证据',
    pages: [
      ['docs/promises.md', 'Promises, and their tests'],
      ['docs/evidence.md', 'Evidence'],
      ['docs/evidence/orders.md', 'Orders of messages, each way'],
      ['docs/compatibility.md', 'Versions that the tests ran on'],
      ['docs/known-bugs.md', 'Known bugs, found again'],
      ['docs/speed.md', 'How fast'],
      ['SECURITY.md', 'Security'],
    ],
  },
  {
    name: 'How it is made',
    chinese: '源码与决策',
    folded: true,
    pages: [
      ['ARCHITECTURE.md', 'Architecture'],
      ['CONTRIBUTING.md', 'Contributing'],
      ['CODE_OF_CONDUCT.md', 'Code of conduct'],
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
    ],
  },
];

/** What a page calls the pages that it links to, in whatever language they are. */
export function titlesIn(page: string): ReadonlyMap<string, string> {
  const links = readFileSync(join(root, page), 'utf8').matchAll(/\[([^\]]+)\]\(([\w./-]+\.md)\)/g);
  return new Map(
    [...links].map(([, title, target]) => [englishOf(linkedPath(page, target!)), title!.replaceAll('`', '')]),
  );
}

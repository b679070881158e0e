/** Files that list engines by hand, and why each may. Any other list of engines comes from the registry, as CONTRIBUTING.md says. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const RAN = 'it shows what ran, and a command writes it';
const PROSE = 'its sentences say what differs from engine to engine';
const SERVERS = 'it knows servers: how each is fetched, started, cut off or broken';
const CHOSEN = 'it tries what only these engines do, or one engine of each kind';

const ALLOWED: Readonly<Record<string, string>> = {
  'src/connect/registry.ts': 'it is the list',
  'src/connect/engine.ts': 'it lists drivers: a bundler has to see each import',
  'package.json': 'keywords, by which people search, and ranges of drivers, which are a decision',
  'package-lock.json': 'npm writes it',
  'CHANGELOG.md': 'it says what was new',
  'README.md': PROSE,
  'README.zh-CN.md': PROSE,
  'ARCHITECTURE.md': PROSE,
  'docs/articles.zh-CN.md': PROSE,
  'docs/cli.md': PROSE,
  'docs/cli.zh-CN.md': PROSE,
  'docs/comparison.md': PROSE,
  'docs/decisions/one-queue.md': PROSE,
  'docs/guides/advanced.md': PROSE,
  'docs/guides/memo.md': PROSE,
  'docs/guides/memo.zh-CN.md': PROSE,
  'docs/guides/schedules.md': PROSE,
  'docs/guides/schedules.zh-CN.md': PROSE,
  'docs/guides/seeing.md': PROSE,
  'docs/known-bugs.md': PROSE,
  'docs/support.md': PROSE,
  'docs/which-lock.md': PROSE,
  'docs/which-lock.zh-CN.md': PROSE,
  'docs/guides/leading.md': RAN,
  'docs/guides/leading.zh-CN.md': RAN,
  'docs/production.md': RAN,
  'docs/production.zh-CN.md': RAN,
  'docs/compatibility.md': RAN,
  'docs/evidence/hosts.md': RAN,
  'docs/evidence/memos.md': RAN,
  'docs/evidence/owner.md': RAN,
  'docs/evidence/promises.md': RAN,
  'docs/evidence/torture.md': RAN,
  'bench/arenas.ts': 'servers that are set up to be measured; other engines are measured as all tests start them',
  'bench/pages/commands.ts': 'the figures that pages show',
  'bench/pages/tables.ts': 'the figures that pages show',
  'test/hosts/sites.ts': SERVERS,
  'test/kit/README.md': SERVERS,
  'test/kit/programs.ts': SERVERS,
  'test/kit/stepped-clock.test.ts': SERVERS,
  'test/matrix/clients/rows.ts': SERVERS,
  'test/matrix/clients/stand.ts': SERVERS,
  'test/matrix/compatibility.ts': SERVERS,
  'test/matrix/matrix.test.ts': SERVERS,
  'test/matrix/servers.ts': SERVERS,
  'test/torture/owner/owned.ts': SERVERS,
  'test/docs/compatibility.test.ts': 'it knows names of products, to find those that a page says were tried',
  'test/backends/misuse.test.ts': CHOSEN,
  'test/backends/server-clock.test.ts': CHOSEN,
  'test/connect/blocked-loop.test.ts': CHOSEN,
  'test/connect/start.test.ts': CHOSEN,
  'test/memo/engines.test.ts': CHOSEN,
  'test/memo/faults/main.ts': CHOSEN,
  'test/once/sites.ts': CHOSEN,
  'test/prove/parts.ts': 'how much of its work each engine can do at once on two processors',
  'test/run/longest-first.ts': 'which tests take long',
  'test/site/site.test.ts': 'what people search for',
  'test/engines/by-hand.ts': 'this list',
};

/** Engines whose names are no common words, and stand for those beside them. */
const NAMES = /(?<![a-z])(redis|postgres|mysql|mongodb|etcd|zookeeper|nats|s3|dynamodb)/gi;
/** So many of them in so many lines are a list. */
const ENOUGH = 5;
const LINES = 12;

/** What `npm run format` writes, and what it reads. */
const WRITTEN = [
  /<!-- engines: .*?<!-- end -->/gs,
  /^<!-- rows of other pages.*?^-->$/gms,
  /^ +engines: \[.*$/gm, // of the workflow
  /^ +"(?:\.\/)?[\w-]+": (?:\{|\[)\n(?: +"(?:types|default)": )?.*?"\.\/dist\/backends\/.*?(?:\}|\]),?$/gms, // of package.json
];

export function isList(text: string): boolean {
  const lines = WRITTEN.reduce((rest, pattern) => rest.replace(pattern, ''), text).split('\n');
  return lines.some((_, i) => {
    const named = lines
      .slice(i, i + LINES)
      .join('\n')
      .matchAll(NAMES);
    return new Set([...named].map(([name]) => name.toLowerCase())).size >= ENOUGH;
  });
}

/** The files of the repository that list engines by hand, other than those of the engines themselves. */
export function listsByHand(root: string): string[] {
  const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
  const own = /^(src\/backends|test\/backends\/[\w-]+|docs\/backends)\//;
  return tracked.filter((path) => {
    if (own.test(path) || !existsSync(join(root, path))) return false;
    return isList(readFileSync(join(root, path), 'utf8'));
  });
}

export const allowed: readonly string[] = Object.keys(ALLOWED);

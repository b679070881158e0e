import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LINK_FAULTS } from '../../products/torture/events.ts';
import { PREFIX, torture } from '../../products/torture/torture.ts';
import type { Verdict } from '../../products/torture/verdict.ts';
import { connect } from '../../src/connect/index.ts';
import { urlOfFile } from '../../src/connect/url.ts';
import type { QueueEntry } from '../../src/index.ts';
import { Desk } from '../cli/shell.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { askRedis, startRedis } from '../kit/redis.ts';
import { ALL_SITES } from '../kit/sites.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';

const LIMIT = { timeout: 120_000 };

async function ours(url: string): Promise<QueueEntry[]> {
  await using locks = await connect(url);
  const left: QueueEntry[] = [];
  for await (const standing of locks.inspect(PREFIX)) left.push(standing);
  return left;
}

describe.each(['file', 'redis', 'redis-plain', 'redisson'] as const)('holdfast torture on %s', (engine) => {
  describeOn(engine, 'a run', () => {
    test('keeps its promises under faults that hit, says so in words, and leaves nothing', LIMIT, async () => {
      await using site = engine === 'file' ? undefined : await ALL_SITES[engine].start();
      using desk = new Desk();
      const url = site?.url ?? urlOfFile(join(desk.folder, 'locks.db'));
      const history = join(desk.folder, 'history.jsonl');
      const args = ['--url', url, '--for', '8s', '--seed', '7', '--json', '--history', history];
      await using shell = desk.start('torture', ...args);
      const { code, stdout, stderr } = await shell.end(90_000);
      const verdict = JSON.parse(stdout) as Verdict & { again: string };
      expect(verdict.violations).toEqual([]);
      expect(verdict.totals.holds).toBeGreaterThan(20);
      expect(Object.values(verdict.faults).reduce((sum, { effective }) => sum + effective, 0)).toBeGreaterThan(2);
      // How much happens in so short a time is the machine's affair.
      expect([verdict.outcome, code]).toEqual(verdict.missing.length === 0 ? ['kept', 0] : ['nothing', 2]);
      expect(stderr).toContain('holds  longest wait');
      expect(verdict.again).toContain('--seed 7');
      const events = readFileSync(history, 'utf8').trim().split('\n');
      expect(events.filter((line) => JSON.parse(line).what === 'entered')).toHaveLength(verdict.totals.holds);
      expect(await ours(url)).toEqual([]);
    });
  });
});

describe.each([
  'redis',
  'etcd',
  's3',
  'dynamodb',
] as const)('holdfast torture, by the way in which %s connects', (engine) => {
  describeOn(ALL_SITES[engine].engine, 'a run with faults of connections alone', () => {
    test('hits connections, and no promise is broken', LIMIT, async () => {
      await using site = await ALL_SITES[engine].start();
      const verdict = await torture({ url: site.url, duration: 12_000, seed: 3, processes: 3, faults: LINK_FAULTS });
      expect(verdict.violations).toEqual([]);
      const counts = Object.values(verdict.faults);
      const [done, hit] = (['done', 'effective'] as const).map((which) =>
        counts.reduce((sum, each) => sum + each[which], 0),
      );
      expect(hit, `of ${done} faults`).toBeGreaterThan(done! / 2);
    });
  });
});

describeOn('redis', 'holdfast torture with blocked loops alone', () => {
  const blocked = async (renewal: 'worker' | undefined) => {
    await using server = await startRedis();
    const lost = new Set<string>();
    const renewed = new Set<string>();
    const verdict = await torture({
      ...{ url: server.url, duration: 12_000, seed: 11, processes: 3, faults: ['blocked'], renewal },
      onEvent: (event) => {
        if (event.what === 'asked' && event.renewed) renewed.add(event.op);
        if (event.what === 'lost' && renewed.has(event.op)) lost.add(event.op);
      },
    });
    return { verdict, lost };
  };

  test('with a thread that renews, no hold is lost that is renewed, and no promise is broken', LIMIT, async () => {
    const { verdict, lost } = await blocked('worker');
    expect(verdict.violations).toEqual([]);
    expect(verdict.faults.blocked?.effective).toBeGreaterThan(2);
    expect([...lost]).toEqual([]);
  });

  test('without it, holds are lost to them', LIMIT, async () => {
    const { verdict, lost } = await blocked(undefined);
    expect(verdict.violations).toEqual([]);
    expect(lost.size).toBeGreaterThan(0);
  });
});

describe('holdfast torture', () => {
  test('is refused beside the locks of others, unless it is told to go on', LIMIT, async () => {
    using folder = temporaryFolder();
    using desk = new Desk();
    const url = urlOfFile(join(folder.path, 'locks.db'));
    await using locks = await connect(url, { label: 'somebody' });
    await using lease = await locks.mutex('theirs').acquire();
    const refused = await desk.run('torture', '--url', url, '--for', '5s');
    expect(refused).toMatchObject({
      code: 64,
      stdout: '',
      stderr: expect.stringMatching(/somebody holds "theirs".*--beside-others/),
    });
    await using shell = desk.start('torture', '--url', url, '--for', '5s', '--beside-others');
    expect((await shell.end(60_000)).stdout).toMatch(/^(Kept|This proves nothing)/);
    expect(lease.held).toBe(true);
  });

  test('that saw too little proves nothing, and says what was missing', LIMIT, async () => {
    using desk = new Desk();
    await using shell = desk.start('torture', '--for', '1m');
    await until('it has begun', () => shell.stderr.includes('holds'), 40_000);
    shell.child.kill('SIGINT');
    const { code, stdout } = await shell.end(60_000);
    expect([code, stdout]).toEqual([
      2,
      expect.stringMatching(/^This proves nothing about file\. It was interrupted\.\n +only \d/),
    ]);
    expect(await ours(urlOfFile(join(desk.folder, 'holdfast', 'locks.db')))).toEqual([]);
  });

  test.each([
    [['--url', 'memory:'], /memory: keeps locks in one process/],
    [['--for', '1s'], /--for is "1s"; it must be from/],
    [['--seed', 'luck'], /--seed is "luck"; it must be a whole number/],
    [['--processes', '1'], /--processes is "1"; it must be a whole number from 2/],
    [['--history', '/nowhere/at/all'], /the --history file cannot be written/],
  ])('%j is wrong usage', async (args, text) => {
    using desk = new Desk();
    expect(await desk.run('torture', ...args)).toMatchObject({
      code: 64,
      stdout: '',
      stderr: expect.stringMatching(text),
    });
  });
});

// Only root may mount.
describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)('holdfast torture on a full disk', () => {
  test('proves nothing, says what the engine said, and ends', LIMIT, async () => {
    using desk = new Desk();
    using folder = temporaryFolder();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', folder.path]);
    try {
      await using shell = desk.start('torture', '--url', urlOfFile(join(folder.path, 'locks.db')), '--for', '6s');
      const { code, stdout } = await shell.end(90_000);
      expect([code, stdout]).toEqual([2, expect.stringMatching(/^This proves nothing about file\./)]);
      expect(stdout).toMatch(/ requests failed because the engine could not be asked: database or disk is full$/m);
    } finally {
      execFileSync('umount', ['-l', folder.path]);
    }
  });
});

describeOn('redis', 'holdfast torture by a user without rights', () => {
  test('does not begin, and says which right is missing', async () => {
    await using server = await startRedis();
    await askRedis(server.port, 'ACL SETUSER bare on >word ~* &* +@connection +info');
    using desk = new Desk();
    const refused = await desk.run('torture', '--url', `redis://bare:word@127.0.0.1:${server.port}`, '--for', '5s');
    expect(refused).toMatchObject({
      code: 69,
      stdout: '',
      stderr: expect.stringMatching(/no permissions to run the '\w+'/),
    });
    expect(refused.stderr).not.toContain('word');
    expect(await askRedis(server.port, 'DBSIZE'), 'keys that are left').toBe(':0\r\n');
  });
});

describeOn('redis', 'holdfast torture, the server gone', () => {
  test('before it begins: the engine is not available', async () => {
    using desk = new Desk();
    expect(await desk.run('torture', '--url', 'redis://127.0.0.1:1')).toMatchObject({ code: 69, stdout: '' });
  });

  test('in the middle, for good: it ends with the verdict so far', LIMIT, async () => {
    await using server = await startRedis();
    let killed: Promise<void> | undefined;
    const verdict = await torture({
      ...{ url: server.url, duration: 100_000, seed: 3, processes: 2, patience: 4_000 },
      progress: ({ totals }) => {
        if (totals.holds > 5) killed ??= server.kill();
      },
    });
    await killed;
    expect(verdict).toMatchObject({ ended: 'server gone', violations: [] });
    expect(verdict.notes.join()).toMatch(/expires within/);
  });
});

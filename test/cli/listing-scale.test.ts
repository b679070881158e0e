import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { details, overview, records, viewsOf } from '../../products/cli/listing.ts';
import { ALL_UNITS } from '../../src/core/contract/admission.ts';
import type { QueueEntry } from '../../src/index.ts';
import { startProxy } from '../kit/proxy.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { Desk, hasTerminal } from './shell.ts';

const IDLE = 30_000;
const SEED = `for i = 1, ${IDLE} do redis.call('SET', 'holdfast:{order:' .. i .. '}', '1 free 1790000000000000 0001') end`;

describeOn('redis', 'the command line among 30,000 idle keys, over a slow link', () => {
  test.runIf(hasTerminal)(
    'ls says in a terminal how far it is; show and release ask for their key alone',
    async () => {
      await using server = await startRedis();
      const client = new Redis(server.port, '127.0.0.1');
      await client.eval(SEED, 0);
      client.disconnect();
      await using proxy = await startProxy(server.port);
      proxy.delay(10);
      using desk = new Desk({ HOLDFAST_URL: `redis://127.0.0.1:${proxy.port}` });
      await using holder = desk.start('run', 'order:1', '--', 'sh', '-c', 'echo ready; read line');
      await holder.prints('ready', 30_000);

      const shown = await desk.run('show', 'order:1', '--json');
      expect(shown.stdout.trim().split('\n')).toHaveLength(1);
      expect(JSON.parse(shown.stdout)).toMatchObject({ key: 'order:1', held: true });

      await using listed = desk.terminal(['ls', 'order:']);
      const { stdout } = await listed.end(30_000);
      expect(stdout).toMatch(/\d,\d{3} keys looked at…/);
      const rest = stdout.slice(stdout.lastIndexOf('looked at…'));
      expect(rest.startsWith('looked at…\u001b[K\r\u001b[KKEY'), `wiped away before the table: ${rest}`).toBe(true);
      expect(rest).toContain('order:1 ');

      expect((await desk.run('release', 'order:1', '--force', '--reason', 'a test', '--yes')).stdout).toContain(
        'Evicted one',
      );
    },
    60_000,
  );
});

test('tables, pages and lines of JSON take 130,000 keys', async () => {
  const claim = (i: number): QueueEntry => {
    const demand = { units: ALL_UNITS, capacity: ALL_UNITS };
    return {
      key: `order:${i}`,
      held: true,
      position: 0,
      token: BigInt(i),
      ...demand,
      label: `web-${i}`,
      remaining: 9_000,
    };
  };
  const lines = await viewsOf(
    (async function* () {
      for (let i = 0; i < 130_000; i++) yield claim(i);
    })(),
  );
  expect(overview(lines), 'as ls and watch print them').toHaveLength(130_001);
  expect(records(lines)).toHaveLength(130_000);
  const [first] = lines;
  const many = { ...first!, waiters: lines.flatMap(({ holders }) => holders) };
  expect(details(many), 'as show prints it').toHaveLength(130_002);
});

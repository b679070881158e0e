import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
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

import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lastArgument } from '../../products/ui/page/shell.ts';
import { startWorker, type WorkerProcess } from '../kit/processes.ts';
import { startRedis } from '../kit/redis.ts';
import type { Server } from '../kit/server.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import type { TaskCalls } from '../waits/task.worker.ts';
import { Desk } from './shell.ts';

/** ms: sixteen looks; on a busy machine it took eight. */
const MOST = 8_000;
const HOSTILE = ['item:$(touch touched)', 'a `touch touched` \'b\' "c" \\ %s \u001b[2J \u202e中 é\n'];

describe.each(['redis'] as const)('on %s', (engine) => {
  describeOn(engine, 'the command finds deadlocks', () => {
    let desk: Desk;
    let server: Server & { readonly url: string };
    const workers: WorkerProcess<TaskCalls>[] = [];

    beforeAll(async () => {
      server = await startRedis();
      desk = new Desk({ HOLDFAST_URL: server.url });
      const start = (LABEL: string) =>
        startWorker<TaskCalls>(new URL('../waits/task.worker.ts', import.meta.url), {
          env: { URL: server.url, LABEL },
        });
      workers.push(await start('web-1'), await start('web-2'));
    });
    afterAll(async () => {
      for (const worker of workers) await worker[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      desk[Symbol.dispose]();
    });

    test('none: 0, and it says so; one: 1, and who, what and what to do; as JSON; and live, once', async () => {
      const [one, two] = workers as [WorkerProcess<TaskCalls>, WorkerProcess<TaskCalls>];
      expect(await desk.run('deadlocks')).toMatchObject({
        code: 0,
        stdout: `Found no deadlock in ${server.url} (from HOLDFAST_URL).\n`,
        stderr: '',
      });
      expect(await desk.run('deadlocks', '--json')).toMatchObject({ code: 0, stdout: '' });

      await using watch = desk.start('deadlocks', '--watch', '--every', '500ms');
      await one.call('begin', 'order:a', 'order:b', {});
      await two.call('begin', 'order:b', 'order:a', {});
      await one.call('goOn', 'order:a');
      await two.call('goOn', 'order:b');
      const met = performance.now();
      await watch.prints('2 wait for each other');
      expect(performance.now() - met, 'ms until it was shown').toBeLessThan(MOST);

      const { code, stdout } = await desk.run('deadlocks', 'order:');
      expect(code).toBe(1);
      expect(stdout).toMatch(/web-1 \(\w{8}\) holds "order:a" and has waited \d\.\ds for "order:b", held by web-2/);
      expect(stdout).toMatch(/web-2 \(\w{8}\) holds "order:b" and has waited \d\.\ds for "order:a", held by web-1/);
      expect(await desk.run('deadlocks', 'elsewhere')).toMatchObject({ code: 0 });

      const json = await desk.run('deadlocks', '--json');
      const { cycle, victim, claims } = JSON.parse(json.stdout);
      expect([json.code, cycle.length, victim]).toEqual([1, 4, null]);
      expect(claims).toContainEqual(
        expect.objectContaining({ key: 'order:a', held: true, label: 'web-1', as: 'exclusive' }),
      );

      const way = /holdfast release --force .*/.exec(stdout)![0].replace('--force', '--force --yes');
      expect(await desk.paste(way)).toMatchObject({ code: 0 });
      await until('it is over', async () => (await desk.run('deadlocks')).code === 0);
      expect((await Promise.all([one.call('end', 'order:a'), two.call('end', 'order:b')])).sort()).toEqual([
        'done',
        'done',
      ]);
      watch.child.kill('SIGINT');
      const end = await watch.end();
      expect(end.code).toBe(1);
      expect(end.stdout.match(/DEADLOCK/g)).toHaveLength(1);
    });

    test('the command that it prints, pasted into a shell, means the key and runs nothing that stands in it', async () => {
      const [one, two] = workers as [WorkerProcess<TaskCalls>, WorkerProcess<TaskCalls>];
      for (const key of [...HOSTILE, '-rf $(touch touched)']) {
        await one.call('begin', key, 'pasted', {});
        await two.call('begin', 'pasted', key, {});
        await one.call('goOn', key);
        await two.call('goOn', 'pasted');
        let printed = '';
        // The hold that it names is either one of the ring.
        await until('it is found', async () => {
          printed = (await desk.run('deadlocks')).stdout;
          return printed.includes('DEADLOCK');
        });
        const way = /holdfast release --force .*?\n {2}To get/s.exec(printed)![0].replace(/\n {2}To get$/, '');
        const other = way.endsWith("'pasted'");
        const command = other ? `holdfast release --force --reason deadlock ${lastArgument(key)}` : way;
        const pasted = await desk.paste(command.replace('--force', '--force --yes'));
        expect([pasted.code, pasted.stdout, pasted.stderr], command).toEqual([0, 'Evicted one holder: deadlock\n', '']);
        expect(readdirSync(desk.folder), command).not.toContain('touched');
        await Promise.all([one.call('end', key), two.call('end', 'pasted')]);
      }
    });
  });
});

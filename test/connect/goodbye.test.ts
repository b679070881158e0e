import { expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import { startMariadb } from '../kit/mariadb.ts';
import { startPostgres } from '../kit/postgres.ts';
import { startProxy } from '../kit/proxy.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';

const ENGINES = [
  { need: ['mysql', 'mariadb'], start: startMariadb },
  { need: ['postgres'], start: startPostgres },
] as const;

for (const { need, start } of ENGINES) {
  describeOn(need, `the connections of connect() to ${need[0]}`, () => {
    test('close() leaves none of them open where the server fell silent', { timeout: 60_000 }, async () => {
      await using server = await start();
      await using link = await startProxy(server.port);
      const handles = (process as unknown as { _getActiveHandles(): { remotePort?: number }[] })._getActiveHandles;
      const open = (): number => handles().filter(({ remotePort }) => remotePort === link.port).length;
      const locks = await connect(server.url.replace(`:${server.port}`, `:${link.port}`));
      await locks.mutex('key').run(() => {});
      expect(open()).toBeGreaterThan(0);
      link.stall();
      await locks.close();
      await until('all are closed', () => open() === 0, 5_000).finally(() => link.pass());
    });
  });
}

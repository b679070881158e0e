import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../src/connect/index.ts';
import { urlOfFile } from '../../../src/connect/url.ts';
import { isLockError } from '../../../src/core/index.ts';
import { command } from '../command.ts';
import { EXIT, ExitError, whole } from '../exit.ts';
import { Interruption } from '../interruption.ts';

export const demo = command({
  name: 'demo',
  summary: 'show what goes wrong without a lock, and that it does not with one',
  takes: [],
  options: {
    url: { type: 'string' },
    processes: { type: 'string', default: '4' },
    drivers: { type: 'string', default: '40' },
    orders: { type: 'string', default: '10' },
  },
  help: `Let many drivers, in several processes, take few orders: without a lock, with one in each process, and with holdfast.

  holdfast demo                                 on a local file; takes seconds
  holdfast demo --url redis://127.0.0.1         on your engine
  holdfast demo --processes 8 --drivers 200 --orders 50

  --url <url>      where holdfast keeps its locks (default: a temporary file)
  --processes <n>  number of processes, 2 to 64 (default 4)
  --drivers <n>    number of drivers in all processes, up to 10000 (default 40)
  --orders <n>     number of orders, up to 10000 (default 10)

Exit code: 0 with holdfast, every order went to exactly one driver; 1 one did not; 69 the engine is not available.`,
  async run({ values: { url, ...values } }) {
    const processes = whole(values.processes, '--processes', 2, 64);
    const drivers = whole(values.drivers, '--drivers', processes, 10_000);
    const orders = whole(values.orders, '--orders', 1, 10_000);
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
    const tidy = (): void => rmSync(folder, { recursive: true, force: true });
    using interruption = new Interruption();
    interruption.signal.addEventListener('abort', () => {
      tidy();
      process.exit(interruption.exitCode); // the workers end when they see that this process is gone
    });
    const locks = url ?? urlOfFile(join(folder, 'locks.db'));
    try {
      await (await connect(locks)).close(); // so that a wrong address fails once, before the first round
      const { rounds } = await import('../demo/rounds.ts');
      return await rounds({ processes, drivers, orders }, locks, folder);
    } catch (error) {
      if (isLockError(error)) throw error;
      throw new ExitError(url ? EXIT.UNAVAILABLE : EXIT.NO, (error as Error).message);
    } finally {
      tidy();
    }
  },
});

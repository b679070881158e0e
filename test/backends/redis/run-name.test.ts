/** What a server says of its run, for a quorum: the name of the run, since when it runs, and whether it keeps every write. */
import { expect, test } from 'vitest';
import type { Port } from '../../../src/backends/redis/port.ts';
import { Incarnation } from '../../../src/backends/redis/server-info.ts';

/** A server whose append-only file is turned on by a restart. It restarts so often, each time before it tells its settings. */
function scene(restarts: number) {
  const asked: string[] = [];
  let run = 1;
  let connectedAnew = (): void => {};
  const port = {
    onConnection: (again: () => void) => {
      connectedAnew = again;
      return () => {};
    },
  } as Partial<Port> as Port;
  const command = async (_: string, name: string, __: readonly string[], ...args: string[]): Promise<unknown> => {
    const what = [name, ...args].join(' ');
    asked.push(what);
    if (name === 'CONFIG' && run <= restarts) {
      run++;
      connectedAnew(); // the client sends what was not answered again
    }
    if (name === 'CONFIG')
      return run === 1
        ? { appendonly: 'no' }
        : { appendonly: 'yes', appendfsync: 'always', 'no-appendfsync-on-rewrite': 'no' };
    return what === 'INFO server' ? `run_id:run${run}\nuptime_in_seconds:100` : 'aof_rewrite_in_progress:0\r\n';
  };
  return { it: new Incarnation({ port, command }), asked };
}

test.each([
  1, 3,
])('what one run of a server says is not told of the next run, after %i restarts in the middle of an answer', async (restarts) => {
  const { it, asked } = scene(restarts);
  const run = await it.ask();
  expect(run).toEqual({ id: `run${restarts + 1}`, age: 99_000, durable: true });
  const count = asked.length;
  expect([it.ask(), asked.length], 'once for each connection').toEqual([run, count]);
});

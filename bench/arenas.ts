import { temporaryFolder } from '../test/kit/folder.ts';
import { startProxy } from '../test/kit/proxy.ts';
import { askRedis, startRedis } from '../test/kit/redis.ts';
import type { Arena, Group } from './row.ts';

/** Of the link that stands for a server in another room: one way, ms. */
const ONE_WAY = 1.25;

async function folder(): Promise<Arena> {
  const { path, [Symbol.dispose]: remove } = temporaryFolder();
  return { place: { port: 0, path }, [Symbol.asyncDispose]: async () => remove() };
}

/** Those whose SET is a command of its own; that of the others is inside a script. */
const SETS = new Set(['bare', 'redis-semaphore', 'verrou']);

async function redis(): Promise<Arena> {
  await using stack = new AsyncDisposableStack();
  const { port } = stack.use(await startRedis());
  const proxy = stack.use(await startProxy(port));
  proxy.delay(ONE_WAY);
  const all = stack.move();
  return {
    place: { port, path: '' },
    far: { port: proxy.port, path: '' },
    async commands(contestant) {
      const stats = await askRedis(port, 'INFO commandstats');
      await askRedis(port, 'CONFIG RESETSTAT');
      const sent = SETS.has(contestant)
        ? /cmdstat_(?:evalsha|eval|set):calls=(\d+)/g
        : /cmdstat_(?:evalsha|eval):calls=(\d+)/g;
      return [...stats.matchAll(sent)].reduce((sum, [, calls]) => sum + Number(calls), 0);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

export const arenas: Readonly<Record<string, () => Promise<Arena>>> = {
  memory: folder,
  file: folder,
  redis,
} satisfies Partial<Record<Group, () => Promise<Arena>>>;

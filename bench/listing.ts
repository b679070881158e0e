// How long a listing takes among many idle keys: node bench/listing.ts [keys, default 1,000,000] [ms of round trip, default 1]
import { Redis } from 'ioredis';
import { redis } from '../src/backends/redis/index.ts';
import { createLocks } from '../src/index.ts';
import { HOST } from '../test/kit/net.ts';
import { startProxy } from '../test/kit/proxy.ts';
import { startRedis } from '../test/kit/redis.ts';

const [keys = 1_000_000, roundTrip = 1] = process.argv.slice(2).map(Number);
const PORTION = 10_000;
const SEED = `for i = ARGV[1], ARGV[2] do
  redis.call('SET', 'holdfast:{order:' .. i .. '}', '1 free 1790000000000000 0001', 'PX', 86400000)
end`;

await using server = await startRedis();
const near = new Redis(server.port, HOST);
for (let i = 1; i <= keys; i += PORTION) await near.eval(SEED, 0, i, Math.min(keys, i + PORTION - 1));
await using proxy = await startProxy(server.port);
const far = new Redis(proxy.port, HOST);
await far.ping();
proxy.delay(roundTrip, 'down');
const locks = createLocks(redis(far));
await locks.mutex('order:17').acquire();

async function timed(what: string, act: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const result = await act().catch((error: Error) => error.message);
  console.log(`${what}: ${(performance.now() - began).toFixed(0)} ms, ${result}`);
}

console.log(`${keys.toLocaleString('en')} idle keys, ${roundTrip} ms of round trip`);
await timed('listing all', async () => {
  let found = 0;
  for await (const _ of locks.inspect()) found++;
  return `${found} held`;
});
await timed('forced release of one', () => locks.forceRelease('order:17', { reason: 'bench' }));
await locks.close();
near.disconnect();
far.disconnect();

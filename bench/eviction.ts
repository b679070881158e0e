/**
 * How long an evicted holder of another process goes on, by engine: from the call of `forceRelease` to the loss signal, ms, at a lease of 30 s.
 * Two connections in this process stand for the two processes.
 * Run: `node --disable-warning=ExperimentalWarning bench/eviction.ts [--publish] [site…]`
 */
import { connect } from '../src/connect/index.ts';
import { ALL_SITES, type SiteName } from '../test/kit/sites.ts';
import { EVICTED, EVICTIONS } from './pages/commands.ts';
import { publish } from './pages/publish.ts';

const TIMES = 11;
/** So long after its grant a hold is evicted: its process has begun to listen. */
const AGE_MS = 1_500;
/** After this it counts as told at its next renewal. */
const MAX_MS = 3_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const words = process.argv.slice(2).filter((word) => word !== '--publish');
const sites = (words.length > 0 ? words : EVICTIONS) as SiteName[];
const medians: Record<string, { told: number }> = {};
for (const name of sites) {
  await using site = await ALL_SITES[name].start(30_000);
  await using holder = await connect(site.url, { ttl: '30s' });
  await using operator = await connect(site.url);
  const keys = Array.from({ length: TIMES }, (_, i) => `evicted ${i}`);
  const leases = await Promise.all(keys.map((key) => holder.mutex(key).acquire()));
  await sleep(AGE_MS);
  const times: number[] = [];
  for (const lease of leases) {
    const told = new Promise<number>((resolve) => {
      const late = setTimeout(() => resolve(Number.POSITIVE_INFINITY), MAX_MS);
      lease.signal.addEventListener('abort', () => {
        clearTimeout(late);
        resolve(performance.now());
      });
    });
    const began = performance.now();
    await operator.forceRelease(lease.key, { reason: 'bench' });
    times.push((await told) - began);
  }
  times.sort((a, b) => a - b);
  medians[name] = { told: times[TIMES >> 1]! };
  const [least, median, most] = [times[0]!, times[TIMES >> 1]!, times.at(-1)!].map((ms) => ms.toFixed(1));
  console.log(`${name.padEnd(16)} median ${median}, from ${least} to ${most}`);
}
if (process.argv.includes('--publish')) publish(EVICTED, medians);

import { readFileSync } from 'node:fs';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { measureLocks } from '../../examples/recipes/prom-client.ts';
import { around } from '../../products/testing/around.ts';
import { lose, manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { createLocks, type Locks } from '../../src/index.ts';
import { instrument } from '../../src/otel/index.ts';
import { exposed, queriesOf, selectorsOf } from './board.ts';
import { metering } from './collected.ts';

const root = new URL('../../', import.meta.url);
const queries = queriesOf(new URL('docs/telemetry/grafana-locks.json', root));

/** Everything that can happen to a lock, with all of it measured in both ways. */
async function measured(): Promise<Record<'otel' | 'collector' | 'prom', string> & { readonly described: string[] }> {
  const clock = manualClock(1);
  const engine = memory({ clock });
  let broken = false;
  const renew: typeof engine.renew = (claims) => (broken ? Promise.reject(new Error('away')) : engine.renew(claims));
  const locks: Locks = createLocks(around(engine, { renew }), { clock, ttl: 3_000, handOff: { within: 60_000 } });
  const { meter, reader } = metering();
  using _ = instrument(locks, { meter });
  const registry = new Registry();
  const stop = measureLocks(locks, registry);
  const stranger = createLocks(memory({ clock }), { clock });

  for (const lock of [
    locks.mutex('order:1'),
    locks.rwLock('page:1').write,
    locks.semaphore('pool:1', { permits: 1 }),
  ]) {
    const lease = await lock.acquire();
    const [one, two] = [lock.acquire(), lock.acquire()];
    const aborted = lock.acquire({ signal: AbortSignal.abort() }).catch(() => {});
    const late = lock.acquire({ wait: 200 }).catch(() => {});
    await lock.tryAcquire();
    await clock.advance(1_200);
    await Promise.all([aborted, late]);
    broken = true;
    await clock.advance(1_000);
    broken = false;
    await lease.release();
    await lock.run(() => {}, { wait: 0 }).catch(() => {});
    lose(await one);
    await (await one).release();
    await clock.advance(50);
    await (await two).release();
  }
  const page = locks.rwLock('page:1');
  await page.read.run(() => page.write.acquire()).catch(() => {}); // it would wait for itself
  await locks.mutex('order:1').run(() => locks.mutex('order:1').run(() => stranger.mutex('order:1').run(() => {})));
  await locks.memo('price:1', { keep: '1m' }).run(() => 1);
  await locks.memo('price:1', { keep: '1m' }).run(() => 2);
  await locks
    .memo('price:2', { keep: '1m', keepError: () => '1m' })
    .run(() => Promise.reject(new Error('no')))
    .catch(() => {});
  const left = await locks.mutex('job').acquire();
  const waits = locks.mutex('job').acquire();
  waits.catch(() => {});
  await clock.advance(10);
  const { resourceMetrics } = await reader.collect();
  const otel = new PrometheusSerializer(undefined, false, undefined, true, true).serialize(resourceMetrics);
  const prom = await registry.metrics();
  stop();
  await left.release();
  await locks.close();
  // What the Collector adds to a name: its unit, before the suffix of a histogram.
  const collector = otel.replace(/^(lock_\w+_(?:duration|margin))/gm, '$1_seconds');
  const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics).map(({ descriptor }) => descriptor);
  return { otel, collector, prom, described: all.map(({ name, unit }) => `${name} ${unit}`).sort() };
}

const texts = await measured();

function asksForWhatIsThere(query: string): void {
  const selectors = selectorsOf(query);
  expect(selectors.length, query).toBeGreaterThan(0);
  for (const exporter of ['otel', 'collector', 'prom'] as const) {
    const text = texts[exporter];
    const metrics = exposed(text);
    for (const { metric, labels } of selectors) {
      const matching = [...metrics].filter(([name]) => metric.test(name));
      expect(matching.length, `${exporter} has no ${metric}`).toBe(1);
      const [[name, known]] = matching as [[string, Set<string>]];
      expect(
        labels.filter((label) => !known.has(label)),
        `labels that ${name} of ${exporter} has not`,
      ).toEqual([]);
    }
  }
}

test.each(queries)('the board asks for what is there, whoever exports it: %s', (_title, query) => {
  asksForWhatIsThere(query);
});

const guide = readFileSync(new URL('docs/guides/telemetry.md', root), 'utf8');
const alerts = [...guide.matchAll(/alert: (\w+).*\n\s+expr: (.*)$/gm)].map(([, title, query]) => [title!, query!]);

test.each(alerts)('the alert %s asks for what is there, whoever exports it', (_title, query) => {
  asksForWhatIsThere(query!);
});

test('each alert links to its part of the runbook', () => {
  const headings = readFileSync(new URL('docs/troubleshooting.md', root), 'utf8').match(/^#+ .*$/gm)!;
  const anchors = headings.map((heading) => heading.replace(/^#+ /, '').toLowerCase().replaceAll(' ', '-'));
  const rules = guide.split(/^ +- alert: /m).slice(1);
  expect(rules.length).toBe(alerts.length);
  for (const rule of rules) {
    const [, anchor] = /^ +annotations: \{ runbook: docs\/troubleshooting\.md#([\w-]+) \}$/m.exec(rule) ?? [];
    expect(anchors, rule).toContain(anchor);
  }
});

test('every metric that is exported has a row on the page, with its unit', () => {
  const rows = guide.split('\n').filter((line) => /^\| `lock\.[\w.]+` \|/.test(line));
  const documented = rows.map((row) => row.replace(/^\| `([\w.]+)` \|.*?`([^`]+)` \|.*$/, '$1 $2')).sort();
  expect(documented).toEqual(texts.described);
});

test('every metric that is exported has a panel', () => {
  const asked = queries.flatMap(([, query]) => selectorsOf(query)).map(({ metric }) => metric);
  const names = [...exposed(texts.otel).keys()].map((name) => name.replace(/_(bucket|sum|count)$/, ''));
  const unseen = [...new Set(names)].filter(
    (name) => !['', '_bucket', '_sum'].some((end) => asked.some((metric) => metric.test(name + end))),
  );
  expect(unseen).toEqual([]);
});

test('a query that is none, or asks for what is not there, is found out', () => {
  expect(() => selectorsOf('sum by (lock_kind) (rate(lock_held[5m])')).toThrow('no query of Prometheus');
  expect(selectorsOf('sum by (a) (rate({__name__=~"x(_y)?", b="1"}[$__rate_interval]))')).toEqual([
    { metric: /^(?:x(_y)?)$/, labels: ['b', 'a'] },
  ]);
});

test('prom-client and OpenTelemetry tell the same: series, and how often', () => {
  const series = (text: string) => {
    const lines = [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].filter(([, name]) => !/_sum$/.test(name!));
    return lines
      .map(([, name, labels, value]) => `${name}{${labels!.split(/,(?=\w+=)/).sort()}} ${value}`)
      .filter((line) => !line.endsWith(' 0'))
      .sort();
  };
  expect(series(texts.prom)).toEqual(series(texts.collector));
  expect(series(texts.prom).length).toBeGreaterThan(100);
});

test('the page shows the recipe that is tested', () => {
  const recipe = readFileSync(new URL('examples/recipes/prom-client.ts', root), 'utf8');
  const [, block] = /```ts\n(import \{ subscribe[\s\S]*?)```/.exec(
    readFileSync(new URL('docs/recipes.md', root), 'utf8'),
  )!;
  expect(block).toBe(recipe.replace('../../src/index.ts', 'holdfast'));
});

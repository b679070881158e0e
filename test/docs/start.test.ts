import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connect } from '../../src/connect/index.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { freePorts } from '../kit/net.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Reader } from './reader.ts';
import { patternOf, type Step, stepsOf, withPorts } from './tutorial.ts';

const stepsIn = (page: string): Step[] => stepsOf(readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8'));

test.each(['start', 'start-2'])('%s has the same files, commands and outputs in Chinese as in English', (page) => {
  expect(stepsIn(`${page}.zh-CN.md`)).toEqual(stepsIn(`${page}.md`));
});

test('a port takes the place of one of the page, also where it contains the digits of another one', () => {
  const ports = new Map([
    ['3001', 23002],
    ['3002', 23003],
  ]);
  expect(withPorts('localhost:3001 and localhost:3002', ports)).toBe('localhost:23002 and localhost:23003');
});

/** What a Redis that is given no `save` does. */
const SNAPSHOTS = '3600 1 300 100 60 10000';

describeOn('redis', 'the tutorial, with its Redis from Docker', () => {
  test.for(['start-2.md', 'start-2.zh-CN.md'])('%s: the check in step 8 says what the page shows', async (page) => {
    const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
    const [, more = ''] = /`docker run [^`]* redis((?: [^`]*)?)`/.exec(text)!;
    const given = [...more.matchAll(/--([\w-]+) (\S+)/g)].map(([, name, value]) => [name!, value!.replaceAll("'", '')]);
    await using server = await startRedis({ save: SNAPSHOTS, ...Object.fromEntries(given) });
    await using locks = await connect(server.url);
    const [shown] = /^warning: .*: …$/m.exec(text)!;
    const said = (await locks.check()).map(({ severity, message }) => `${severity}: ${message}`);
    expect(said).toEqual([expect.stringMatching(patternOf(shown, 'ended'))]);
  });
});

describeOn(['redis', 'curl'], 'the tutorial', () => {
  test('whoever writes its files and types its commands sees what it shows', { timeout: 180_000 }, async () => {
    using folder = temporaryFolder();
    const [first, second, redis] = await freePorts(3);
    const ports = new Map([
      ['3001', first!],
      ['3002', second!],
      ['6399', redis!],
    ]);
    await using reader = new Reader(folder.path, 'orders', ports);
    const steps = [...stepsIn('start.md'), ...stepsIn('start-2.md')]; // the second page goes on where the first ends
    expect(steps.length).toBeGreaterThan(40);
    for (const step of steps) await reader.follow(step);
    const service = reader.terminal(1);
    await until('the service ends in order, as the page says', () => service.code === 0);
    expect(service.output).toMatch(/^closed$/m);
  });
});

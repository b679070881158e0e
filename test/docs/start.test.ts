import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../kit/folder.ts';
import { freePorts } from '../kit/net.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { Reader } from './reader.ts';
import { type Step, stepsOf } from './tutorial.ts';

const stepsIn = (page: string): Step[] => stepsOf(readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8'));

test('the tutorial has the same files, commands and outputs in Chinese as in English', () => {
  expect(stepsIn('start.zh-CN.md')).toEqual(stepsIn('start.md'));
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
    const steps = stepsIn('start.md');
    expect(steps.length).toBeGreaterThan(40);
    for (const step of steps) await reader.follow(step);
    const service = reader.terminal(1);
    await until('the service ends in order, as the page says', () => service.code === 0);
    expect(service.output).toMatch(/^closed$/m);
  });
});

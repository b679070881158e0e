import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Section } from '../../products/cli/demo/orders.ts';
import { judge, percentile } from '../../products/cli/demo/verdict.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { freePort } from '../kit/net.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { Desk } from './shell.ts';

const MAIN = fileURLToPath(new URL('../../products/cli/main.ts', import.meta.url));
/** Enough for others to be in between, few enough to be quick. */
const SMALL = ['--processes', '3', '--drivers', '12', '--orders', '6'];
const PATIENCE = 60_000;

async function demo(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'demo', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
    timeout: PATIENCE,
    killSignal: 'SIGKILL',
  });
  const code = new Promise<number>((resolve) => child.once('close', (number) => resolve(number ?? -1)));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, output, errors };
}

/** How many orders went wrong in each round, as the demo says it. */
const wrongs = (output: string): number[] =>
  [...output.matchAll(/^round .*?: (?:(\d+) of \d+ orders were given|every order has one driver)/gm)].map(([, count]) =>
    Number(count ?? 0),
  );

describe('the demo', () => {
  test('goes wrong without a lock and with a lock in each process, and right with holdfast', {
    timeout: PATIENCE,
  }, async () => {
    const { code, output, errors } = await demo(...SMALL);
    expect(errors).toBe('');
    const [none, local, ours] = wrongs(output);
    expect(none, output).toBeGreaterThan(0);
    expect(local, output).toBeGreaterThan(0);
    expect(ours, output).toBe(0);
    expect(output).toContain('With holdfast, every order has exactly one driver.');
    expect(code).toBe(0);
  });

  test('ends with 1 when the last round goes wrong: locks that other processes do not see', {
    timeout: PATIENCE,
  }, async () => {
    const { code, output } = await demo(...SMALL, '--url', 'memory:');
    expect(wrongs(output)[2], output).toBeGreaterThan(0);
    expect(output).toContain('WRONG');
    expect(code).toBe(1);
  });

  test('that is interrupted leaves no folder behind', async () => {
    using folder = temporaryFolder();
    using desk = new Desk({ TMPDIR: folder.path });
    await using shell = desk.start('demo', '--orders', '10000');
    await shell.prints('tap "grab"');
    expect(readdirSync(folder.path)).toHaveLength(1);
    shell.child.kill('SIGINT');
    expect((await shell.end()).code).toBe(130);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test.each([
    ['an unknown option', ['--driver', '4'], '--driver'],
    ['a number that is none', ['--orders', 'ten'], '--orders'],
    ['more processes than drivers', ['--processes', '8', '--drivers', '4'], '--drivers'],
    ['a word too many', ['redis'], 'redis'],
    ['a URL of no engine', ['--url', 'ftp://127.0.0.1'], 'ftp'],
  ])('ends with 64 for %s, and says which', async (_, args, what) => {
    const { code, output, errors } = await demo(...args);
    expect([code, output]).toEqual([64, '']);
    expect(errors).toContain(what);
  });

  test('ends with 69 when the engine cannot be reached: before the first round, in one line, without the password', async () => {
    const { code, output, errors } = await demo('--url', `redis://user:secret@127.0.0.1:${await freePort()}`);
    expect([code, output]).toEqual([69, '']);
    expect(errors.trim().split('\n')).toHaveLength(1);
    expect(errors).not.toContain('secret');
  });

  test('explains itself', async () => {
    const { code, output } = await demo('--help');
    expect(code).toBe(0);
    for (const option of ['--processes', '--drivers', '--orders', '--url']) expect(output).toContain(option);
  });
});

describeOn('redis', 'the demo on redis', () => {
  test('is right there too', { timeout: PATIENCE }, async () => {
    await using server = await startRedis();
    const { code, output } = await demo(...SMALL, '--url', `redis://127.0.0.1:${server.port}`);
    expect(output).toContain('holdfast on redis: every order has one driver');
    expect(code).toBe(0);
  });
});

describe('the judge', () => {
  const tap = (order: number, driver: string, token: bigint, won: boolean): Section => ({ order, driver, token, won });

  test('finds a round right in which each order has one winner and the tokens grow', () => {
    const sections = [tap(1, 'a', 1n, true), tap(2, 'b', 7n, true), tap(1, 'b', 2n, false)];
    const verdict = { winners: 2, wonTwice: 0, wonByNobody: 0, tokensInOrder: true, right: true };
    expect(judge(sections, 2)).toEqual(verdict);
  });

  test.each<[string, Section[], object]>([
    ['an order that two won', [tap(1, 'a', 1n, true), tap(1, 'b', 2n, true)], { wonTwice: 1, winners: 2 }],
    ['an order that nobody won', [tap(1, 'a', 1n, false)], { wonByNobody: 1 }],
    ['an order that nobody tapped', [], { wonByNobody: 1 }],
    ['a token that went back', [tap(1, 'a', 2n, true), tap(1, 'b', 1n, false)], { tokensInOrder: false }],
    ['a token that was given twice', [tap(1, 'a', 2n, true), tap(1, 'b', 2n, false)], { tokensInOrder: false }],
  ])('finds wrong: %s', (_, sections, seen) => {
    expect(judge(sections, 1)).toMatchObject({ ...seen, right: false });
  });

  test('says nothing about tokens where there were none', () => {
    expect(judge([tap(1, 'a', 0n, true)], 1)).toMatchObject({ tokensInOrder: undefined, right: true });
  });

  test('takes percentiles from what was seen', () => {
    expect([percentile([3, 1, 2], 0.5), percentile([3, 1, 2], 0.99), percentile([], 0.5)]).toEqual([2, 3, 0]);
  });
});

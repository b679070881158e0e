import { expect, test } from 'vitest';
import { startWorker } from '../kit/processes.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { drawn, movesOf } from './way.ts';
import type { Calls } from './way.worker.ts';

/**
 * How many files and functions of the sources one uncontended `run` may go through, and how often it may go on in another file. Each may
 * become less, and never more.
 */
const MOST = { files: 28, functions: 103, moves: 67 };
const TRIES = 5;

const functionsOf = (way: readonly [file: string, functions: readonly string[]][]): number =>
  way.reduce((sum, [, { length }]) => sum + length, 0);

describeOn('redis', 'the way of one run', () => {
  test('goes through few files and few functions, from the mutex to the client and back', async () => {
    await using server = await startRedis();
    await using worker = await startWorker<Calls>(new URL('way.worker.ts', import.meta.url), {
      env: { REDIS_PORT: `${server.port}` },
    });
    let way = Object.entries(await worker.call('way', 'redis'));
    let inOrder = await worker.call('inOrder', 'redis');
    // The shortest of some: on a busy machine a timer of the process may fire during a run, and its functions are not of the way.
    for (let more = 1; more < TRIES; more++) {
      const other = Object.entries(await worker.call('way', 'redis'));
      if (functionsOf(other) < functionsOf(way)) way = other;
      const otherOrder = await worker.call('inOrder', 'redis');
      if (movesOf(otherOrder) < movesOf(inOrder)) inOrder = otherOrder;
    }
    await worker.call('close');
    const table = way.map(([file, functions]) => `${functions.length} ${file}: ${functions.join(', ')}`).join('\n');
    const functions = functionsOf(way);
    const moves = movesOf(inOrder);
    console.info(`one run on Redis: ${way.length} files, ${functions} functions, ${moves} moves between files`);
    expect(way.length, `files of\n${table}`).toBeLessThanOrEqual(MOST.files);
    expect(functions, `functions of\n${table}`).toBeLessThanOrEqual(MOST.functions);
    expect(moves, `moves of\n${drawn(inOrder)}`).toBeLessThanOrEqual(MOST.moves);
  });
});

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
const MOST = { files: 28, functions: 102, moves: 67 };

describeOn('redis', 'the way of one run', () => {
  test('goes through few files and few functions, from the mutex to the client and back', async () => {
    await using server = await startRedis();
    await using worker = await startWorker<Calls>(new URL('way.worker.ts', import.meta.url), {
      env: { REDIS_PORT: `${server.port}` },
    });
    const way = Object.entries(await worker.call('way', 'redis'));
    const inOrder = await worker.call('inOrder', 'redis');
    await worker.call('close');
    const table = way.map(([file, functions]) => `${functions.length} ${file}: ${functions.join(', ')}`).join('\n');
    const functions = way.reduce((sum, [, { length }]) => sum + length, 0);
    const moves = movesOf(inOrder);
    console.info(`one run on Redis: ${way.length} files, ${functions} functions, ${moves} moves between files`);
    expect(way.length, `files of\n${table}`).toBeLessThanOrEqual(MOST.files);
    expect(functions, `functions of\n${table}`).toBeLessThanOrEqual(MOST.functions);
    expect(moves, `moves of\n${drawn(inOrder)}`).toBeLessThanOrEqual(MOST.moves);
  });
});

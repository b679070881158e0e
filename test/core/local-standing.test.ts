/** What a process tells of its own waiters, to itself and to others. */
import { expect, test } from 'vitest';
import { manualClock } from '../../products/testing/index.ts';
import { memory } from '../../src/backends/memory.ts';
import { EXCLUSIVE } from '../../src/core/contract/admission.ts';
import { LayeredOptions } from '../../src/core/contract/option-table.ts';
import { labelParts } from '../../src/core/contract/origin.ts';
import { LockRuntime } from '../../src/core/queue/runtime.ts';
import { createLocks, type LockOptions } from '../../src/index.ts';
import { runtimeOf } from '../../src/locks.ts';

/** A process, and the key that another process holds. */
async function setup() {
  const clock = manualClock();
  const engine = memory({ clock });
  await createLocks(engine, { clock }).mutex('key').acquire();
  return { clock, engine, locks: createLocks(engine, { clock }) };
}

test('who looks for deadlocks is known here by the holds that it is inside of now, and by when it began, also once these are over', async () => {
  const { clock, locks } = await setup();
  const own = () => runtimeOf(locks, 'a test').localEntries(['key'])[0]![0]!.origin;
  const began = clock.epoch();
  await locks.mutex('around').run(async () => {
    void locks.mutex('key').acquire({ detect: true });
    await clock.advance(500);
    expect(own()).toMatchObject({ inside: [{ key: 'around' }], cut: false, detects: began });
  });
  expect(own()).toMatchObject({ inside: [], cut: false, detects: began });
  const listed: unknown[] = [];
  for await (const { held, origin } of locks.inspect('key')) if (!held) listed.push(origin?.detects);
  expect(listed, 'as the engine lists it').toEqual([began]);
});

test('a claim tells the tokenCount that its request belongs to, which is asked for once, with the request', async () => {
  const { clock, engine } = await setup();
  const runtime = new LockRuntime(engine, clock);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const asked: unknown[] = [];
  runtime.traceparent = (request) => {
    asked.push(request.event());
    return traceparent;
  };
  const options: LockOptions = { wait: 'forever', label: 'traced' };
  void runtime.take('key', EXCLUSIVE, new LayeredOptions(engine.traits, options).terms);
  await clock.advance(30_000);
  const listed: unknown[] = [];
  for await (const { held, label } of engine.inspect!('key'))
    if (!held) listed.push(labelParts(label).origin?.traceparent);
  expect(listed).toEqual([traceparent]);
  expect(asked).toMatchObject([{ key: 'key', label: 'traced' }]);
});

test('who holds is known here without the holds around it, since it waits for nothing', async () => {
  const { clock, locks } = await setup();
  await locks.mutex('around').run(async () => {
    const waiting = locks.mutex('inner').acquire();
    await clock.advance(1);
    const lease = await waiting;
    expect(runtimeOf(locks, 'a test').localEntries(['inner'])[0]![0]!.origin.inside).toEqual([]);
    await lease.release();
  });
});

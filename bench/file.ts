/**
 * The file backend, several processes on one machine: `node bench/file.ts`. Uncontended cycles a second; from a release to
 * the next holder in another process; from kill −9 of the holder to the next. Times are of the machine's own clock.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { file } from '../src/backends/file/index.ts';
import { machineTime } from '../src/backends/file/machine.ts';
import { createLocks } from '../src/index.ts';

const CYCLES = 10_000;
const ROUNDS = 5;
const KILLS = 10;

const [, , role, path = join(mkdtempSync(join(tmpdir(), 'hf-bench-')), 'locks.db')] = process.argv;
const locks = createLocks(file({ path }), { handOff: false });
const lock = locks.mutex('k');
const middle = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1]!;

async function main(): Promise<void> {
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = machineTime();
    for (let i = 0; i < CYCLES; i++) await (await lock.acquire()).release();
    rates.push(CYCLES / (machineTime() - began));
  }
  console.log(`uncontended          ${Math.round(middle(rates) * 1_000)} cycles/s`);

  const partner = await start('partner');
  const overs: number[] = [];
  for (let i = 0; i < 1_000; i++) {
    partner.send('take');
    await once(partner, 'message');
    const lease = lock.acquire();
    partner.send('release');
    const [released] = (await once(partner, 'message')) as [number];
    await (await lease).release();
    overs.push(machineTime() - released);
  }
  console.log(`release → next       ${middle(overs).toFixed(2)} ms`);
  partner.kill();

  const deaths: number[] = [];
  for (let i = 0; i < KILLS; i++) {
    const holder = await start('partner');
    holder.send('take');
    await once(holder, 'message');
    const lease = lock.acquire();
    for (let there = 0; there < 2; ) {
      there = 0;
      for await (const _ of locks.inspect('k')) there++;
    }
    const killed = machineTime();
    holder.kill('SIGKILL');
    await (await lease).release();
    deaths.push(machineTime() - killed);
  }
  console.log(`kill −9 → next       ${middle(deaths).toFixed(1)} ms, at most ${Math.max(...deaths).toFixed(1)} ms`);
  await locks.close();
  rmSync(join(path, '..'), { recursive: true });
}

async function start(as: string): Promise<ChildProcess> {
  const child = fork(import.meta.filename, [as, path]);
  await once(child, 'message');
  return child;
}

/** Takes the lock and gives it back as it is told. */
async function partner(): Promise<void> {
  process.send!('ready');
  for (;;) {
    await once(process, 'message');
    const lease = await lock.acquire();
    process.send!('taken');
    await once(process, 'message');
    const released = machineTime();
    await lease.release();
    process.send!(released);
  }
}

await (role === 'partner' ? partner() : main());

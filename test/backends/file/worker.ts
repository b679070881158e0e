import { appendFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { file } from '../../../src/backends/file/index.ts';
import { machineTime } from '../../../src/backends/file/machine.ts';
import { Peers } from '../../../src/backends/file/wake-ups.ts';
import { isLockError } from '../../../src/core/contract/errors.ts';
import { createLocks, type Lease, type LockOptions, type Locks } from '../../../src/index.ts';
import { serve, tell } from '../../kit/worker.ts';

let locks: Locks;
let lease: Lease | undefined;
let stopped = false;

/** A process that locks. Times are the machine's, so that the test may compare them with its own. */
const calls = {
  open(path: string) {
    locks = createLocks(file({ path }));
  },
  /** As `open`, by a relative path, and then goes elsewhere. */
  openIn(folder: string, path: string, elsewhere: string) {
    process.chdir(folder);
    calls.open(path);
    process.chdir(elsewhere);
  },
  /** Takes and gives back, for the first time at just this moment of the machine's. */
  async openAt(path: string, moment: number) {
    while (machineTime() < moment);
    calls.open(path);
    await locks.mutex('k').run(() => {});
    await locks.close();
  },
  /** Root may write everything; anybody else may not. */
  dropRights() {
    if (process.getuid!() === 0) process.setuid!(65_534);
  },
  /** Resolves with the token, and when it was had. */
  async acquire(key: string, options?: LockOptions) {
    lease = await locks.mutex(key).acquire(options);
    return { token: lease.token, at: machineTime() };
  },
  /** Tells `got` later. */
  wait(key: string, options?: LockOptions) {
    void calls.acquire(key, options).then((got) => tell('got', got));
  },
  release: () => lease!.release(),
  /** What the lease says, and the code of the error that its signal was aborted with. */
  lease: () => ({
    held: lease!.held,
    token: lease!.token,
    lost: isLockError(lease!.signal.reason) ? lease!.signal.reason.code : undefined,
  }),
  close: () => locks.close(),
  /** Ends as a program does that has nothing left to do: nothing is released, nothing closed. */
  finish() {
    process.removeAllListeners('disconnect');
    setImmediate(() => process.disconnect()); // after the answer
  },
  /** From here on this process dies whenever it is about to ring another. */
  dieBeforeRinging() {
    Peers.prototype.notify = () => process.kill(process.pid, 'SIGKILL');
  },
  /** Stays in a transaction until this process dies. */
  enterTransaction(path: string) {
    const db = new DatabaseSync(path);
    db.exec('BEGIN IMMEDIATE');
    Object.assign(globalThis, { db }); // or it is collected, and rolled back
  },
  /** Until `stop`, takes the key again and again, and writes every entry and exit, with the token, to one log of all processes. */
  async work(key: string, log: string) {
    while (!stopped) {
      await locks.mutex(key, { handOff: false }).run(async ({ token }) => {
        appendFileSync(log, `in ${token} ${process.pid}\n`);
        await new Promise((resume) => setImmediate(resume));
        appendFileSync(log, `out ${token} ${process.pid}\n`);
      });
    }
  },
  stop() {
    stopped = true;
  },
};

export type FileCalls = typeof calls;
serve(calls);

import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { file } from '../../../src/backends/file/index.ts';
import { machineTime } from '../../../src/backends/file/machine.ts';
import { Store } from '../../../src/backends/file/store.ts';
import { createLocks, type Locks } from '../../../src/index.ts';
import { startWorker } from '../../kit/processes.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { LocksFile, length, token } from './locks-file.ts';
import type { FileCalls } from './worker.ts';

/** Half of core's safety net: who is served within this was told, and did not ask by itself. ms. */
const TOLD = 1_000;

/** A hold of a process that was stopped before it could release it, and never went on. */
const ABANDONED = `INSERT INTO claim VALUES (CAST('holdfast/forgotten' AS BLOB), 1, 'x', '""', 1, 1, 50, 1, 51, 1, 0, '', 'v')`;

/** ms from a release by one to the grant of the other. */
async function handOver(from: Locks, to: Locks): Promise<number> {
  const lease = await from.mutex('k').acquire();
  const next = to.mutex('k').acquire();
  await until('two in line', async () => (await length(from)) === 2);
  const released = performance.now();
  await lease.release();
  await (await next).release();
  return performance.now() - released;
}

const codes = async (locks: Locks): Promise<string[]> => (await locks.check()).map(({ code }) => code);

describeOn('file', 'the locks file', () => {
  test('is made private to the user, in a folder that is there', async () => {
    await using at = new LocksFile();
    await at.open().mutex('k').acquire();
    const mode = (name: string): number => statSync(name).mode & 0o777;
    expect(mode(at.sockets)).toBe(0o700);
    for (const suffix of ['', '-wal', '-shm']) expect(mode(at.path + suffix), suffix).toBe(0o600);
  });

  test('is refused in a folder that is not there, which is not made: it may be misspelt', async () => {
    await using at = new LocksFile('typo', 'locks.db');
    const message = expect.stringMatching(/typo, does not exist/);
    await expect(at.open().mutex('k').acquire()).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', message });
    expect(existsSync(dirname(at.path))).toBe(false);
  });

  test('is made by several processes at the same moment, and refuses none of them', async () => {
    await using at = new LocksFile();
    await using crew = new AsyncDisposableStack();
    const start = () => startWorker<FileCalls>(new URL('./worker.ts', import.meta.url));
    const workers = (await Promise.all([start(), start(), start(), start()])).map((worker) => crew.use(worker));
    for (let round = 0; round < 60; round++) {
      const moment = machineTime() + 3;
      await Promise.all(workers.map((worker) => worker.call('openAt', `${at.path}-${round}`, moment)));
    }
  });

  test.skipIf(!existsSync('/proc/locks'))(
    'made by two threads at the same moment, it keeps the locks of SQLite',
    async () => {
      await using at = new LocksFile();
      const { closeSync } = fs;
      const users: Store[] = [];
      fs.closeSync = (descriptor) => {
        fs.closeSync = closeSync;
        syncBuiltinESMExports();
        users.push(new Store(at.path)); // another thread, at just this moment
        closeSync(descriptor);
      };
      syncBuiltinESMExports();
      users.push(new Store(at.path));
      const locks = readFileSync('/proc/locks', 'utf8');
      const { ino } = statSync(at.path);
      for (const user of users) user.close();
      expect(users).toHaveLength(2);
      expect(locks).toMatch(new RegExp(`READ .*:${ino} `));
    },
  );

  test('tokens grow though nothing is kept of a key that is not in use', async () => {
    await using at = new LocksFile();
    const locks = at.open();
    const first = await token(locks);
    for (let i = 0; i < 100; i++) await token(locks, `k${i}`);
    expect(at.claims()).toBe(0);
    await locks.close();
    expect(await token(at.open())).toBeGreaterThan(first);
  });

  test('what expired under a key that nobody asks for is swept', async () => {
    await using at = new LocksFile();
    const locks = at.open();
    await token(locks);
    at.tamper((db) => db.exec(ABANDONED));
    expect(at.claims()).toBe(1);
    for (let i = 0; i < 1_024; i++) await token(locks, 'busy');
    expect(at.claims()).toBe(0);
  });

  test('leases of another start of the machine are void, and tokens leap over what a power cut may have lost', async () => {
    await using at = new LocksFile();
    await using before = await startWorker<FileCalls>(new URL('./worker.ts', import.meta.url));
    await before.call('open', at.path);
    const lost = await before.call('acquire', 'k', { ttl: '1h' });
    await before.kill(); // no process outlives its machine
    at.tamper((db) => db.exec("UPDATE ledger SET boot = 'another'"));
    expect(await token(at.open())).toBeGreaterThan(lost.token + 2n ** 32n);
  });

  test('a new start of the machine is on the disk before the first token, whatever the durability', async () => {
    await using at = new LocksFile();
    await token(at.open());
    at.tamper((db) => db.exec("UPDATE ledger SET boot = 'another'"));
    const level = vi.spyOn(DatabaseSync.prototype, 'exec');
    await token(at.open());
    const done = level.mock.calls.map(([sql]) => /synchronous = \w+|^COMMIT$/.exec(sql)?.[0]).filter(Boolean);
    level.mockRestore();
    expect(done).toEqual(['synchronous = FULL', 'COMMIT', 'synchronous = NORMAL']);
  });

  test.skipIf(process.platform !== 'linux')(
    'who sees another boot_id, as in a container that has its own, is refused while others are at it',
    async () => {
      await using at = new LocksFile();
      await using holder = await startWorker<FileCalls>(new URL('./worker.ts', import.meta.url));
      await holder.call('open', at.path);
      const { token: taken } = await holder.call('acquire', 'k', { ttl: '1h' });
      const boot = at.tamper((db) => db.prepare('SELECT boot FROM ledger').get()!.boot);
      at.tamper((db) => db.exec("UPDATE ledger SET boot = 'of a container'"));
      const locks = at.open();
      for (const stopped of [false, true]) {
        if (stopped) holder.pause();
        await expect(locks.mutex('k').tryAcquire()).rejects.toMatchObject({
          code: 'LOCK_UNAVAILABLE',
          message: expect.stringContaining('boot_id'),
        });
      }
      holder.resume();
      expect((await holder.call('lease')).held).toBe(true);
      at.tamper((db) => db.prepare('UPDATE ledger SET boot = ?').run(boot!));
      expect(await holder.call('release')).toBe(true);
      at.tamper((db) => db.exec("UPDATE ledger SET boot = 'of a container'"));
      expect(await token(locks)).toBeGreaterThan(taken);
    },
  );

  test('times that lie ahead are of another start of the machine', async () => {
    await using at = new LocksFile();
    const before = await at.open().mutex('k').acquire({ ttl: '1h' });
    at.tamper((db) => db.exec('UPDATE claim SET joined = joined + 1e9, expires = expires + 1e9'));
    expect(await token(at.open())).toBeGreaterThan(before.token + 2n ** 32n);
  });

  test('a file that is deleted under its holders ends their holds', async () => {
    await using at = new LocksFile();
    const lease = await at.open().mutex('k').acquire({ ttl: 600 });
    for (const suffix of ['', '-wal', '-shm']) rmSync(at.path + suffix);
    const other = at.open();
    await token(other, 'another key');
    await until('the loss', () => lease.signal.aborted);
    expect(lease.held).toBe(false);
    expect(await token(other)).toBeGreaterThan(0n);
  });

  test('a link that leads to another file from now on ends the holds in the old one', async () => {
    await using at = new LocksFile('current', 'locks.db');
    const current = dirname(at.path);
    for (const name of ['one', 'two']) mkdirSync(join(at.folder, name));
    symlinkSync('one', current);
    const lease = await at.open().mutex('k').acquire({ ttl: 600 });
    rmSync(current);
    symlinkSync('two', current);
    const other = at.open();
    await token(other, 'another key');
    await until('the loss', () => lease.signal.aborted);
    expect(await token(other)).toBeGreaterThan(0n);
  });

  test.skipIf(process.getuid?.() !== 0)('a link that leads to another disk (as root), too', async () => {
    await using at = new LocksFile('current', 'locks.db');
    const current = dirname(at.path);
    const disks = ['one', 'two'].map((name) => join(at.folder, name));
    try {
      for (const disk of disks) {
        mkdirSync(disk);
        execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]);
        await using locks = createLocks(file({ path: join(disk, 'locks.db') })); // of one number on both
        await token(locks);
      }
      symlinkSync('one', current);
      await using locks = createLocks(file({ path: at.path }));
      const lease = await locks.mutex('k').acquire({ ttl: 600 });
      rmSync(current);
      symlinkSync('two', current);
      await until('the loss', () => lease.signal.aborted);
      expect(await token(locks)).toBeGreaterThan(0n);
    } finally {
      for (const disk of disks) execFileSync('umount', [disk]);
    }
  });

  test('a relative path is of where it was given, wherever the process goes then', async () => {
    await using at = new LocksFile();
    const elsewhere = join(at.folder, 'elsewhere');
    mkdirSync(elsewhere);
    await using worker = await startWorker<FileCalls>(new URL('./worker.ts', import.meta.url));
    await worker.call('openIn', at.folder, 'locks.db', elsewhere);
    await worker.call('acquire', 'k');
    expect(await at.open().mutex('k').tryAcquire()).toBeNull();
  });

  test('a path too long for a socket has its sockets elsewhere, and waiters are woken all the same', async () => {
    await using at = new LocksFile('d'.repeat(100), 'locks.db');
    mkdirSync(dirname(at.path));
    const [one, other] = [at.open(), at.open()];
    expect(await handOver(one, other)).toBeLessThan(TOLD);
    expect(existsSync(at.sockets)).toBe(false);
    expect(await codes(one)).not.toContain('no-socket');
  });

  test('a directory that others may write gets no sockets, and waiters ask by themselves', async () => {
    await using at = new LocksFile();
    mkdirSync(at.sockets);
    chmodSync(at.sockets, 0o777);
    const [one, other] = [at.open(), at.open()];
    expect(await codes(one)).toContain('no-socket');
    await handOver(one, other);
    expect(readdirSync(at.sockets)).toEqual([]);
  });

  test('what is no message of a process wakes nobody', async () => {
    await using at = new LocksFile();
    const [one, other] = [at.open(), at.open()];
    await token(one);
    const [name] = readdirSync(at.sockets);
    for (const noise of ['\n', '{}\n', 'null\n', '[1]\n', '{"id":"x","token":1e99}\n', 'x'.repeat(100_000)]) {
      await new Promise<void>((closed) => {
        const caller = connect(join(at.sockets, name!)).once('close', () => closed());
        caller.on('error', () => {}).resume();
        caller.end(noise);
      });
    }
    expect(await handOver(other, one)).toBeLessThan(TOLD);
  });

  test('what is no socket among the sockets disturbs nobody', async () => {
    await using at = new LocksFile();
    mkdirSync(join(at.sockets, 'a folder'), { recursive: true, mode: 0o700 });
    writeFileSync(join(at.sockets, 'a file'), '');
    await token(at.open());
    await until('they were looked at', () => !existsSync(join(at.sockets, 'a file')));
  });

  test('check tells what endangers locks', async () => {
    await using at = new LocksFile();
    const locks = at.open();
    await token(locks);
    expect(await locks.check()).toMatchObject([{ code: 'durability', severity: 'info' }]);
    chmodSync(at.path, 0o666);
    expect(await codes(at.open({ durability: 'power' }))).toEqual(['permissions']);
  });

  test('prefixes keep users apart', async () => {
    await using at = new LocksFile();
    await at.open().mutex('k').acquire();
    expect(await at.open({ prefix: 'other' }).mutex('k').tryAcquire()).not.toBeNull();
  });

  test.for([
    { path: '' },
    { path: 'a\0b' },
    { path: 7 },
    { path: 'x', durability: 'always' },
    { path: 'x', prefix: 'a/b' },
  ])('%o is invalid', (options) => {
    expect(() => file(options as never)).toThrow(expect.objectContaining({ code: 'LOCK_INVALID' }));
  });
});

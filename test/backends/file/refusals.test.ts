import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { file } from '../../../src/backends/file/index.ts';
import { createLocks, isLockError, type Lease } from '../../../src/index.ts';
import { startWorker } from '../../kit/processes.ts';
import { describeOn } from '../../kit/suite.ts';
import { until } from '../../kit/wait.ts';
import { LocksFile, token } from './locks-file.ts';
import type { FileCalls } from './worker.ts';

const refusal = (message: string) => ({
  code: 'LOCK_UNAVAILABLE',
  backend: 'file',
  message: expect.stringContaining(message),
});

describeOn('file', 'a locks file that cannot be used', () => {
  test('no database: refused, as it was', async () => {
    await using at = new LocksFile();
    const content = 'Dear diary, '.repeat(1_000);
    writeFileSync(at.path, content);
    await expect(at.open().mutex('k').tryAcquire()).rejects.toMatchObject({
      ...refusal('this is not a locks file'),
      cause: { errcode: 26 },
    });
    expect(readFileSync(at.path, 'utf8')).toBe(content);
  });

  test("another application's: refused, as it was", async () => {
    await using at = new LocksFile();
    at.tamper((db) => db.exec('CREATE TABLE diary (day TEXT)'));
    const content = readFileSync(at.path);
    await expect(at.open().mutex('k').tryAcquire()).rejects.toMatchObject(refusal('another application'));
    expect(readFileSync(at.path).equals(content)).toBe(true);
  });

  test('damaged: refused, and made anew once it was moved away', async () => {
    await using at = new LocksFile();
    const writer = at.open();
    await Promise.all(Array.from({ length: 50 }, (_, i) => writer.mutex(`k${i}`).acquire()));
    await writer.close();
    writeFileSync(at.path, readFileSync(at.path).fill(0x55, 4_096));
    const locks = at.open();
    await expect(locks.mutex('k').tryAcquire()).rejects.toMatchObject(refusal('the file is damaged'));
    rmSync(at.path);
    expect(await token(locks)).toBeGreaterThan(0n);
  });

  test('of a format this release does not know: refused, also when it comes while the file is open', async () => {
    await using at = new LocksFile();
    const locks = at.open();
    const before = await token(locks);
    at.tamper((db) => db.exec('UPDATE ledger SET format = 99'));
    for (const user of [locks, at.open()]) {
      await expect(user.mutex('k').tryAcquire()).rejects.toMatchObject(refusal('format'));
    }
    at.tamper((db) => db.exec('UPDATE ledger SET format = 2'));
    expect(await token(locks)).toBeGreaterThan(before);
  });

  test.skipIf(process.platform !== 'linux')(
    'locked by who cannot tell which start of the machine this is: refused until that has expired',
    async () => {
      await using at = new LocksFile();
      const lease = await at.open().mutex('k').acquire({ ttl: 600, renew: false });
      at.tamper((db) => db.exec("UPDATE ledger SET boot = ''"));
      const other = at.open();
      await expect(other.mutex('k').tryAcquire()).rejects.toMatchObject(refusal('start of the machine'));
      expect(lease.held).toBe(true);
      await until('it has expired', async () => (await token(other)) > lease.token);
      expect(lease.held).toBe(false);
    },
  );

  test('a directory or a device in its place, or no place for it: refused', async () => {
    await using at = new LocksFile();
    mkdirSync(at.path);
    for (const path of [at.path, '/dev/null']) {
      await expect(at.open({ path }).mutex('k').tryAcquire()).rejects.toMatchObject(refusal('it is no file'));
    }
    const nowhere = at.open({ path: '/proc/none/locks.db' });
    await expect(nowhere.mutex('k').tryAcquire()).rejects.toMatchObject(refusal('give another path'));
  });

  test('read-only: refused', async () => {
    await using at = new LocksFile();
    const locks = at.open();
    const lease = await locks.mutex('k').acquire();
    chmodSync(at.folder, 0o777);
    for (const suffix of ['', '-wal', '-shm']) chmodSync(at.path + suffix, 0o444);
    await using reader = await startWorker<FileCalls>(new URL('./worker.ts', import.meta.url));
    await reader.call('dropRights');
    await reader.call('open', at.path);
    await expect(reader.call('acquire', 'other')).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('let this user'),
    });
    expect(lease.held).toBe(true);
  });

  test.skipIf(process.getuid?.() !== 0)('mounted without what is beside it (as root): refused', async () => {
    await using at = new LocksFile();
    const lease = await at.open().mutex('k').acquire();
    const path = join(at.folder, 'in the container');
    writeFileSync(path, '');
    execFileSync('mount', ['--bind', at.path, path]);
    try {
      await expect(at.open({ path }).mutex('k').tryAcquire()).rejects.toMatchObject(refusal('mount its directory'));
      expect(lease.held).toBe(true);
    } finally {
      execFileSync('umount', [path]);
    }
  });

  test.skipIf(process.platform !== 'linux')('made by who is out of descriptors: refused, without litter', async () => {
    await using at = new LocksFile();
    await using worker = await startWorker<FileCalls>(new URL('./worker.ts', import.meta.url));
    await worker.call('open', at.path);
    execFileSync('prlimit', ['--pid', String(worker.pid), '--nofile=8:8']);
    await expect(worker.call('acquire', 'k')).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('cannot be used'),
    });
    expect(readdirSync(at.folder)).toEqual([]);
  });

  test.skipIf(process.getuid?.() !== 0)('a full disk (as root): refused, and nothing is lost', async () => {
    await using at = new LocksFile();
    const disk = join(at.folder, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]);
    try {
      const ballast = join(disk, 'ballast');
      writeFileSync(ballast, Buffer.alloc(3.5 * 2 ** 20));
      await using locks = createLocks(file({ path: join(disk, 'locks.db') }));
      const leases: Lease[] = [];
      const fill = async (): Promise<void> => {
        for (;;) leases.push(await locks.mutex(`k${leases.length}`).acquire());
      };
      await expect(fill()).rejects.toMatchObject(refusal('free some space'));
      expect(leases.length).toBeGreaterThan(10);
      rmSync(ballast);
      for (const lease of leases) {
        await lease.extend('1m');
        expect(await lease.release()).toBe(true);
      }
      expect(await token(locks)).toBeGreaterThan(leases.at(-1)!.token);
      expect(isLockError(leases[0]!.signal.reason)).toBe(false);
    } finally {
      execFileSync('umount', [disk]);
    }
  });
});

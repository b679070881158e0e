import { afterEach, expect, test } from 'vitest';
import { type MysqlBackend, type MysqlOptions, mysql } from '../../../src/backends/mysql/index.ts';
import type { Backend, Claim, Grant } from '../../../src/core/contract/backend.ts';
import { systemClock } from '../../../src/core/contract/clock.ts';
import { createLocks } from '../../../src/index.ts';
import { describeOnMysql } from '../../kit/mysql-kinds.ts';
import { startProxy } from '../../kit/proxy.ts';
import { settleWithin, until } from '../../kit/wait.ts';
import { claimOf, hastened, median } from './claims.ts';
import { useServer } from './server.ts';

const POLL = 400;

describeOnMysql('waiting at mysql', (kind) => {
  const host = useServer(kind);
  const opened: Backend[] = [];
  const open = (options: MysqlOptions = {}): MysqlBackend => {
    const backend = mysql(host.pool(), { sweep: 0, ...options });
    opened.push(backend);
    return backend;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((backend) => backend.close()));
  });

  /** From the release in one process to the wake in another, ms. */
  async function handOvers(one: Backend, two: Backend, rounds: number): Promise<number[]> {
    const times: number[] = [];
    let holder = claimOf('handed');
    expect(await one.attempt(holder)).toMatchObject({ granted: true });
    for (let i = 0; i < rounds; i++) {
      const [from, to] = i % 2 === 0 ? [one, two] : [two, one];
      const next = claimOf('handed');
      const woken = Promise.withResolvers<number>();
      const watch = await to.watch!(next, (grant) => grant && woken.resolve(performance.now()));
      expect(await to.attempt(next)).toMatchObject({ granted: false });
      await new Promise((resolve) => setTimeout(resolve, 5));
      const start = performance.now();
      await from.release(holder);
      times.push((await woken.promise) - start);
      await watch[Symbol.asyncDispose]();
      holder = next;
    }
    await (rounds % 2 === 0 ? one : two).release(holder);
    return times;
  }

  test('a hand-over takes one poll at most, and with a gate no poll at all', async () => {
    const polled = [open({ poll: POLL }), open({ poll: POLL })] as const;
    expect(median(await handOvers(...polled, 8)), 'median by poll, ms').toBeLessThanOrEqual(POLL);
    const gated = [
      open({ gate: true, poll: 10_000, table: 'gated' }),
      open({ gate: true, poll: 10_000, table: 'gated' }),
    ] as const;
    await handOvers(...gated, 4); // their connections are there now
    expect(median(await handOvers(...gated, 20)), 'median by gate, where a poll takes 10,000 ms').toBeLessThan(2_000);
  }, 60_000);

  test('many keys released at once send few notifications, and all waiters are notified', async () => {
    const keys = Array.from({ length: 60 }, (_, i) => `many ${i}`);
    const gated = { gate: true, poll: 60_000, table: 'gated' } as const;
    const [here, there] = [open(gated), open(gated)];
    const holders = keys.map((key) => claimOf(key));
    for (const holder of holders) expect(await here.attempt(holder)).toMatchObject({ granted: true });
    const woken = keys.map(() => Promise.withResolvers<unknown>());
    await using watches = new AsyncDisposableStack();
    for (const [i, key] of keys.entries()) {
      const next = claimOf(key);
      watches.use(await there.watch!(next, (grant) => grant && woken[i]!.resolve(grant)));
      expect(await there.attempt(next)).toMatchObject({ granted: false });
    }
    await until('it listens', async () => (await sleepers()) > 0);
    const kills = async (): Promise<number> => {
      const [rows] = await host.pool().query("SHOW GLOBAL STATUS LIKE 'Com_kill'");
      return Number((rows as { Value: string }[])[0]!.Value);
    };
    const before = await kills();
    await Promise.all(holders.map((holder) => here.release(holder)));
    await settleWithin('all are woken', Promise.all(woken.map(({ promise }) => promise)));
    expect((await kills()) - before, 'notifications').toBeLessThan(keys.length / 3);
  }, 60_000);

  const sleepers = async (): Promise<number> => {
    const sql = "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP%'";
    return Number(((await host.pool().query(sql))[0] as { n: number }[])[0]!.n);
  };

  test('a gate leaves no session on the server, and nothing to wait for', async () => {
    const backend = open({ gate: true });
    const watch = await backend.watch!(claimOf('a'), () => {});
    await until('it listens', async () => (await sleepers()) === 1);
    await watch[Symbol.asyncDispose]();
    await backend.close();
    await until('nobody sleeps any more', async () => (await sleepers()) === 0, 10_000);
  });

  test('a gate that is closed as it begins to listen leaves no session on the server', async () => {
    const pool = host.pool();
    const acquired = new Promise((resolve) => pool.on('acquire', resolve));
    const backend = mysql(pool, { gate: true, sweep: 0 });
    await using _ = await backend.watch!(claimOf('a'), () => {});
    await backend.close();
    await acquired;
    await new Promise((resolve) => setTimeout(resolve, 200)); // in which it would have gone to sleep
    expect(await sleepers()).toBe(0);
  });

  test('a gate does not sleep where nobody could find it, while a session of before still has its lock', async () => {
    const before = await host.pool().getConnection();
    await before.query("SELECT GET_LOCK('holdfast:feed', 0)");
    const backend = open({ gate: true, clock: { ...systemClock, id: () => 'feed' } });
    await using _ = await backend.watch!(claimOf('a'), () => {});
    await new Promise((resolve) => setTimeout(resolve, 200)); // in which it would have gone to sleep
    expect(await sleepers()).toBe(0);
    await before.query("SELECT RELEASE_LOCK('holdfast:feed')");
    before.release();
    await until('it sleeps', async () => (await sleepers()) === 1);
  });

  test('a gate that is closed while the server is silent gives up in the end', async () => {
    const link = await startProxy(host.server.port);
    const backend = mysql(host.pool({ port: link.port }), { gate: true, sweep: 0, clock: hastened(20) });
    await backend.setup();
    await using _ = await backend.watch!(claimOf('a'), () => {});
    await until('it listens', async () => (await sleepers()) === 1);
    link.stall();
    await settleWithin('the close', backend.close());
    await link[Symbol.asyncDispose]();
    await until('nobody sleeps any more', async () => (await sleepers()) === 0);
  });

  test('the polls of a process do not grow with its waiters', async () => {
    const counted = async (waiters: number): Promise<number> => {
      const pool = host.pool();
      let statements = 0;
      pool.on('acquire', () => statements++); // one is borrowed for each
      const holder = open();
      const backend = mysql(pool, { poll: 20, sweep: 0 });
      const claims: Claim[] = [];
      const watches: AsyncDisposable[] = [];
      for (let i = 0; i < waiters; i++) {
        const key = `waited ${waiters} ${i}`;
        expect(await holder.attempt(claimOf(key))).toMatchObject({ granted: true });
        const claim = claimOf(key);
        await backend.attempt(claim);
        watches.push(await backend.watch!(claim, () => {}));
        claims.push(claim);
      }
      statements = 0;
      const began = performance.now();
      await until('it has polled a few times', () => statements > 15);
      const rate = statements / (performance.now() - began);
      for (const watch of watches) await watch[Symbol.asyncDispose]();
      await Promise.all([holder.close(), backend.close()]);
      return rate;
    };
    for (const waiters of [1, 60])
      expect(await counted(waiters), `polls in a ms of ${waiters} waiters`).toBeLessThanOrEqual(1.5 / 20);
  });

  test('a pool of one connection serves holders, waiters and renewals', async () => {
    const locks = [0, 1].map(() => createLocks(mysql(host.pool({ connectionLimit: 1 }), { poll: 10, sweep: 0 })));
    let inside = 0;
    const section = (i: number): Promise<void> =>
      locks[i % 2]!.mutex('narrow', { ttl: 1_500, handOff: false }).run(
        async (lease) => {
          expect(++inside, 'inside').toBe(1);
          if (i === 0) await new Promise((resolve) => setTimeout(resolve, 2_000)); // outlives its ttl
          lease.assertHeld();
          inside--;
        },
        { wait: '15s' },
      );
    await Promise.all(Array.from({ length: 12 }, (_, i) => section(i)));
    for (const each of locks) await each.close();
  });

  test('connections that are killed all the time cost patience, never exclusion', async () => {
    const root = host.pool();
    const locks = [createLocks(open({ poll: 10 })), createLocks(open({ poll: 10 }))];
    let inside = 0;
    let last = 0n;
    let done = 0;
    const end = performance.now() + 2_000;
    const worker = async (i: number): Promise<void> => {
      while (performance.now() < end) {
        const section = locks[i % 2]!.mutex('killed', { ttl: 2_000 }).run(
          async (lease) => {
            expect(++inside, 'inside').toBe(1);
            expect(lease.token).toBeGreaterThan(last);
            last = lease.token!;
            await new Promise((resolve) => setTimeout(resolve, 2));
            inside--;
            done++;
          },
          { wait: '10s' },
        );
        await section.catch((error) => expect(error).toMatchObject({ name: 'LockError' }));
      }
    };
    const killer = async (): Promise<void> => {
      while (performance.now() < end) {
        const sql = 'SELECT ID AS id FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = "root"';
        for (const { id } of (await root.query(sql))[0] as { id: number }[]) {
          if (Math.random() < 0.3) await root.query(`KILL ${id}`).catch(() => {});
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    await Promise.all([killer(), ...Array.from({ length: 6 }, (_, i) => worker(i))]);
    expect(done).toBeGreaterThan(20);
    for (const each of locks) await each.close();
  }, 60_000);

  test('a server that is killed and comes back lets a waiter in, with a higher token', async () => {
    const [one, two] = [open(), open()];
    const { token } = (await one.attempt(claimOf('down', { ttl: 1_000 }))) as Grant;
    await host.server.kill();
    await expect(two.attempt(claimOf('down'))).rejects.toThrow();
    await host.server.restart();
    let next: Grant | undefined;
    const claim = claimOf('down');
    await until('it is admitted', async () => {
      const answer = await two.attempt(claim);
      next = answer.granted ? answer : undefined;
      return answer.granted;
    });
    expect(next!.token).toBeGreaterThan(token);
  });
});

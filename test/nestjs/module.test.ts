import { Global, Injectable, Module, Scope } from '@nestjs/common';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { connect } from '../../src/connect/index.ts';
import { currentLease, Locked } from '../../src/decorator/index.ts';
import { createLocks, isLockError, type LocksDefaults, type Term } from '../../src/index.ts';
import { InjectLocks, Leading, Locks, LocksHealthIndicator, LocksModule } from '../../src/nestjs/index.ts';
import { startRedis } from '../kit/redis.ts';
import { describeOn } from '../kit/suite.ts';
import { until } from '../kit/wait.ts';
import { startZookeeper } from '../kit/zookeeper.ts';
import { started } from './application.ts';

@Injectable()
class Orders {
  @Locked('order:{0}')
  async grab(_id: number): Promise<bigint> {
    return currentLease().token;
  }
}

/** A provider that leads and notes what happens to it. */
function leading(name: string, notes: string[], over: (term: Term) => Promise<unknown> = ended) {
  @Injectable()
  class Poller {
    @Leading(name, { ttl: '2s', pause: { pause: 5 } })
    async poll(term: Term): Promise<void> {
      notes.push('leads');
      await over(term);
      notes.push('settled');
    }
    onApplicationBootstrap(): void {
      notes.push('started');
    }
    onModuleDestroy(): void {
      notes.push('destroyed');
    }
  }
  return Poller;
}
const ended = (term: Term) => new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve()));

describe('the locks', () => {
  test.each([
    ['a url', () => ({ url: 'memory:' })],
    ['a backend', () => ({ backend: memory(), defaults: { ttl: 5_000 } })],
    ['locks that are made', () => ({ locks: createLocks(memory()) })],
  ])('are made from %s, injected, used by @Locked methods, and closed with the application', async (_title, options) => {
    const { app, ...rest } = await started({ imports: [LocksModule.forRoot(options())], providers: [Orders] });
    const locks = app.get(Locks);
    const { token } = await locks
      .mutex('order:1')
      .acquire({ minHold: 0 })
      .then(async (lease) => {
        await lease.release();
        return lease;
      });
    expect(await app.get(Orders).grab(1)).toBeGreaterThan(token);
    await rest[Symbol.asyncDispose]();
    await expect(locks.mutex('order:1').acquire()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  });

  test('are injected where nothing tells their class, as after an import of its type only', async () => {
    @Injectable()
    class Plain {
      readonly locks: unknown;
      constructor(locks: unknown) {
        this.locks = locks;
      }
    }
    InjectLocks()(Plain, undefined, 0); // as `constructor(@InjectLocks() locks: Locks)` is compiled
    await using application = await started({ imports: [LocksModule.forRoot({ url: 'memory:' })], providers: [Plain] });
    expect(application.app.get(Plain).locks).toBe(application.app.get(Locks));
  });

  test('of two applications in one process are each one’s own', async () => {
    const one = { imports: [LocksModule.forRoot({ url: 'memory:' })], providers: [Orders] };
    await using first = await started(one);
    await using second = await started({ ...one, imports: [LocksModule.forRoot({ url: 'memory:' })] });
    await using _ = await first.app.get(Locks).mutex('order:7').acquire();
    await second.app.get(Orders).grab(7);
    let entered = false;
    const waiting = first.app
      .get(Orders)
      .grab(7)
      .then(() => (entered = true));
    await second.app.get(Orders).grab(7);
    expect(entered).toBe(false);
    await _.release();
    await waiting;
  });

  test('are there for what is made anew each time, too', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Each extends Orders {}
    await using running = await started({ imports: [LocksModule.forRoot({ url: 'memory:' })], providers: [Each] });
    expect(typeof (await (await running.app.resolve(Each)).grab(1))).toBe('bigint');
  });
});

describe('forRootAsync', () => {
  class Config {
    readonly url = 'memory:';
  }
  class ConfigModule {}
  Module({ providers: [Config], exports: [Config] })(ConfigModule);
  class Options {
    createLocksOptions = async () => ({ url: 'memory:' });
  }
  class OptionsModule {}
  Module({ providers: [Options], exports: [Options] })(OptionsModule);

  test.each([
    [
      'a factory with what it needs',
      LocksModule.forRootAsync({
        imports: [ConfigModule],
        inject: [Config],
        useFactory: async ({ url }: Config) => ({ url }),
      }),
    ],
    ['a class', LocksModule.forRootAsync({ useClass: Options })],
    ['a provider that exists', LocksModule.forRootAsync({ imports: [OptionsModule], useExisting: Options })],
  ])('takes %s', async (_title, module) => {
    await using running = await started({ imports: [module], providers: [Orders] });
    expect(typeof (await running.app.get(Orders).grab(1))).toBe('bigint');
  });
});

describe('what is wrong is said when the application is made', () => {
  const said = (make: () => unknown): string => {
    try {
      make();
    } catch (error) {
      if (isLockError(error, 'LOCK_INVALID')) return error.message;
      throw error;
    }
    return 'nothing';
  };
  test.each([
    ['no engine', () => LocksModule.forRoot({}), /needs one of url, backend and locks; it was given none/],
    ['two engines', () => LocksModule.forRoot({ url: 'memory:', backend: memory() }), /was given url and backend/],
    ['a misspelt option', () => LocksModule.forRoot({ uri: 'memory:' } as never), /"uri" is not one of/],
    ['a settle without a unit', () => LocksModule.forRoot({ url: 'memory:', settle: '10' as never }), /settle is "10"/],
    ['no factory', () => LocksModule.forRootAsync({}), /needs one of useFactory, useClass and useExisting/],
    ['an election without a name', () => Leading(''), /must not be empty/],
    ['a term that is too short', () => Leading('a', { pause: { pause: -1 } }), /pause/],
  ])('%s', (_title, make, message) => {
    expect(said(make)).toMatch(message);
  });

  const locks = () => LocksModule.forRoot({ url: 'memory:' });
  @Injectable({ scope: Scope.REQUEST })
  class PerRequest {
    @Leading('a')
    async lead(): Promise<void> {}
  }
  test.each([
    ['LocksModule twice', { imports: [locks(), locks()] }, /imported twice/],
    ['a leader that is made for each request', { imports: [locks()], providers: [PerRequest] }, /PerRequest.lead/],
    [
      'two methods in one election',
      { imports: [locks()], providers: [leading('same', []), { provide: 'b', useClass: leading('same', []) }] },
      /Poller.poll and Poller.poll have one name, "same"/,
    ],
    [
      'options of a factory',
      { imports: [LocksModule.forRootAsync({ useFactory: () => ({ url: 'nowhere:' }) })] },
      /no engine has URLs of nowhere:/,
    ],
  ])('%s', async (_title, root, message) => {
    await expect(started(root)).rejects.toThrow(message);
  });
});

describeOn('redis', '@Leading', () => {
  const options = () => ({ imports: [LocksModule.forRoot({ url: 'memory:' })] });

  test('leads after the object has started; when the application goes down it settles before the object is destroyed', async () => {
    const notes: string[] = [];
    const running = await started({ ...options(), providers: [leading('a', notes)] });
    const locks = running.app.get(Locks);
    await until('it leads', () => notes.includes('leads'));
    await running[Symbol.asyncDispose]();
    expect(notes).toEqual(['started', 'leads', 'settled', 'destroyed']);
    await expect(locks.mutex('a').tryAcquire()).rejects.toMatchObject({ code: 'LOCK_CLOSED' });
  });

  test('settles before what its class depends on is destroyed, in whatever module that is', async () => {
    const notes: string[] = [];
    class Connection {
      onModuleDestroy = (): void => void notes.push('connection closed');
    }
    class ConnectionModule {}
    Module({ providers: [Connection], exports: [Connection] })(ConnectionModule);
    const Poller = leading('a', notes, async (term) => {
      await ended(term);
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    Reflect.defineMetadata('design:paramtypes', [Connection], Poller);
    const running = await started({ imports: [ConnectionModule, ...options().imports], providers: [Poller] });
    await until('it leads', () => notes.includes('leads'));
    await running[Symbol.asyncDispose]();
    expect(notes).toEqual(['started', 'leads', 'settled', 'destroyed', 'connection closed']);
  });

  test('the locks are closed before the connections of what forRootAsync imports, and of global modules', async () => {
    const notes: string[] = [];
    const closing = (name: string) =>
      class {
        async onApplicationShutdown(): Promise<void> {
          const closed = await locks
            .mutex('b')
            .tryAcquire()
            .then(
              () => 'open',
              ({ code }) => code,
            );
          notes.push(`${name}: ${closed}`);
        }
      };
    class Imported {}
    const First = closing('imported');
    Module({ providers: [First] })(Imported);
    class Everywhere {}
    Module({ providers: [closing('global')] })(Everywhere);
    Global()(Everywhere);
    const running = await started({
      imports: [
        Everywhere,
        LocksModule.forRootAsync({ imports: [Imported], useFactory: () => ({ url: 'memory:' }) }),
        Imported,
      ],
    });
    const locks = running.app.get(Locks);
    await running[Symbol.asyncDispose]();
    expect(notes.sort()).toEqual(['global: LOCK_CLOSED', 'imported: LOCK_CLOSED']);
  });

  test('a method that does not settle holds nothing up beyond the limit, and keeps its lock until it has settled', async () => {
    const notes: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const backend = memory();
    const running = await started({
      imports: [LocksModule.forRoot({ backend, settle: 50 })],
      providers: [leading('a', notes, () => promise)],
    });
    await until('it leads', () => notes.includes('leads'));
    await running[Symbol.asyncDispose]();
    expect(notes).toEqual(['started', 'leads', 'destroyed']);
    expect(running.log.lines.join('\n')).toMatch(/warn: Poller.poll has not settled in time/);
    expect(running.log.lines.join('\n')).toMatch(/its lock is kept/);
    await using others = createLocks(backend);
    expect(await others.mutex('a').tryAcquire()).toBeNull();
    resolve();
    await (await others.mutex('a').acquire()).release();
    expect(notes).toContain('settled');
  });

  test('goes with @Locked on the same method, in either order', async () => {
    const notes: string[] = [];
    @Injectable()
    class Both {
      @Locked('outer')
      @Leading('a')
      async one(term: Term): Promise<void> {
        notes.push(`one, under ${currentLease().key}`);
        await ended(term);
      }
      @Leading('b')
      @Locked('inner')
      async two(term: Term): Promise<void> {
        notes.push(`two, under ${currentLease().key}`);
        await ended(term);
      }
    }
    await using _ = await started({ ...options(), providers: [Both] });
    await until('both lead', () => notes.length === 2);
    expect(notes.sort()).toEqual(['one, under outer', 'two, under inner']);
  });

  test('an engine that is gone does not keep the application from going down', async () => {
    const notes: string[] = [];
    const server = await startRedis();
    const running = await started({
      imports: [LocksModule.forRoot({ url: server.url, settle: 200 })],
      providers: [leading('a', notes)],
    });
    await until('it leads', () => notes.includes('leads'));
    await server[Symbol.asyncDispose]();
    await running[Symbol.asyncDispose]();
    expect(notes).toEqual(['started', 'leads', 'settled', 'destroyed']);
  });

  test('a method that fails is logged, and elected again', async () => {
    const notes: string[] = [];
    let failed = false;
    const Poller = leading('a', notes, async (term) => {
      if (failed) return ended(term);
      failed = true;
      throw new Error('no connection');
    });
    await using running = await started({ ...options(), providers: [Poller] });
    await until('it leads again', () => notes.filter((note) => note === 'leads').length === 2);
    expect(running.log.lines.join('\n')).toMatch(/error: Poller.poll failed while it led a.*no connection/s);
  });
});

describeOn('redis', 'health', () => {
  test('is what @nestjs/terminus takes, and tells what is led', async () => {
    const notes: string[] = [];
    await using running = await started({
      imports: [LocksModule.forRoot({ url: 'memory:' }), TerminusModule],
      providers: [leading('feed', notes)],
    });
    await until('it leads', () => notes.includes('leads'));
    const indicator = running.app.get(LocksHealthIndicator);
    const check = running.app.get(HealthCheckService, { strict: false });
    expect(await check.check([() => indicator.isHealthy('locks')])).toMatchObject({
      status: 'ok',
      info: { locks: { status: 'up', leading: ['feed'] } },
    });
  });

  test('is down, in time and not by rejecting, while the engine does not answer, and up again after that', async () => {
    await using server = await startRedis();
    await using locks = await connect(server.url);
    const indicator = new LocksHealthIndicator(locks, () => []);
    server.pause();
    try {
      expect(await indicator.isHealthy('locks', { timeout: 50 })).toMatchObject({
        locks: { status: 'down', message: 'the engine did not answer within 50 ms' },
      });
    } finally {
      server.resume();
    }
    await until('it is up', async () => (await indicator.isHealthy()).locks!.status === 'up');
  });

  test('is down after the locks are closed', async () => {
    const locks = createLocks(memory());
    await locks.close();
    const { locks: detail } = await new LocksHealthIndicator(locks, () => []).isHealthy();
    expect(detail).toMatchObject({ status: 'down', message: expect.stringMatching(/LOCK_CLOSED/) });
  });
});

test('health is down, in time, while the engine does not answer a release, also for the next caller', async () => {
  const engine = memory();
  const answer = Promise.withResolvers<void>();
  const { release } = engine;
  engine.release = (...args) => answer.promise.then(() => release.apply(engine, args));
  await using locks = createLocks(engine);
  const indicator = new LocksHealthIndicator(locks, () => []);
  const message = 'the engine did not answer within 50 ms';
  try {
    for (const probe of ['the first', 'the next']) {
      const { locks: detail } = await indicator.isHealthy('locks', { timeout: 50 });
      expect(detail, `${probe} is up, though the engine is silent`).toMatchObject({ status: 'down', message });
      expect(detail!.responseTime, `${probe} waits for the engine`).toBeLessThan(2_000);
    }
  } finally {
    answer.resolve();
  }
  expect(await indicator.isHealthy()).toMatchObject({ locks: { status: 'up' } });
  for await (const left of locks.inspect('holdfast:health')) expect.fail(`${left.label} still has the key`);
});

describe('health asks for nothing that the engine or the defaults forbid', () => {
  test.each<[string, LocksDefaults]>([
    ['a notice that is longer than a short lease', { notice: '4s' }],
    ['leases that learn, and short ones', { ttl: 100, adaptive: { cap: 200 } }],
    ['leases that are always renewed', { renew: true, ttl: '1h' }],
    ['a hold that stays taken after it', { minHold: '10s', delay: '10s' }],
  ])('with %s', async (_title, defaults) => {
    await using locks = createLocks(memory(), defaults);
    const indicator = new LocksHealthIndicator(locks, () => []);
    for (let i = 0; i < 2; i++) expect(await indicator.isHealthy()).toMatchObject({ locks: { status: 'up' } });
    for await (const left of locks.inspect('holdfast:health')) expect.fail(`${left.label} still has the key`);
  });
});

describeOn('zookeeper', 'health on ZooKeeper', () => {
  test('is up with the bounds that its sessions have', async () => {
    await using server = await startZookeeper();
    await using locks = await connect(server.url);
    const indicator = new LocksHealthIndicator(locks, () => []);
    expect(await indicator.isHealthy('locks', { timeout: '20s' })).toMatchObject({ locks: { status: 'up' } });
  });
});

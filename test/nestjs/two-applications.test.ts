import 'reflect-metadata';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestMiddleware,
  type Provider,
  Scope,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { ContextIdFactory, ModuleRef, NestFactory } from '@nestjs/core';
import { afterEach, describe, expect, test } from 'vitest';
import { memory } from '../../src/backends/memory.ts';
import { Locked } from '../../src/decorator/index.ts';
import { createLocks } from '../../src/index.ts';
import { Leading, Locks, LocksModule } from '../../src/nestjs/index.ts';
import { type Started, started } from './application.ts';

interface Grabs {
  grab(): Promise<string>;
}

/** The class under the decorators of a Nest project: with legacy ones, which are called with the prototype. */
const legacy = () => {
  class Orders implements Grabs {
    async grab(): Promise<string> {
      return 'in';
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'grab')!;
  (Locked('key', { onBusy: () => 'busy' }) as MethodDecorator)(Orders.prototype, 'grab', descriptor);
  Object.defineProperty(Orders.prototype, 'grab', descriptor);
  return Orders;
};
const standard = () =>
  class Orders implements Grabs {
    @Locked('key', { onBusy: () => 'busy' })
    async grab(): Promise<string> {
      return 'in';
    }
  };

interface Kind {
  readonly providers: (orders: Type<Grabs>) => Provider[];
  readonly controllers?: (orders: Type<Grabs>) => Type[];
  readonly object: (running: Started, orders: Type<Grabs>) => Promise<Grabs> | Grabs;
}
const scoped = (scope: Scope) => (orders: Type<Grabs>) => {
  Injectable({ scope })(orders);
  return [orders];
};
const resolved = ({ app }: Started, token: unknown): Promise<Grabs> =>
  app.resolve(token as Type<Grabs>, ContextIdFactory.create());

const kinds: Record<string, Kind> = {
  'made once': { providers: scoped(Scope.DEFAULT), object: ({ app }, orders) => app.get(orders) },
  'made for each request': { providers: scoped(Scope.REQUEST), object: resolved },
  'made for each user': { providers: scoped(Scope.TRANSIENT), object: resolved },
  'made for one that exists once': {
    providers: (orders) => {
      scoped(Scope.TRANSIENT)(orders);
      return [orders, { provide: 'user', inject: [orders], useFactory: (own: Grabs) => ({ own }) }];
    },
    object: ({ app }) => app.get('user').own,
  },
  'made by a factory': {
    providers: (orders) => [{ provide: 'made', useFactory: () => new orders() }],
    object: ({ app }) => app.get('made'),
  },
  'made by a factory for each request': {
    providers: (orders) => [{ provide: 'made', scope: Scope.REQUEST, useFactory: async () => new orders() }],
    object: (running) => resolved(running, 'made'),
  },
  'needing what is made for each request, and properties': {
    providers: (orders) => {
      class PerRequest {}
      Injectable({ scope: Scope.REQUEST })(PerRequest);
      Reflect.defineMetadata('design:paramtypes', [PerRequest], orders);
      Inject(ModuleRef)(orders.prototype, 'ref');
      return [PerRequest, orders];
    },
    object: async (running, orders) => {
      const made = await resolved(running, orders);
      expect((made as unknown as { ref: unknown }).ref instanceof ModuleRef, 'its own property').toBe(true);
      return made;
    },
  },
  'a guard of a route': {
    providers: () => [],
    controllers: (orders) => {
      class Routes {}
      Injectable()(orders);
      UseGuards(orders)(Routes);
      Controller()(Routes);
      return [Routes];
    },
    object: ({ app }, orders) => app.get(orders, { strict: false }),
  },
};

const running: Started[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each[Symbol.asyncDispose]();
});
async function application(kind: Kind, orders: Type<Grabs>, isGlobal = true): Promise<Started> {
  const app = await started({
    imports: [LocksModule.forRoot({ url: 'memory:', isGlobal })],
    providers: kind.providers(orders),
    controllers: kind.controllers?.(orders) ?? [],
  });
  running.push(app);
  return app;
}

describe.each([
  ['legacy', legacy],
  ['standard', standard],
])('with %s decorators, of two applications in one process an object locks in its own', (_flavour, make) => {
  test.each(Object.entries(kinds))('%s', async (_title, kind) => {
    const orders = make();
    const first = await application(kind, orders);
    const second = await application(kind, orders);
    const grabbed = async (of: Started): Promise<string> => (await kind.object(of, orders)).grab();
    for (const [one, other] of [
      [first, second],
      [second, first],
    ] as const) {
      await using _ = await one.app.get(Locks).mutex('key').acquire();
      expect([await grabbed(one), await grabbed(other)], 'one application holds the key').toEqual(['busy', 'in']);
    }
    const left = await kind.object(first, orders);
    await first[Symbol.asyncDispose]();
    expect(await grabbed(second), 'after the first application has ended').toBe('in');
    await expect(left.grab(), 'an object of the application that has ended').rejects.toMatchObject({
      code: 'LOCK_CLOSED',
    });
  });

  test('also where only some modules see the locks', async () => {
    const orders = make();
    const kind = kinds['made for each request']!;
    class Elsewhere {}
    Module({ providers: kind.providers(orders), exports: [orders] })(Elsewhere);
    const own = createLocks(memory());
    const app = await started({ imports: [LocksModule.forRoot({ locks: own, isGlobal: false }), Elsewhere] });
    running.push(app);
    await using _ = await own.mutex('key').acquire();
    expect(await (await kind.object(app, orders)).grab()).toBe('busy');
  });
});

test('a middleware locks in its own application', async () => {
  class Guarding implements NestMiddleware {
    @Locked('key', { onBusy: () => 'busy' })
    async grab(): Promise<string> {
      return 'in';
    }
    async use(_request: unknown, response: { end(said: string): void }): Promise<void> {
      response.end(await this.grab());
    }
  }
  class Routes {
    get(): void {}
  }
  Get()(Routes.prototype, 'get', Object.getOwnPropertyDescriptor(Routes.prototype, 'get')!);
  Controller()(Routes);
  class Root {
    configure(consumer: MiddlewareConsumer): void {
      consumer.apply(Guarding).forRoutes(Routes);
    }
  }
  Module({ imports: [LocksModule.forRoot({ url: 'memory:' })], controllers: [Routes] })(Root);
  const apps = await Promise.all([1, 2].map(() => NestFactory.create(Root, { logger: false, abortOnError: false })));
  try {
    for (const app of apps) await app.listen(0, '127.0.0.1');
    await using _ = await apps[0]!.get(Locks).mutex('key').acquire();
    const said = await Promise.all(apps.map(async (app) => (await fetch(await app.getUrl())).text()));
    expect(said).toEqual(['busy', 'in']);
  } finally {
    for (const app of apps) await app.close();
  }
});

describe('what is in no application, or in two, is told so at the call, and never locks in the last one', () => {
  test('an object that Nest did not make', async () => {
    const orders = legacy();
    await application({ providers: () => [], object: () => new orders() }, orders);
    await expect(new orders().grab()).rejects.toThrow(
      /grab has no Locks: .* In Nest, make the object a provider and .*await app.init.*, or call useLocks\(app.get\(Locks\)\)/,
    );
  });

  test('one object that was given to two applications', async () => {
    const orders = legacy();
    const shared = new orders();
    const kind: Kind = {
      providers: () => [{ provide: orders, useValue: shared }],
      object: ({ app }) => app.get(orders),
    };
    const first = await application(kind, orders);
    await application(kind, orders);
    await expect(shared.grab()).rejects.toThrow(/grab belongs to an object that 2 applications share/);
    await first[Symbol.asyncDispose]();
    expect(await shared.grab()).toBe('in');
  });

  test('a leader that was given to two applications', async () => {
    class Feed {
      @Leading('feed')
      async follow(): Promise<void> {}
    }
    const shared = new Feed();
    const root = () => ({
      imports: [LocksModule.forRoot({ url: 'memory:' })],
      providers: [{ provide: Feed, useValue: shared }],
    });
    running.push(await started(root()));
    const second = started(root()).then(
      () => 'started',
      ({ message }) => message,
    );
    expect(await second).toMatch(/Feed.follow belongs to an object that 2 applications share/);
  });
});

import 'reflect-metadata';
import { setTimeout as pass } from 'node:timers/promises';
import { Controller, Global, Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { currentLease, Locked } from '../../../src/decorator/index.ts';
import type { Term, TickRun } from '../../../src/index.ts';
import { Leading, Locks, LocksHealthIndicator, LocksModule } from '../../../src/nestjs/index.ts';
import { OnceCron } from '../../../src/nestjs/schedule/index.ts';
import { serve, tell } from '../../kit/worker.ts';

/** As Nest's own compiler makes it: with legacy decorators, and the types of constructors' parameters. */
@Injectable()
class Connection implements OnModuleDestroy {
  onModuleDestroy(): void {
    tell('note', 'connection closed');
  }
}

@Global()
@Module({ providers: [Connection], exports: [Connection] })
class ConnectionModule {}

@Injectable()
class Jobs {
  readonly connection: Connection;
  readonly locks: Locks;

  constructor(connection: Connection, locks: Locks) {
    this.connection = connection;
    this.locks = locks;
  }

  @OnceCron('*/2 * * * * *', 'report')
  async report(run: TickRun): Promise<void> {
    tell('ran', run.tick.getTime());
  }

  @Leading('feed', { ttl: '20s', pause: { pause: 5 } })
  async feed(term: Term): Promise<void> {
    tell('leads', term.token);
    await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
    await pass(50);
    tell('note', 'settled');
  }

  @Locked('order:{0}', { wait: '5s' })
  async grab(_order: number): Promise<boolean> {
    return currentLease().held;
  }
}

@Controller()
class Orders {
  readonly jobs: Jobs;
  readonly health: LocksHealthIndicator;

  constructor(jobs: Jobs, health: LocksHealthIndicator) {
    this.jobs = jobs;
    this.health = health;
  }
}

@Module({
  imports: [
    ConnectionModule,
    ScheduleModule.forRoot(),
    LocksModule.forRootAsync({
      inject: [Connection],
      useFactory: async (_: Connection) => ({ url: process.env.URL! }),
    }),
  ],
  providers: [Jobs],
  controllers: [Orders],
})
class App {}

const app = await NestFactory.create(App, { logger: ['error', 'warn'] });
await app.init();
const orders = app.get(Orders);

const calls = {
  grab: (order: number) => orders.jobs.grab(order),
  health: () => orders.health.isHealthy(),
  close: () => app.close(),
};
export type AppCalls = typeof calls;
serve(calls);

import { Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { connect } from '../../src/connect/index.ts';
import { useLocks } from '../../src/decorator/index.ts';
import type { Locks } from '../../src/index.ts';

export const LOCKS = Symbol('Locks');

/** Gives the application its locks: by injection, and to every `@Locked` method. */
@Global()
@Module({
  providers: [{ provide: LOCKS, useFactory: () => connect(process.env.LOCKS_URL ?? 'memory:') }],
  exports: [LOCKS],
})
export class LocksModule implements OnApplicationShutdown {
  readonly #locks: Locks;

  constructor(@Inject(LOCKS) locks: Locks) {
    this.#locks = locks;
    useLocks(locks);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#locks.close();
  }
}

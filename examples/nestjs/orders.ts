import { setTimeout as pass } from 'node:timers/promises';
import { ConflictException, Controller, Inject, Injectable, Param, Post, Query } from '@nestjs/common';
import { Locked } from '../../src/decorator/index.ts';

@Injectable()
export class Orders {
  readonly #drivers = new Map<string, string>();

  /** Looks and then writes, which is safe only because nobody else is in between. */
  @Locked('order:{orderId}', { wait: '2s' })
  async grab(orderId: string, driver: string): Promise<string> {
    if (this.#drivers.has(orderId)) throw new ConflictException(`order ${orderId} is taken`);
    await pass(5); // a slow database
    this.#drivers.set(orderId, driver);
    return driver;
  }
}

@Controller()
export class OrdersController {
  readonly #orders: Orders;

  constructor(@Inject(Orders) orders: Orders) {
    this.#orders = orders;
  }

  @Post('grab/:orderId')
  async grab(@Param('orderId') orderId: string, @Query('driver') driver: string): Promise<{ driver: string }> {
    return { driver: await this.#orders.grab(orderId, driver) };
  }

  /** On a route itself: the route stays, since what Nest noted on the method is kept. */
  @Locked('report', { onBusy: 'skip' })
  @Post('report')
  async report(): Promise<{ done: boolean } | undefined> {
    await pass(50);
    return { done: true };
  }
}

import { Test, type TestingModule } from '@nestjs/testing';
import { memory } from 'holdfast/memory';
import { LocksModule } from 'holdfast/nestjs';
import { manualClock } from 'holdfast/testing';
import { OrdersService } from './orders.service';

describe('OrdersService', () => {
  let app: TestingModule;

  beforeEach(async () => {
    app = await Test.createTestingModule({
      imports: [LocksModule.forRoot({ backend: memory() })],
      providers: [OrdersService],
    }).compile();
    await app.init();
  });
  afterEach(() => app.close());

  it('gives an order to one of those who want it', async () => {
    const orders = app.get(OrdersService);
    expect(await Promise.all([orders.grab(42), orders.grab(42)])).toEqual([true, false]);
    expect(await orders.isBusy(42)).toBe(false);
    expect(manualClock().now()).toBe(0);
  });
});

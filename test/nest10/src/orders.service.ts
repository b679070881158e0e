import { Injectable } from '@nestjs/common';
import { isLockError } from 'holdfast';
import { currentLease, Locked } from 'holdfast/decorator';
import { Locks } from 'holdfast/nestjs';

@Injectable()
export class OrdersService {
  private readonly taken = new Map<number, bigint>();

  constructor(private readonly locks: Locks) {}

  @Locked('order:{0}', { wait: '2s' })
  async grab(orderId: number): Promise<boolean> {
    if (this.taken.has(orderId)) return false;
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.taken.set(orderId, currentLease().token);
    return true;
  }

  /** Whether somebody is about to grab it. */
  async isBusy(orderId: number): Promise<boolean> {
    try {
      await this.locks.mutex(`order:${orderId}`).run(() => undefined, { wait: 0 });
      return false;
    } catch (error) {
      if (isLockError(error, 'LOCK_TIMEOUT')) return true;
      throw error;
    }
  }
}

/** A process as `holdfast torture` has it, whose locks never close. */

import { work } from '../../products/torture/process/work.ts';
import { connect } from '../../src/connect/index.ts';

work(async ({ url, label }) => {
  const locks = await connect(url, { label });
  const close = (): Promise<void> => new Promise(() => {});
  return {
    mutex: (key) => locks.mutex(key),
    rwLock: (key) => locks.rwLock(key),
    semaphore: (key, options) => locks.semaphore(key, options),
    close,
  };
});

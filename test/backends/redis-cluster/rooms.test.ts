import { test } from 'vitest';
import { describeOn } from '../../kit/suite.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { raisedOneByOne } from '../redis/raised.ts';
import { sharedCluster } from './site.ts';

describeOn('redis', 'redis-cluster and rooms of several sizes', () => {
  const site = sharedCluster();

  test.each(
    LIBRARIES,
  )('%s: raised permits count as soon as the last that named fewer is gone, however many hold', async (library) =>
    raisedOneByOne(await site.fleet.backend(library), library));
});

import { describeConformance, describeOn } from '../../kit/suite.ts';
import { LIBRARIES } from '../redis/fleet.ts';
import { subjectOf } from '../redis/subject.ts';
import { sharedCluster } from './site.ts';

describeOn('redis', 'redis-cluster', () => {
  const site = sharedCluster();
  for (const library of LIBRARIES)
    describeConformance(subjectOf(`redis-cluster over ${library}`, () => site.fleet, [library]));
});

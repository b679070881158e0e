import { describeConformance, describeOn } from '../../kit/suite.ts';
import { LIBRARIES } from './fleet.ts';
import { sharedFleet } from './shared-fleet.ts';
import { subjectOf } from './subject.ts';

describeOn('redis', 'redis', () => {
  const here = sharedFleet();

  for (const library of LIBRARIES) describeConformance(subjectOf(`redis over ${library}`, () => here.fleet, [library]));
  describeConformance(subjectOf('redis in a mixed fleet', () => here.fleet, LIBRARIES));
});

import { etcd } from '../../src/backends/etcd/index.ts';
import type { Contestants } from '../contestant.ts';
import { fleet, holdfast } from './holdfast.ts';

export default {
  holdfast: ({ url }) => holdfast(etcd({ endpoints: url })),
  fleet: (place) => fleet(place, () => etcd({ endpoints: place.url })),
} satisfies Contestants;

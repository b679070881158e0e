import { etcd } from '../../src/backends/etcd/index.ts';
import type { Contestants } from '../contestant.ts';
import { holdfast } from './holdfast.ts';

export default { holdfast: ({ url }) => holdfast(etcd({ endpoints: url })) } satisfies Contestants;

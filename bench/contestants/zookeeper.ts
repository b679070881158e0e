import { zookeeper } from '../../src/backends/zookeeper/index.ts';
import type { Contestants } from '../contestant.ts';
import { holdfast } from './holdfast.ts';

export default { holdfast: ({ url }) => holdfast(zookeeper({ servers: url })) } satisfies Contestants;

import { connect } from '../../src/connect/index.ts';
import type { Contestants } from '../contestant.ts';
import { ofLocks } from './holdfast.ts';

/** An engine by its address. */
export default { holdfast: async ({ url }) => ofLocks(await connect(url)) } satisfies Contestants;

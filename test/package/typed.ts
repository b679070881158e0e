/** A program in TypeScript that installed the package, and imports every subpath of it. `@ts-expect-error` says what must not compile. */
export const typed = (subpaths: readonly string[]): string => `
import { createLocks, type Backend, type Duration, type Lease, type Locks } from 'holdfast';
import { memory } from 'holdfast/memory';
${subpaths.map((name, i) => `import * as m${i} from '${name}';\nexport { m${i} };`).join('\n')}

const backend: Backend = memory();
const locks: Locks = createLocks(backend, { ttl: '10s' });
const wait: Duration = '5s';
// @ts-expect-error a duration has a unit
const soon: Duration = 'soon';
export const token: Promise<bigint> = locks.mutex('order').run((lease: Lease) => lease.token, { wait });
// @ts-expect-error readers have no token
export const none: Promise<bigint> = locks.rwLock('order').read.run((lease) => lease.token);
export { soon };
`;

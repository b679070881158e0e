import { createRequire } from 'node:module';

const require = createRequire(new URL('oldest/package.json', import.meta.url));

/** A client in its oldest version, with the parts that belong to it. */
export const fromOldest = async (name) => require(name);

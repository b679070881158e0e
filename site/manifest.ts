/** What `package.json` says of the package. Its addresses are there when it is published. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pages.ts';

export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly repository?: string | { readonly url: string };
};

const { repository: named } = manifest;
const address = typeof named === 'string' ? named : named?.url;

/** The page of the repository, if the manifest names it. */
export const repository: string | undefined = address?.replace(/^git\+/, '').replace(/\.git$/, '');

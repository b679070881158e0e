/** The reference: a page for each subpath, written before the site is built, and the names that other pages link to. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf, anchorOf, root } from '../pages.ts';
import { pageOf, placesOf, titleOf } from './markdown.ts';
import { GENERATED, pageFor, type Subpath, subpaths } from './subpaths.ts';

export interface Reference {
  /** As in the navigation. */
  readonly pages: readonly (readonly [page: string, title: string])[];
  /** From a name to the address where it is told. */
  readonly addresses: ReadonlyMap<string, string>;
}

function addressesOf(all: readonly Subpath[]): Map<string, string> {
  const addresses = new Map<string, string>();
  for (const subpath of all)
    for (const { name } of subpath.exports)
      if (!addresses.has(name)) addresses.set(name, `${addressOf(pageFor(subpath))}#${anchorOf(name)}`);
  return addresses;
}

export function writeReference(): Reference {
  const all = subpaths();
  const places = placesOf(all);
  rmSync(join(root, GENERATED), { recursive: true, force: true });
  mkdirSync(join(root, GENERATED), { recursive: true });
  for (const subpath of all) writeFileSync(join(root, pageFor(subpath)), pageOf(subpath, all, places));
  return { pages: all.map((subpath) => [pageFor(subpath), titleOf(subpath)]), addresses: addressesOf(all) };
}

// Where the sources are. The lock is in `src`, the products on it in `products`; the package has both side by side in `dist`.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
export const FOLDERS = ['src', 'products'];

/** Where `dist` has a file: `products/ui/index.ts` is `ui/index.ts`, and package.json is `../package.json`. */
export function placeInDist(file) {
  const path = relative(root, file).replaceAll('\\', '/');
  const folder = FOLDERS.find((each) => path.startsWith(`${each}/`));
  return folder ? path.slice(folder.length + 1) : `../${path}`;
}

/** The source of what the package has as `place`, as package.json may say it too (`./dist/…`), below a folder that is laid out like this repository. */
export function sourceOf(place, folder = root) {
  const files = FOLDERS.map((sources) => join(folder, sources, place.replace(/^\.\/dist\//, '')));
  const found = files.find((file) => existsSync(file));
  if (!found) throw new Error(`neither of these files exists: ${files.join(', ')}`);
  return found;
}

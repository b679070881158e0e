import { existsSync, readFileSync } from 'node:fs';

/** A file of the page. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  'page.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

/** The files of the page. The build has put them beside this file; in the sources they are made now. */
export async function assets(): Promise<ReadonlyMap<string, Asset>> {
  const folder = new URL('./page/', import.meta.url);
  const built = existsSync(new URL('page.js', folder));
  const made: Readonly<Record<string, Uint8Array>> = built ? {} : await bundle();
  return new Map(
    Object.entries(TYPES).map(([name, type]) => {
      const body = made[name] ?? readFileSync(new URL(name, folder));
      return [name, { type, body: Buffer.from(body) }];
    }),
  );
}

/** Only in the sources: the package has neither the script nor what the script needs. */
async function bundle(): Promise<Readonly<Record<string, Uint8Array>>> {
  const script = new URL('../../scripts/build-page.mjs', import.meta.url).href;
  const { bundle } = (await import(script)) as { bundle(): Promise<Record<string, Uint8Array>> };
  return bundle();
}

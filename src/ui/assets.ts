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

/** The files of the page. */
export async function assets(): Promise<ReadonlyMap<string, Asset>> {
  const { files } = await import('./files.ts'); // few processes show it
  const made = await files();
  return new Map(Object.entries(TYPES).map(([name, type]) => [name, { type, body: Buffer.from(made[name]!) }]));
}

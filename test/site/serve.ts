/** A site of static files, on loopback, as any web server gives it. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

export interface Served extends AsyncDisposable {
  readonly url: string;
}

export async function served(folder: string): Promise<Served> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!.replace(/[?#].*/, ''));
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain').end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

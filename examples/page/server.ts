import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type File, files } from './files.ts';
import { isWish, type Rounds } from './rounds.ts';

/** Nothing is loaded from elsewhere, and no other page may use this one. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** A wish is a line. */
const MOST_BYTES = 1_000;

/** The page and its rounds, on 127.0.0.1. @returns its URL */
export async function serve(rounds: Rounds, port: number): Promise<string> {
  const known = await files();
  const server = createServer((request, response) => {
    void answer(request, response, known, rounds).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening'); // rejects when the port is taken
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  known: ReadonlyMap<string, File>,
  rounds: Rounds,
): Promise<void> {
  const send = (status: number, type: string, body: string | Uint8Array): void => {
    response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` }).end(body);
  };
  const json = (status: number, value: unknown): void => send(status, 'application/json', JSON.stringify(value));

  // A page of another name that leads to this address must not start anything here.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? '')) return json(403, { error: 'wrong host' });
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const file = request.method === 'GET' ? known.get(pathname) : undefined;
  if (file) return send(200, file.type, file.body);
  if (request.method !== 'POST' || pathname !== '/rounds') return json(404, { error: 'there is nothing here' });
  if (request.headers['content-type'] !== 'application/json') return json(415, { error: 'send JSON' });
  const wish = parsed(await bodyOf(request));
  if (!isWish(wish)) return json(400, { error: 'no such scene, or no such strategy' });
  try {
    json(200, await rounds.play(wish));
  } catch (error) {
    json(500, { error: (error as Error).message });
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += chunk;
    if (body.length > MOST_BYTES) return '';
  }
  return body;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

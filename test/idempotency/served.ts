import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { settleWithin } from '../kit/wait.ts';

export interface Served extends AsyncDisposable {
  readonly url: string;
  /** Sends a request with the one key. */
  readonly post: (
    path: string,
  ) => Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }>;
}

/** Listens on a free port until it is disposed. */
export async function served(server: Server): Promise<Served> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answer = async (path: string) => {
    const response = await fetch(url + path, { method: 'POST', headers: { 'idempotency-key': 'k' } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    url,
    post: (path) => settleWithin(`the answer of ${path}`, answer(path), 5_000),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

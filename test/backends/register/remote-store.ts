import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import type { RegisterStore } from '../../../src/backends/register/index.ts';
import { HOST } from '../../kit/net.ts';

interface Answer {
  readonly status: number;
  readonly text?: string;
  readonly version?: string;
}

/** What was asked of one key. */
export interface Counts {
  reads: number;
  writes: number;
  conflicts: number;
}

/** A register over HTTP for several processes, as an object store is: `If-Match` and `If-None-Match: *`, 412 for a refusal. */
export class StoreServer implements AsyncDisposable {
  readonly #entries = new Map<string, { text: string; version: string }>();
  readonly #server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    await this.#way();
    const key = decodeURIComponent((request.url ?? '').slice(1));
    const { status, text, version } =
      request.method === 'GET' ? this.#read(key) : this.#write(key, body, request.headers);
    await this.#way();
    response.writeHead(status, version === undefined ? {} : { etag: version }).end(text);
  });
  readonly #counted: string;
  readonly #delay: number;
  #versions = 0;
  counts: Counts = { reads: 0, writes: 0, conflicts: 0 };

  /** @param counted what the names end with that are counted @param delay ms: a request takes up to so long on the way, and up to so long back */
  constructor(counted: string, delay = 4) {
    this.#counted = counted;
    this.#delay = delay;
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, HOST, resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #way(): Promise<void> {
    return pass(Math.random() * this.#delay);
  }

  #count(key: string, what: keyof Counts): void {
    if (key.endsWith(this.#counted)) this.counts[what]++;
  }

  #read(key: string): Answer {
    this.#count(key, 'reads');
    const there = this.#entries.get(key);
    return there ? { status: 200, ...there } : { status: 404 };
  }

  #write(key: string, text: string, headers: IncomingHttpHeaders): Answer {
    this.#count(key, 'writes');
    const there = this.#entries.get(key);
    const fits = headers['if-none-match'] === '*' ? !there : there && headers['if-match'] === there.version;
    if (!fits) {
      this.#count(key, 'conflicts');
      return { status: 412 };
    }
    const version = `"${++this.#versions}"`;
    this.#entries.set(key, { text, version });
    return { status: 200, version };
  }
}

/** The same, as a process sees it. */
export function remoteStore(port: number): RegisterStore {
  const ask = async (key: string, init: RequestInit) => {
    const answer = await fetch(`http://${HOST}:${port}/${encodeURIComponent(key)}`, init);
    return { status: answer.status, text: await answer.text(), version: answer.headers.get('etag')! };
  };
  return {
    name: 'remote',
    async read(key, signal) {
      const { status, ...entry } = await ask(key, { signal });
      return status === 404 ? undefined : entry;
    },
    async write(key, body, ifVersion, signal) {
      const headers = ifVersion === undefined ? { 'if-none-match': '*' } : { 'if-match': ifVersion };
      const { status, version } = await ask(key, { method: 'PUT', body, signal, headers });
      return status !== 412 && version;
    },
  };
}

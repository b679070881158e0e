import type { Subject } from '../../products/testing/index.ts';
import { HOST } from './net.ts';
import type { Need } from './programs.ts';

/** What the tests know of an engine: `engine` of `test/backends/<its name>/engine.ts`. */
export interface EngineRow {
  /** The servers that it is tried on, and what the programs beside it are built with. A suite that names none of them needs the first. */
  readonly needs: readonly Need[];
  /** Made of a register: what it shares with the others of its kind is tested there, and not by processes on each. */
  readonly register?: true;
  /** The ways to reach it from several processes, the first under its own name. None where no two processes can share it. */
  readonly sites?: Readonly<Record<string, SiteOfEngine>>;
  /** Defects of test/torture/broken.ts that are none here: nobody is woken anyway, or there are no readers or permits. */
  readonly unseen?: readonly string[];
  /** How exact its leases are, for the laws. */
  readonly timing?: Subject['timing'];
  /** Why the bench has no row of it. */
  readonly unmeasured?: string;
  /** Its calls that take options, by their names. What they make is never connected. */
  options(): Promise<Readonly<Record<string, OptionsCall>>>;
}

/** A call that takes options, and what it needs beside them. */
export interface OptionsCall {
  readonly call: (options: never) => unknown;
  /** Options without which it refuses all. */
  readonly needs?: object;
  /** Options that its error does not list. */
  readonly more?: readonly string[];
  /** Options that have options themselves. */
  readonly inner?: Readonly<Record<string, object>>;
  /** Ends the client that was made for it. */
  end?(): unknown;
}

/** An engine that runs. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  /** Those of its servers; none for a file. */
  readonly ports: readonly number[];
}

export interface SiteOfEngine {
  /** The package that `connect` loads. */
  readonly driver?: string;
  /** @param ttl ms after which a hold without a renewal expires, where the address says so. Default 2 s */
  start(ttl?: number): Promise<Site>;
  /** An address where nobody listens, with a password. None for a file. */
  readonly dead?: string;
  /** The server refuses a user that it does not know. */
  readonly refuses?: true;
}

export interface StartedSite extends AsyncDisposable {
  readonly url: string;
  readonly port?: number;
  readonly servers?: readonly { readonly port: number }[];
}

export const server =
  (start: () => Promise<StartedSite>, query: (ttl: number) => string = () => '') =>
  async (ttl = 2_000): Promise<Site> => {
    const started = await start();
    const ports = started.servers?.map(({ port }) => port) ?? (started.port === undefined ? [] : [started.port]);
    return { url: started.url + query(ttl), ports, [Symbol.asyncDispose]: async () => started[Symbol.asyncDispose]() };
  };

export const nobody = (scheme: string, rest: string): string => `${scheme}://nobody:canary@${HOST}:1${rest}`;

/** A Redis of its own, by the address of an engine whose locks other programs take, too. */
export const redisSite = (scheme: string): SiteOfEngine => ({
  driver: 'ioredis',
  start: server(async () => {
    const started = await (await import('./redis.ts')).startRedis();
    const url = started.url.replace('redis:', `${scheme}:`);
    return { url, port: started.port, [Symbol.asyncDispose]: async () => started[Symbol.asyncDispose]() };
  }),
  dead: nobody(scheme, ''),
  refuses: true,
});

import type { SecureClientSessionOptions } from 'node:http2';
import {
  type Clock,
  checkGiven,
  checkNames,
  checkPrefix,
  type Duration,
  invalid,
  milliseconds,
  namesOf,
  shown,
  systemClock,
} from '../../core/index.ts';
import { Client } from './wire/client.ts';
import { GrpcChannel } from './wire/grpc.ts';

/** Options of `etcd`, and of its guard. */
export interface EtcdOptions {
  /** Members of one cluster: `'127.0.0.1:2379'` or a list. `https://` in front, or `tls`, turns TLS on. */
  readonly endpoints: string | readonly string[];
  /** All keys begin with this and a slash. Default `holdfast`. */
  readonly prefix?: string;
  /** The user, where etcd has authentication; give `password` too. */
  readonly user?: string;
  /** The password of `user`. */
  readonly password?: string;
  /** Certificates for TLS. The server's certificate is always verified. */
  readonly tls?: EtcdTls;
  /** Limit of one call to etcd, and of connecting. Default 3 s. */
  readonly timeout?: Duration;
  /** Time and randomness. Default: the machine's. */
  readonly clock?: Clock;
}

/** Certificates and keys, as `node:tls` takes them. */
export type EtcdTls = Pick<SecureClientSessionOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'servername'>;

/** An opened engine: its client connects with the first call. `timeout` limits each call, ms. */
export type EtcdConnection = Readonly<ReturnType<typeof open>>;

const KNOWN = namesOf<EtcdOptions>({
  endpoints: true,
  prefix: true,
  user: true,
  password: true,
  tls: true,
  timeout: true,
  clock: true,
});
const KNOWN_TLS = namesOf<EtcdTls>({ ca: true, cert: true, key: true, passphrase: true, servername: true });
const TIMEOUT = { min: 10, max: 60_000 };

/** @throws LockError `LOCK_INVALID`, which never shows an address or a password. */
export function open(options: EtcdOptions) {
  checkGiven(options, KNOWN, 'options of etcd()');
  checkNames(options.tls, KNOWN_TLS, 'options of tls');
  const { endpoints, prefix = 'holdfast', user, password, tls, clock = systemClock } = options;
  const urls = urlsOf(endpoints, tls !== undefined);
  if (typeof user !== typeof password || !/^(string|undefined)$/.test(typeof user)) {
    throw invalid('user and password go together, as strings');
  }
  const credentials = user === undefined || password === undefined ? undefined : { user, password };
  const timeout = milliseconds(options.timeout ?? 3_000, 'timeout', TIMEOUT);
  const { ca, cert, key, passphrase, servername } = tls ?? {};
  const channel = new GrpcChannel(urls, { ca, cert, key, passphrase, servername }, timeout, clock);
  return { client: new Client(channel, credentials, timeout), prefix: checkPrefix(prefix), timeout, clock };
}

/** @param secure the connection is over TLS @throws LockError `LOCK_INVALID` */
export function urlsOf(endpoints: EtcdOptions['endpoints'], secure: boolean): URL[] {
  const urls = [endpoints].flat().map((endpoint) => parse(endpoint, secure));
  if (urls.length === 0) throw invalid('endpoints is an empty list; name at least one member of the cluster');
  return urls;
}

function parse(endpoint: unknown, secure: boolean): URL {
  if (typeof endpoint !== 'string') throw invalid(`an endpoint is ${shown(endpoint)}; give '10.0.0.1:2379'`);
  const given = /^[a-z]+:\/\//i.test(endpoint) ? endpoint : `${secure ? 'https' : 'http'}://${endpoint}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.username !== '' || /,/.test(url.host)) {
    throw invalid(
      "an endpoint must look like '10.0.0.1:2379' or 'https://etcd.example:2379'; several are a list, user and password are options",
    );
  }
  if (secure && url.protocol === 'http:')
    throw invalid('tls is given, but an endpoint begins with http://; write https://, or leave tls out');
  if (url.port === '' && !/:\d+\/?$/.test(given)) url.port = '2379';
  return url;
}

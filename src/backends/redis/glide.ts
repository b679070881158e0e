import { raw } from './node-redis.ts';
import { noReplicas, type Port } from './port.ts';

/** The part of `GlideClient` of `@valkey/valkey-glide` (2) that holdfast uses. */
export interface GlideLike {
  readonly isClosed?: boolean;
  customCommand(args: string[]): Promise<unknown>;
  invokeScript(script: never): Promise<unknown>;
  getSubscriptions(): Promise<unknown>;
  close(): void;
}

interface Message {
  readonly message: unknown;
}

/** The class of such clients. It makes a client from the settings that each client has kept. */
interface GlideClass {
  createClient(settings: object): Promise<GlideLike>;
}

/** The kind of subscription that names a channel exactly. */
const EXACT = 0;

/** The core of GLIDE writes its own words for the codes of the server. */
const CODES: Readonly<Record<string, string>> = {
  NoScriptError: 'NOSCRIPT',
  ReadOnly: 'READONLY',
  BusyLoadingError: 'LOADING',
  ClusterDown: 'CLUSTERDOWN',
  MasterDown: 'MASTERDOWN',
  NotBusy: 'NOTBUSY',
  ResponseError: 'ERR',
};
const SIGNALLED = /^An error was signalled by the server: - (\w+): ?/;

/**
 * GLIDE connects again by itself, also where it listens, and does not report that. Waiters that missed a message in that time find out by
 * asking.
 */
export function overGlide(client: GlideLike): Port {
  const send = (args: string[]): Promise<unknown> => client.customCommand(args).catch(rethrow);
  return {
    ...raw(undefined, (_, args) => send(args)),
    get ended() {
      return client.isClosed === true;
    },
    cluster: false,
    nodeOf: () => '',
    nodes: () => [{ command: (...args) => send(args) }],
    ownConnection: () => Promise.reject(noReplicas('Valkey GLIDE')),
    listen(channel, heard) {
      let over = false;
      let listener: GlideLike | undefined;
      const listening = async (): Promise<void> => {
        listener = await like(client, channel, ({ message }) => heard(String(message)));
        if (over) listener.close();
      };
      return {
        ready: listening(),
        hangUp: () => {
          over = true;
          listener?.close();
        },
      };
    },
  };
}

function like(client: GlideLike, channel: string, callback: (message: Message) => void): Promise<GlideLike> {
  const { config } = client as unknown as { readonly config: object };
  const pubsubSubscriptions = { channelsAndPatterns: { [EXACT]: new Set([channel]) }, callback };
  // The application may read its replies as bytes, so messages may be bytes, too. Its own subscriptions are left out.
  return (client.constructor as unknown as GlideClass).createClient({ ...config, pubsubSubscriptions });
}

function rethrow(error: Error): never {
  const message = error.message.replace(SIGNALLED, (_, code: string) => `${CODES[code] ?? code} `);
  if (message === error.message) throw error;
  throw Object.assign(new Error(message, { cause: error }), { name: error.name });
}

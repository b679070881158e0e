import { rawServer } from './node-redis.ts';
import { listenLater, noReplicas, type Port } from './port.ts';

/** The part of Bun's `RedisClient` that holdfast uses. `Bun.redis` is one, too. */
export interface BunRedisLike {
  onclose: ((error: Error) => void) | null;
  send(command: string, args: string[]): Promise<unknown>;
  getBuffer(key: string): Promise<unknown>;
  duplicate(): Promise<BunRedisLike>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>;
  close(): void;
}

/** Bun reports the end of a connection, but no new connection. So the restart of a server is not noticed. */
export function overBunRedis(client: BunRedisLike): Port {
  return {
    ...rawServer(undefined, ([name, ...args]) => client.send(name!, args)),
    ended: false,
    ownConnection: noReplicas('Bun.redis'),
    listen: (channel, onMessage, lost) =>
      listenLater(
        client.duplicate(),
        (own) => {
          let over = false;
          const hangUp = (): void => {
            over = true;
            own.close();
          };
          own.onclose = () => {
            if (!over) lost();
            // Otherwise Bun would connect again by itself.
            hangUp();
          };
          return { ready: own.subscribe(channel, (message) => onMessage(message)).then(() => {}), hangUp };
        },
        (own) => own.close(),
      ),
  };
}

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

/** The class of the clients. It makes a client from the settings that each client keeps in `config`. */
interface GlideClass {
  createClient(settings: object): Promise<GlideLike>;
}

/** GLIDE's number for a subscription to exact channel names. */
const EXACT = 0;

/** GLIDE replaces some codes of the server by names of its own. */
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

/** GLIDE reconnects by itself, its listening connections too, and does not report that. Waiters that missed a message ask again after a while. */
export function overGlide(client: GlideLike): Port {
  const send = (args: string[]): Promise<unknown> => client.customCommand(args).catch(rethrow);
  return {
    ...rawServer(undefined, send),
    get ended() {
      return client.isClosed === true;
    },
    ownConnection: noReplicas('Valkey GLIDE'),
    listen(channel, onMessage) {
      const end = (own: GlideLike): void => own.close();
      const opening = like(client, channel, ({ message }) => onMessage(String(message)));
      return listenLater(opening, (own) => ({ ready: Promise.resolve(), hangUp: () => end(own) }), end);
    },
  };
}

function like(client: GlideLike, channel: string, callback: (message: Message) => void): Promise<GlideLike> {
  const { config } = client as unknown as { readonly config: object };
  const pubsubSubscriptions = { channelsAndPatterns: { [EXACT]: new Set([channel]) }, callback };
  // The configuration may ask for replies as bytes, so messages may be bytes, too. Our subscription replaces those of the application.
  return (client.constructor as unknown as GlideClass).createClient({ ...config, pubsubSubscriptions });
}

function rethrow(error: Error): never {
  const message = error.message.replace(SIGNALLED, (_, code: string) => `${CODES[code] ?? code} `);
  if (message === error.message) throw error;
  throw Object.assign(new Error(message, { cause: error }), { name: error.name });
}

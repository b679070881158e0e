import { LockError } from '../../core/contract/errors.ts';

/** A client library as this backend needs it. */
export interface Port {
  /**
   * One more connection like the client's, to the server that has a slot. It is never mended, and ends with the signal; `lost`
   * is called when it ends by itself.
   */
  ownConnection(slot: number, over: AbortSignal, lost: () => void): Promise<OwnConnection>;
  /** The client was ended by its owner: whatever is sent now is not sent at all. */
  readonly ended: boolean;
  /** What the client is told to put before every key it sends, but not before what it gets. */
  readonly keyPrefix: string;
  /** A Redis Cluster: the keys of one command must share a slot, and a server cannot tell that a message reached nobody. */
  readonly cluster: boolean;
  /** Names the server that has a slot now, as far as the client knows; constant where there is one. */
  nodeOf(slot: number): string;
  /** Runs a script the server knows; rejects with NOSCRIPT where it does not (restart, fail-over, SCRIPT FLUSH). */
  evalSha(sha1: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** Runs a script and makes it known to the server that ran it. */
  eval(text: string, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** A command whose keys stand before its other arguments; several keys share a slot. */
  command(name: string, keys: readonly string[], ...args: string[]): Promise<unknown>;
  /** Each primary. */
  nodes(): readonly Node[];
  /**
   * Of one server: calls back at each new connection, before anything is answered on it, until the function that is returned
   * is called.
   */
  connected?(again: () => void): () => void;
  /**
   * One more connection like the client's, subscribed to one channel. It is never mended: `lost` is called once when it
   * ends, and a new one is a new call.
   */
  listen(channel: string, heard: (message: string) => void, lost: () => void): Listening;
  /**
   * The same for a sharded channel, over a connection to the server that has its slot: only that server and its replicas pass on
   * what is told there. `lost` is called, too, when the slot moves. Undefined where the library cannot do it.
   */
  listenAt?(slot: number, channel: string, heard: (message: string) => void, lost: () => void): Listening;
}

/** A connection of its own to one server: commands keep their order on it, and after its end all fail. */
export type OwnConnection = Pick<Port, 'evalSha' | 'eval' | 'command'>;

/** One server, for what is asked of a server and not of a key. */
export interface Node {
  command(name: string, ...args: string[]): Promise<unknown>;
}

export interface Listening {
  readonly ready: Promise<void>;
  hangUp(): void;
}

/** Why a client whose connections mend themselves, or which has none to itself, cannot wait for replicas. */
export const noReplicas = (client: string): LockError =>
  new LockError(
    'LOCK_INVALID',
    `redis() waits for replicas on a connection that is never mended, which ${client} does not give; leave out replicas, or use ioredis or redis (node-redis)`,
    { backend: 'redis' },
  );

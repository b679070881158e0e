/** Where the engine is, and which of several processes this one is. */
export interface Place {
  readonly port: number;
  readonly path: string;
  readonly url: string;
  readonly seat: number;
  /** What its keys begin with: the processes of the last run were killed, and may have left theirs taken. */
  readonly run: string;
}

export type Release = () => unknown;

/** One way to have a key to oneself: ours, the floor's, a peer's. It ends with its process. */
export interface Contestant {
  /** The lock of a key. A call takes it and gives what releases it. */
  lock(key: string): () => Promise<Release>;
  /** What is done under the lock, instead of a rest. */
  section?(): Promise<unknown>;
  /** What it has sent so far, where no server counts it. */
  statements?(): number;
}

export type Contestants = Readonly<Record<string, (place: Place) => Contestant | Promise<Contestant>>>;

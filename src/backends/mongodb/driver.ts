/** What is used of a `Db` of the official driver (`mongodb`, 6 or later), by its structure: nothing of it is imported. */
export interface MongoDb {
  collection(name: string, options?: object): MongoCollection;
  command(command: object): Promise<Record<string, unknown>>;
}

/** What is used of a collection of the `mongodb` driver. */
export interface MongoCollection {
  findOneAndUpdate(filter: object, pipeline: object[], options: object): Promise<unknown>;
  aggregate(pipeline: object[], options?: object): AsyncIterable<unknown>;
  createIndex(keys: Record<string, 1>, options: object): Promise<unknown>;
  watch(pipeline: object[], options: object): MongoStream;
}

/** What is used of a change stream of the `mongodb` driver. */
export interface MongoStream {
  on(event: 'change', listener: (change: unknown) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'close' | 'resumeTokenChanged', listener: () => void): unknown;
  close(): Promise<void>;
}

/** The driver's 64-bit numbers: number, bigint or its own class, as the client was set up. */
export interface Long {
  toString(): string;
}

/** One key: who stands in its line, and the last ticket given. */
export interface LineDocument {
  readonly _id: string;
  readonly v: number;
  readonly line: readonly PlaceDocument[];
  /** Whether the last release found what it came for. */
  readonly freed?: boolean;
  /** The server's time at the last change. */
  readonly now: Date;
}

export interface PlaceDocument {
  readonly id: string;
  readonly ticket: Long;
  readonly take: number;
  readonly of: number;
  readonly label: string;
  readonly joined: Date;
  readonly lapses: Date;
}

/** What holdfast uses of a `Db` of the official driver (`mongodb`, 6 or later). It does not import the driver. */
export interface MongoDb {
  collection(name: string, options?: object): MongoCollection;
  command(command: object): Promise<Record<string, unknown>>;
}

/** What holdfast uses of a collection of the `mongodb` driver. */
export interface MongoCollection {
  findOneAndUpdate(filter: object, pipeline: object[], options: object): Promise<unknown>;
  aggregate(pipeline: object[], options?: object): AsyncIterable<unknown>;
  createIndex(keys: Record<string, 1>, options: object): Promise<unknown>;
  watch(pipeline: object[], options: object): MongoStream;
}

/** What holdfast uses of a change stream of the `mongodb` driver. */
export interface MongoStream {
  on(event: 'change', listener: (change: unknown) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'close' | 'resumeTokenChanged', listener: () => void): unknown;
  close(): Promise<void>;
}

/** A 64-bit number of the driver. By the client's settings it is a number, a bigint or a class of the driver. */
export interface Long {
  toString(): string;
}

/** The document of one key. */
export interface LineDocument {
  readonly _id: string;
  readonly v: number;
  readonly line: readonly PlaceDocument[];
  /** Whether the last release found its claim. */
  readonly freed?: boolean;
  /** The server's time at the last change. */
  readonly now: Date;
  readonly words?: WordsDocument | null;
  readonly attempts?: TriesDocument | null;
}

/** The words under a key. */
export interface WordsDocument {
  readonly text: string;
  readonly token: Long;
  /** Their age begins here. */
  readonly at: Date;
  readonly until: Date;
}

/** The holds that left no words. */
export interface TriesDocument {
  readonly count: number;
  /** The token of the last of them. */
  readonly begun: Long;
  readonly mark: string;
  readonly counts: Date;
}

export interface PlaceDocument {
  readonly id: string;
  readonly token: Long;
  readonly units: number;
  readonly capacity: number;
  readonly label: string;
  readonly joined: Date;
  readonly expires: Date;
}

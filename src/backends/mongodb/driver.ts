/** What holdfast uses of a `Db` of the official driver (`mongodb`, 6 or later). holdfast does not import the driver. */
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

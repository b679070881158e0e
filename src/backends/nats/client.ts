/** What holdfast uses of a bucket, as `Kvm` of `@nats-io/kv` opens it, or `js.views.kv()` of `nats`. It imports neither. */
export interface NatsKv {
  get(key: string): Promise<NatsEntry | null>;
  create(key: string, data: Uint8Array): Promise<number>;
  update(key: string, data: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
  watch(options: { key: string }): Promise<NatsHearing<NatsEntry>>;
  keys(): Promise<NatsHearing<string>>;
  status(): Promise<NatsStatus>;
  /** Whether any replica answers a read. */
  readonly direct?: boolean;
}

/** What holdfast uses of the settings of a bucket. */
export interface NatsStatus {
  readonly replicas: number;
  readonly storage: string;
  /** ms; 0 or less: for good. */
  readonly ttl: number;
  /** Bytes; −1: any. */
  readonly maxValueSize: number;
  readonly streamInfo: { readonly config: { readonly mirror?: unknown } };
}

/** What holdfast uses of a watch or a listing of a bucket. */
export interface NatsHearing<T> extends AsyncIterable<T> {
  stop(): void;
  /** The consumer on the server, where the client shows it. */
  readonly _data?: unknown;
}

/** What holdfast uses of an entry of a bucket. */
export interface NatsEntry {
  readonly value: Uint8Array;
  readonly revision: number;
  readonly operation: 'PUT' | 'DEL' | 'PURGE';
}

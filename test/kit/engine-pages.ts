/** Engines whose page has another name: they share one with an engine that works in the same way. */
const SHARED: Readonly<Record<string, string>> = {
  memory: 'file',
  nats: 'register',
  s3: 'register',
  dynamodb: 'register',
  quorum: 'redlock',
};

/** The name of the page of an engine, under `docs/backends`. */
export const pageOfEngine = (engine: string): string => SHARED[engine] ?? engine;

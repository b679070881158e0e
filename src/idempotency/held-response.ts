import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Answer, keptHeaders, MAX_BODY_BYTES } from './answer.ts';

type Callback = (error?: Error | null) => void;
type Given = readonly [chunk?: unknown, encoding?: unknown, done?: unknown];
type Headers = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];

const METHODS = ['write', 'end', 'writeHead', 'flushHeaders', 'destroy'] as const;

/** The functions of a response that do something, as they were before. */
type Functions = Record<(typeof METHODS)[number], (...given: unknown[]) => unknown>;

/**
 * Holds back what a handler says to a client of Node until it is kept. Other wrappers may lie over this one by then, so that the response
 * keeps its functions: after the release they pass on what they get.
 */
export class HeldResponse {
  readonly #response: ServerResponse;
  readonly #own: Functions;
  readonly #before: Readonly<Record<string, unknown>>;
  readonly #answer = Promise.withResolvers<Answer | undefined>();
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #state: 'open' | 'ended' | 'released' = 'open';
  #done: Callback | undefined;
  #instead: Answer | undefined;

  /** @param before headers that are not the handler's own */
  constructor(response: ServerResponse, before: Readonly<Record<string, unknown>> = response.getHeaders()) {
    this.#response = response;
    this.#before = { ...before };
    const functions = response as unknown as Functions;
    this.#own = Object.fromEntries(METHODS.map((name) => [name, functions[name].bind(response)])) as Functions;
    const held: Functions = {
      write: (...given) => this.#write(given as unknown as Given),
      end: (...given) => this.#end(given as unknown as Given),
      writeHead: (status, ...more) => this.#head(status as number, more),
      flushHeaders: () => {},
      destroy: (error) => this.#destroy(error),
    };
    for (const name of METHODS)
      functions[name] = (...given) => (this.#state === 'released' ? this.#own : held)[name](...given);
    for (const name of ['headersSent', 'writableEnded'] as const)
      Object.defineProperty(response, name, { configurable: true, get: () => this.#state === 'ended' });
  }

  /** What the handler answered; undefined if it ended the connection instead. */
  get answer(): Promise<Answer | undefined> {
    return this.#answer.promise;
  }

  /** When the framework ends the response, the client gets this answer. */
  replaceBy(answer: Answer): void {
    this.#instead = answer;
  }

  /** Sends what was held back; what comes later is sent as it comes. */
  release(): void {
    if (this.#state === 'released') return;
    const ended = this.#state === 'ended';
    this.#state = 'released';
    for (const name of ['headersSent', 'writableEnded']) Reflect.deleteProperty(this.#response, name);
    if (ended) this.#own.end(this.#size > 0 ? Buffer.concat(this.#chunks) : undefined, this.#done);
    else for (const chunk of this.#chunks) this.#own.write(chunk);
  }

  #write([chunk, encoding, done = encoding]: Given): boolean {
    if (this.#state === 'ended') return false;
    this.#add(chunk, encoding);
    if (typeof done === 'function') process.nextTick(done as Callback);
    if (this.#size > MAX_BODY_BYTES && !this.#instead) {
      this.release();
      // The key stays taken while the handler goes on.
      this.#response.once('close', () => this.#answer.resolve({ ...this.#said(), body: undefined }));
    }
    return true;
  }

  #end([chunk, encoding, done]: Given): ServerResponse {
    if (this.#state === 'ended') return this.#response; // the first answer counts
    this.#done = [chunk, encoding, done].find((given) => typeof given === 'function') as Callback | undefined;
    if (chunk !== this.#done) this.#add(chunk, encoding);
    if (this.#instead) this.#replace(this.#instead);
    this.#state = 'ended';
    const body = this.#size > MAX_BODY_BYTES ? undefined : Buffer.concat(this.#chunks);
    this.#answer.resolve({ ...this.#said(), body });
    if (this.#instead) this.release();
    return this.#response;
  }

  #add(chunk: unknown, encoding: unknown): void {
    if (chunk === undefined || chunk === null) return;
    const bytes =
      typeof chunk === 'string' ? Buffer.from(chunk, encoding as BufferEncoding) : Buffer.from(chunk as Buffer);
    this.#size += bytes.length;
    this.#chunks.push(bytes);
  }

  #replace({ body = Buffer.alloc(0), ...head }: Answer): void {
    this.#response.removeHeader('content-length');
    sayHead(this.#response, head);
    this.#chunks.splice(0, this.#chunks.length, body);
    this.#size = body.length;
  }

  #said(): Omit<Answer, 'body'> {
    const now = Object.entries(this.#response.getHeaders()).map(([name, value]) => [
      name,
      Array.isArray(value) ? value : `${value}`,
    ]);
    return { status: this.#response.statusCode, headers: keptHeaders(Object.fromEntries(now), this.#before) };
  }

  #head(status: number, more: readonly unknown[]): ServerResponse {
    if (this.#state === 'ended') return this.#response;
    this.#response.statusCode = status;
    if (typeof more[0] === 'string') this.#response.statusMessage = more[0];
    const headers = more.find((given) => typeof given === 'object' && given !== null) as Headers | undefined;
    for (const [name, value] of pairsOf(headers ?? {}))
      if (value !== undefined) this.#response.setHeader(name, value as string);
    return this.#response;
  }

  #destroy(error: unknown): ServerResponse {
    this.release();
    this.#answer.resolve(undefined);
    this.#own.destroy(error);
    return this.#response;
  }
}

/** `writeHead` takes an object, or a list of names and values in turn. */
const pairsOf = (headers: Headers): [string, unknown][] =>
  Array.isArray(headers)
    ? headers.flatMap((name, i): [string, unknown][] => (i % 2 === 0 ? [[String(name), headers[i + 1]]] : []))
    : Object.entries(headers);

/** Sets status and headers. */
export function sayHead(response: ServerResponse, { status, headers }: Omit<Answer, 'body'>): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

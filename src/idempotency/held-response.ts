import type { ServerResponse } from 'node:http';
import { type Answer, keptHeaders, MAX_BODY_BYTES } from './answer.ts';

export interface HeldResponse {
  /** What the handler answers; undefined if the handler ends the connection instead. */
  readonly answer: Promise<Answer | undefined>;
  /** Sends what was held back. From then on nothing is held back. */
  release(): void;
}

type Act = (...given: unknown[]) => unknown;

/**
 * Replaces functions of the response, to hold back what a handler writes. Other code may wrap the new functions before the release. So they
 * stay in place after it, and call the original ones.
 * @param before headers that were set before the handler ran
 * @param instead when the handler ends the response, the client gets this answer in place of what the handler wrote
 */
export function hold(response: ServerResponse, before: object = response.getHeaders(), instead?: Answer): HeldResponse {
  const earlier = { ...before };
  const { promise: answer, resolve } = Promise.withResolvers<Answer | undefined>();
  const chunks: Buffer[] = [];
  let size = 0;
  let state: 'open' | 'ended' | 'released' = 'open';
  let onEnd: unknown;
  response.setHeader(PROBE, '').removeHeader(PROBE);

  const settle = (body: Buffer | undefined): void => {
    const headers = keptHeaders(response.getHeaders(), earlier);
    resolve({ status: response.statusCode, headers, body });
  };
  const take = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return;
    const bytes = Buffer.from(chunk as string, encoding as BufferEncoding);
    size += bytes.length;
    if (!instead) chunks.push(bytes);
  };
  const held: Readonly<Record<string, Act>> = {
    write(chunk, encoding, done = encoding) {
      if (state === 'ended') return false;
      take(chunk, encoding);
      if (typeof done === 'function') process.nextTick(done);
      if (size <= MAX_BODY_BYTES || instead) return true;
      response.once('close', () => settle(undefined)); // the key stays taken until the response closes
      release();
      return true;
    },
    end(...given) {
      if (state === 'ended') return response; // the first answer counts
      take(given[0], given[1]);
      onEnd = given.find((each) => typeof each === 'function');
      state = 'ended';
      settle(size > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks));
      if (instead) release();
      return response;
    },
    writeHead: (...given) => (instead || state === 'ended' ? response : own.writeHead!(...given)),
    flushHeaders: () => {},
    destroy(error) {
      release();
      resolve(undefined);
      return own.destroy!(error);
    },
  };
  const functions = response as unknown as Record<string, Act>;
  const own: Record<string, Act> = {};
  for (const name of Object.keys(held)) {
    own[name] = functions[name]!.bind(response);
    functions[name] = (...given) => (state === 'released' ? own : held)[name]!(...given);
  }
  for (const name of ['headersSent', 'writableEnded'])
    Object.defineProperty(response, name, { configurable: true, get: () => state === 'ended' });

  function release(): void {
    if (state === 'released') return;
    const isEnded = state === 'ended';
    state = 'released';
    for (const name of ['headersSent', 'writableEnded']) Reflect.deleteProperty(response, name);
    if (instead) sendOn(response, instead);
    else if (isEnded) own.end!(size > 0 ? Buffer.concat(chunks) : undefined, onEnd);
    else for (const chunk of chunks) own.write!(chunk);
  }
  return { answer, release };
}

/** Node remembers the headers that `writeHead` gets only if a header was set before. So `hold` first sets this one. */
const PROBE = 'x-holdfast';

export function sendOn(response: ServerResponse, { status, headers, body }: Answer): void {
  response.removeHeader('content-length');
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body?.length) response.setHeader('content-length', body.length);
  response.end(body?.length ? body : undefined);
}

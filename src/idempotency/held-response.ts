import type { ServerResponse } from 'node:http';
import { type Answer, keptHeaders, MAX_BODY_BYTES } from './answer.ts';

/** A response of which the client gets nothing yet. */
export interface HeldResponse {
  /** What the handler answered; undefined if it ended the connection instead. */
  readonly answer: Promise<Answer | undefined>;
  /** Sends what was held back; what comes later is sent as it comes. */
  release(): void;
}

type Act = (...given: unknown[]) => unknown;

/**
 * Holds back what a handler says. Other wrappers may lie over these functions by the time of the release, so that they stay, and pass on
 * what they get.
 * @param before headers that are not the handler's own
 * @param instead goes to the client in the place of what the handler says, when that one ends the response
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
      response.once('close', () => settle(undefined)); // until then the key stays taken
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

/** After a header was set, Node remembers those that `writeHead` gets, too. */
const PROBE = 'x-holdfast';

/** Answers, and ends the response. */
export function sendOn(response: ServerResponse, { status, headers, body }: Answer): void {
  response.removeHeader('content-length');
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body?.length) response.setHeader('content-length', body.length);
  response.end(body?.length ? body : undefined);
}

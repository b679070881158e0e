import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
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
  let atEnd: [status: number, headers: OutgoingHttpHeaders] | undefined;
  let isClosed = response.destroyed;
  response.once('close', () => {
    isClosed = true;
    if (state === 'released') settle(undefined);
    else if (response.listenerCount('unpipe') > 0) resolve(undefined); // a pipe never ends a response that was closed
  });
  response.on('pipe', (source: Readable) => {
    const giveUp = (): void => void (source.readableEnded || resolve(undefined));
    if (isClosed) source.once('close', giveUp); // code that finds the response closed may end its source, and nothing else
  });

  const settle = (body: Buffer | undefined): void =>
    resolve({ status: response.statusCode, headers: keptHeaders(response.getHeaders(), earlier), body });
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
      release(); // the key stays taken until the response closes
      if (isClosed) settle(undefined);
      return true;
    },
    end(...given) {
      if (state === 'ended') return response; // the first answer counts
      const isCut = isClosed && size > 0; // the handler may have stopped in the middle, since the client left
      const [parts, partsSize] = [chunks.length, size];
      take(given[0], given[1]);
      if (Number(response.getHeader('content-length')) === size - partsSize) chunks.splice(0, parts); // the page of an error
      if ([204, 304].includes(response.statusCode)) chunks.length = 0; // Node sends no body
      onEnd = given.find((each) => typeof each === 'function');
      state = 'ended';
      atEnd = [response.statusCode, response.getHeaders()];
      settle(isCut || size > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks));
      if (instead) release();
      return response;
    },
    // The real one waits for the release: a framework may still answer an error instead, with other headers.
    writeHead(status, text, all = text) {
      if (instead || state === 'ended') return response;
      response.statusCode = status as number;
      if (typeof text === 'string' && !('stream' in response)) response.statusMessage = text; // HTTP/2 has none
      const list = Array.isArray(all) ? all : typeof all === 'string' ? [] : Object.entries(Object(all)).flat();
      const names = list.filter((_, i) => i % 2 === 0);
      for (const name of names) response.removeHeader(name);
      for (const [i, name] of names.entries()) response.appendHeader(name, list[2 * i + 1]);
      return response;
    },
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
    state = 'released';
    for (const name of ['headersSent', 'writableEnded']) Reflect.deleteProperty(response, name);
    if (instead) sendOn(response, instead);
    else if (atEnd) {
      const [status, headers] = atEnd; // a second answer is dropped, and so are its status and its headers
      for (const name of response.getHeaderNames()) if (!(name in headers)) response.removeHeader(name);
      for (const [name, value] of Object.entries(headers))
        if (response.getHeader(name) !== value) response.setHeader(name, value!);
      response.statusCode = status;
      own.end!(size > 0 ? Buffer.concat(chunks) : undefined, onEnd);
    } else for (const chunk of chunks) own.write!(chunk);
  }
  return { answer, release };
}

export function sendOn(response: ServerResponse, { status, headers, body }: Answer): void {
  response.removeHeader('content-length');
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body?.length) response.setHeader('content-length', body.length);
  response.end(body?.length ? body : undefined);
}

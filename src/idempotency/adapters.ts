import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { MemoRun } from '../memo/memo.ts';
import { type Answer, keptHeaders, MAX_BODY_BYTES } from './answer.ts';
import { type HeldResponse, hold } from './held-response.ts';
import type { Outcome, RequestHandling } from './requests.ts';

const runs = new WeakMap<object, MemoRun>();

/**
 * Gives the run of a handler: its fencing token, and its signal, which is aborted when another run could begin.
 * @param request the request of Express, Fastify or Nest, or the context of Hono
 * @returns undefined if the handler runs without protection
 * @example
 * const handler = (request: object) => report(runOf(request)?.token);
 */
export const runOf = (request: object): MemoRun | undefined => runs.get(request);

/** The common part of Express and Fastify requests. In a router that is mounted at a path, `url` lacks the path; `originalUrl` has it. */
interface NodeRequest {
  readonly method: string;
  readonly url: string;
  readonly originalUrl?: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
  readonly readableDidRead?: boolean;
}

/** How a framework goes on with a request: it runs the handler, sends an answer, or fails. */
export interface Steps {
  readonly go: () => void;
  readonly send: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
}

/** @param before headers that were set before the handler ran */
export function onNode<R>(
  requests: RequestHandling<R>,
  request: R,
  response: ServerResponse,
  before: object | undefined,
  { go, send, fail }: Steps,
): void {
  const { method, url, originalUrl = url, headers, body, readableDidRead } = request as NodeRequest;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  // The parsers of Express 4 leave `{}` for a body that is not theirs.
  const isUnread = hasBody && (body === undefined || (readableDidRead === false && JSON.stringify(body) === '{}'));
  const asked = { method, url: originalUrl, key: headers['idempotency-key'], isUnread, body: () => body };
  let held: HeldResponse | undefined;
  const handler = (run: MemoRun): HeldResponse['answer'] => {
    if (response.headersSent) return Promise.resolve(undefined); // its turn came after something else had answered it
    runs.set(request as object, run);
    held = hold(response, before);
    go();
    return held.answer;
  };
  const proceed = (outcome: Outcome): void => {
    if (outcome === 'pass') go();
    else if (outcome !== 'ran' && !response.headersSent) send(outcome); // else something else, such as a time limit, has answered it
  };
  requests(request, asked, handler)
    .then(proceed)
    .catch(fail)
    .finally(() => held?.release())
    .catch((error) => {
      // Node may refuse the status that the handler set, and says so only as the answer is sent. It would refuse it for an error page, too.
      Object.assign(response, { statusCode: 500, statusMessage: '' });
      fail(error);
    });
}

/** The used parts of a Hono context. The body may be read several times. */
interface HonoContext {
  readonly req: Pick<Request, 'method' | 'url' | 'arrayBuffer'> & { header(name: string): string | undefined };
  readonly res: Response;
  newResponse(body: Uint8Array<ArrayBuffer> | null, status?: number, headers?: object): Response;
}

export async function onHono<R>(
  requests: RequestHandling<R>,
  context: R,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const hono = context as unknown as HonoContext;
  const { method, url } = hono.req;
  const key = hono.req.header('idempotency-key');
  const body = async () => parsed(Buffer.from(await hono.req.arrayBuffer()));
  const asked = { method, url: url.replace(/^\w+:\/\/[^/]+/, ''), key, body };
  const outcome = await requests(context, asked, async (run) => {
    runs.set(hono, run);
    const before = Object.fromEntries(hono.newResponse(null).headers); // to read `res` would change the answer
    await next();
    return answerOf(hono.res, before);
  });
  if (outcome === 'pass') await next();
  if (typeof outcome !== 'object') return undefined;
  const { status, headers } = outcome;
  const bytes = outcome.body?.length ? new Uint8Array(outcome.body) : null;
  return hono.newResponse(bytes, status, headers);
}

/** Gives the value of a JSON body, so that two texts of one value are one request. Gives the bytes of any other body. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return body;
  }
}

async function answerOf(response: Response, before: object): Promise<Answer> {
  const answer = { status: response.status, headers: keptHeaders(Object.fromEntries(response.headers), before) };
  const reader = response.clone().body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    chunks.push(part.value);
    size += part.value.length;
    if (size <= MAX_BODY_BYTES) continue;
    void reader?.cancel().catch(() => {}); // `cancel` settles only when the client has read the other copy
    return { ...answer, body: undefined };
  }
  return { ...answer, body: Buffer.concat(chunks) };
}

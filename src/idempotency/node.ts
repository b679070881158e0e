import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { MemoRun } from '../memo/memo.ts';
import type { Answer } from './answer.ts';
import { HeldResponse } from './held-response.ts';
import type { KeyedRequest, Requests } from './requests.ts';

/** What Express and Fastify both have in a request. */
interface NodeRequest {
  readonly method: string;
  readonly url: string;
  /** In a router that is mounted at a path, `url` lacks that path. */
  readonly originalUrl?: string;
  readonly headers: IncomingHttpHeaders;
  readonly body?: unknown;
}

const runs = new WeakMap<object, MemoRun>();

/** @internal */
export const noteRun = (request: object, run: MemoRun): void => {
  runs.set(request, run);
};

/**
 * The run in which a handler works: its fencing token, and its signal, which is aborted when another run could begin.
 * @param request of Express, Fastify or Nest, or the context of Hono
 * @returns undefined where the handler runs without protection
 * @example
 * const handler = (request: object) => report(runOf(request)?.token);
 */
export const runOf = (request: object): MemoRun | undefined => runs.get(request);

function askedOf({ method, url, originalUrl = url, headers, body }: NodeRequest): KeyedRequest {
  const isThere = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const key = headers['idempotency-key'];
  return { method, url: originalUrl, key, body: () => body, isUnread: isThere && body === undefined };
}

/** How a framework goes on: one of the three is called. */
export interface Steps {
  /** Runs the handler. */
  go(): void;
  send(answer: Answer): void;
  fail(error: unknown): void;
}

/** @param before headers that are not the handler's own. Default: those that the response has */
export function onNode<R>(
  requests: Requests<R>,
  request: R,
  response: ServerResponse,
  { go, send, fail }: Steps,
  before?: Readonly<Record<string, unknown>>,
): void {
  let held: HeldResponse | undefined;
  const handle = (run: MemoRun): HeldResponse['answer'] => {
    noteRun(request as object, run);
    held = new HeldResponse(response, before);
    go();
    return held.answer;
  };
  requests.answer(request, askedOf(request as NodeRequest), handle).then(
    (outcome) => {
      if (outcome === 'pass') go();
      else if (outcome === 'ran') held!.release();
      else send(outcome);
    },
    (error) => (held ? held.release() : fail(error)),
  );
}

import { type Answer, keptHeaders, MAX_BODY_BYTES } from './answer.ts';
import { noteRun } from './node.ts';
import type { Requests } from './requests.ts';

/** What is used of a context of Hono. */
interface HonoContext {
  readonly req: {
    readonly method: string;
    readonly url: string;
    header(name: string): string | undefined;
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  readonly res: Response;
}

export async function onHono<R>(
  requests: Requests<R>,
  given: R,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const context = given as unknown as HonoContext;
  const { req } = context;
  const asked = {
    method: req.method,
    url: req.url.replace(/^\w+:\/\/[^/]+/, ''),
    key: req.header('idempotency-key'),
    body: async () => parsed(Buffer.from(await req.arrayBuffer())), // the handler gets it from the context again
  };
  const outcome = await requests.answer(given, asked, async (run) => {
    noteRun(context, run);
    await next();
    return answerOf(context.res);
  });
  if (outcome === 'pass') await next();
  if (typeof outcome !== 'object') return undefined;
  const { status, headers, body } = outcome;
  return new Response(body?.length ? new Uint8Array(body) : null, { status, headers: headers as Record<string, string> });
}

/** Two texts of one JSON value are one request. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return body;
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const { status } = response;
  const headers = keptHeaders(Object.fromEntries(response.headers));
  const reader = response.clone().body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    chunks.push(part.value);
    size += part.value.length;
    if (size <= MAX_BODY_BYTES) continue;
    void reader?.cancel().catch(() => {}); // it settles when the client has all
    return { status, headers, body: undefined };
  }
  return { status, headers, body: Buffer.concat(chunks) };
}

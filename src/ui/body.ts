import type { IncomingMessage } from 'node:http';

/** The longest request, in bytes. */
const LONGEST_BODY = 8_192;

/** The text of a request, also where a framework has read and parsed it before; undefined if it is too long. */
export async function bodyOf(request: IncomingMessage & { readonly body?: unknown }): Promise<string | undefined> {
  if (request.body !== undefined) {
    const text = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
    return text.length > LONGEST_BODY ? undefined : text;
  }
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > LONGEST_BODY) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

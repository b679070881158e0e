import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { KeyedSerializer } from '../../src/core/contract/promises.ts';
import { freePort, giveBack, HOST } from './net.ts';

export interface Front extends AsyncDisposable {
  readonly port: number;
}

/** What is answered to a request instead of the server. */
export type Refuse = (request: IncomingMessage) => { status: number; code: string } | undefined;

/**
 * In front of a server of HTTP on loopback, which it gets one request after another. Its end is the end of the server.
 * @param refuse gives the answer to requests that the server does not get, as S3 words it
 */
export async function startInTurn(server: Front, refuse: Refuse = () => undefined): Promise<Front> {
  const turns = new KeyedSerializer();
  const pass = async ({ method, url: path, headers }: IncomingMessage, body: Buffer) => {
    const sent = send({ host: HOST, port: server.port, method, path, headers }).end(body);
    const [got] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: got.statusCode!, headers: got.headers, body: await buffer(got) };
  };
  const front = createServer(async (request, response) => {
    try {
      const body = await buffer(request);
      const refused = refuse(request);
      if (refused) {
        response.writeHead(refused.status, { 'content-type': 'application/xml' });
        return void response.end(`<Error><Code>${refused.code}</Code><Message>refused</Message></Error>`);
      }
      const { status, headers, body: text } = await turns.take('server', () => pass(request, body));
      response.writeHead(status, headers).end(text);
    } catch {
      response.destroy();
    }
  });
  const port = await freePort();
  await once(front.listen(port, HOST), 'listening');
  return {
    port,
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      await new Promise((resolve) => front.close(resolve));
      giveBack(port);
      await server[Symbol.asyncDispose]();
    },
  };
}

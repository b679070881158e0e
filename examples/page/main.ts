/** The two scenarios live in a browser: `node examples/page/main.ts`, then open the address that it prints. */
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import fastify from 'fastify';
import { CHOICES, Runs } from './runs.ts';

const app = fastify({ forceCloseConnections: true });
const runs = new Runs();
const watchers = new Set<ServerResponse>();
let running = false;

const uplot = createRequire(import.meta.url)
  .resolve('uplot')
  .replace(/[^/]+$/, '');
const FILES: Readonly<Record<string, readonly [type: string, file: string | URL]>> = {
  '/': ['text/html', new URL('./public/index.html', import.meta.url)],
  '/page.css': ['text/css', new URL('./public/page.css', import.meta.url)],
  '/page.js': ['text/javascript', new URL('./public/page.js', import.meta.url)],
  '/uplot.js': ['text/javascript', `${uplot}uPlot.esm.js`],
  '/uplot.css': ['text/css', `${uplot}uPlot.min.css`],
};
for (const [path, [type, file]] of Object.entries(FILES)) {
  app.get(path, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(await readFile(file, 'utf8')));
}

app.get('/choices', async () => CHOICES);

app.get('/events', (request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  reply.raw.write(': here\n\n');
  watchers.add(reply.raw);
  request.raw.once('close', () => watchers.delete(reply.raw));
});

function tell(event: string, value: unknown): void {
  for (const watcher of watchers) watcher.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
}

interface Wish {
  readonly choice: string;
  readonly things: number;
  readonly people: number;
}

app.post<{ Body: Wish }>('/runs', async ({ body }, reply) => {
  const { choice, things, people } = body ?? {};
  const fits = (n: unknown): boolean => Number.isInteger(n) && Number(n) >= 1 && Number(n) <= 5_000;
  if (!CHOICES.some(({ id }) => id === choice) || !fits(things) || !fits(people)) return reply.code(400).send();
  if (running) return reply.code(409).send();
  running = true;
  void runs
    .run(choice, [things, people], (moment) => tell('moment', moment))
    .then(
      (ending) => tell('end', ending),
      (error: Error) => tell('end', { right: false, words: `the run failed: ${error.message}` }),
    )
    .finally(() => {
      running = false;
    });
  return reply.code(202).send();
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    for (const watcher of watchers) watcher.end();
    await app.close();
    await runs[Symbol.asyncDispose]();
    process.exit(0);
  });
}
console.log(`listening on ${await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })}`);

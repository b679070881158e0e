/** The rushes in a browser, twice side by side: `node examples/page/main.ts`, then open the address that it prints. */
import { parseArgs } from 'node:util';
import { Rounds } from './rounds.ts';
import { serve } from './server.ts';

const USAGE = `The same rush twice, without and with a lock, as pictures in a browser. Real processes, replayed in slow motion.

  --url <url>    where the locks are, such as redis://127.0.0.1 or postgres://…; default: a file of its own
  --port <n>     on 127.0.0.1; default: PORT of the environment, or 3000. 0: any that is free
`;

const { values } = parseArgs({
  options: { url: { type: 'string' }, port: { type: 'string' }, help: { type: 'boolean' } },
});

async function main(): Promise<void> {
  const rounds = new Rounds(values.url);
  await rounds.check();
  const url = await serve(rounds, portOf(values.port ?? process.env.PORT ?? '3000'));
  console.log(`listening on ${url}`);
  // The kit that starts processes also ends them, whichever way this one ends.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0));
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new Error(`--port is ${JSON.stringify(text)}; it must be a whole number from 0 to 65535`);
}

if (values.help) console.log(USAGE);
else
  await main().catch((error: Error) => {
    console.error(`page: ${error.message}`);
    process.exit(1);
  });

/** `holdfast torture` over a network that parts: `npm run prove -- torture:hosts --help`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Event, NETWORK_FAULTS, PROCESS_FAULTS } from '../../products/torture/events.ts';
import { torture } from '../../products/torture/torture.ts';
import type { Verdict } from '../../products/torture/verdict.ts';
import { flagsOf } from '../kit/flags.ts';
import { whyNot } from '../kit/selection.ts';
import { Server } from '../kit/server.ts';
import { secondOpinion } from '../porcupine/judges.ts';
import { faultyNetwork } from './faults.ts';
import { HostNetwork, whyNoHosts } from './network.ts';
import { HOSTED_SITES, type HostedSite } from './sites.ts';

const USAGE = `npm run prove -- torture:hosts [topology…] [flags]: torture where each server and each process has a host of its own
  --for 60       seconds of each topology
  --seed 1       the same faults again
  --processes 4
  --json         a line of JSON for each
  --help         this
Topologies: ${Object.keys(HOSTED_SITES).join(', ')}.
A host is a network namespace, joined to the others by a virtual cable; the network leads nowhere else, and goes with the run. Only root on
Linux may make one. Packets are dropped without a word: between two or three groups of hosts, one way, at random, all of a host, or of the
connections that are open, as by a NAT that forgets them. Where a server follows another one, the address of the service moves to it.`;

const OTHERS = NETWORK_FAULTS.filter((kind) => kind !== 'address moved');
const MOVES = Array.from({ length: 6 }, () => 'address moved' as const);

const { values, positionals } = flagsOf(USAGE, {
  options: {
    for: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: '4' },
    json: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !Object.hasOwn(HOSTED_SITES, name));
if (unknown.length > 0) throw new Error(`no such topology: ${unknown.join(', ')}\n${USAGE}`);
const chosen = positionals.length > 0 ? positionals : Object.keys(HOSTED_SITES);
const processes = Number(values.processes);

const most = Math.max(...chosen.map((name) => HOSTED_SITES[name]!.count));
const names = [
  'referee',
  ...Array.from({ length: most }, (_, i) => `server${i + 1}`),
  ...Array.from({ length: processes }, (_, i) => `worker${i + 1}`),
];
/** Set where this program runs on a host, by the process that made the network. */
const maker = Number(process.env.HOLDFAST_HOSTS ?? 0);

if (maker > 0) await judgeAll(HostNetwork.of(maker, names));
else await onNetwork();

/** Makes the network, and runs this program once more on the host of the referee. */
async function onNetwork(): Promise<void> {
  const obstacle = whyNoHosts();
  if (obstacle !== undefined) {
    console.log(`Not run, since hosts of their own take root on Linux: ${obstacle}`);
    process.exitCode = 2;
    return;
  }
  const network = HostNetwork.create(names);
  const [command, ...host] = network.hosts[0]!.command;
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const referee = spawn(command!, [...host, ...program], {
    stdio: 'inherit',
    env: { ...process.env, HOLDFAST_HOSTS: `${process.pid}` },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => referee.kill(signal));
  const [code] = (await once(referee, 'exit')) as [number | null];
  network.remove();
  process.exitCode = code ?? 1;
}

async function judgeAll(network: HostNetwork): Promise<void> {
  for (const name of chosen) {
    const site = HOSTED_SITES[name]!;
    const absent = whyNot(site.engine, [site.engine]);
    if (absent) {
      console.log(
        values.json ? JSON.stringify({ topology: name, notRun: absent }) : `${name.padEnd(22)} not run: ${absent}`,
      );
      continue;
    }
    const events: Event[] = [];
    const verdict = await run(site, network, events);
    const { opinion, agrees } = secondOpinion(events, verdict);
    const asPromised =
      verdict.outcome === 'broken' && Object.keys(verdict.broken).every((promise) => site.mayBreak?.includes(promise));
    if (values.json) {
      const { violations: _, ...rest } = verdict;
      const outcome = asPromised ? 'broken, as the page says it may' : verdict.outcome;
      console.log(JSON.stringify({ topology: name, porcupine: opinion, ...rest, outcome }));
    } else console.log(`${name.padEnd(22)} ${sentence(verdict)}  Porcupine: ${opinion}`);
    if (verdict.outcome === 'kept' && agrees) continue;
    if (asPromised && agrees) console.log('    A fail-over may forget grants there, as the page of promises says:');
    else process.exitCode = 1;
    for (const { message } of verdict.violations.slice(0, 5)) console.log(`    ${message}`);
    for (const what of [...verdict.missing, ...verdict.notes]) console.log(`    ${what}`);
  }
}

async function run(site: HostedSite, network: HostNetwork, events: Event[]): Promise<Verdict> {
  const hosts = network.named('server').slice(0, site.count);
  const topology = site.open(hosts, network.hosts);
  const running: Server[] = [];
  await using started = new AsyncDisposableStack();
  if (topology.service) started.use(topology.service);
  for (const plans of topology.plans) {
    const some = await Promise.all(plans.map((plan) => Server.start(plan, { ready: false })));
    for (const server of some) started.use(server);
    await Promise.all(some.map((server) => server.ready()));
    running.push(...some);
  }
  await topology.join?.(running);
  return await torture({
    ...{ url: topology.url, duration: Number(values.for) * 1_000, seed: Number(values.seed), processes },
    faults: [...PROCESS_FAULTS, ...OTHERS, ...(topology.failOver ? MOVES : OTHERS)],
    network: faultyNetwork(hosts, network.named('worker'), topology),
    onEvent: (event) => events.push(event),
  });
}

function sentence({ outcome, ended, ran, totals, faults }: Verdict): string {
  const hits = Object.entries(faults).map(([kind, { effective }]) => `${kind} ${effective}`);
  return `${outcome.padEnd(8)} ${ended} ${(ran / 1_000).toFixed(0)} s, ${totals.holds} holds, longest wait ${(totals.longestWait / 1_000).toFixed(1)} s; ${hits.join(', ')}`;
}

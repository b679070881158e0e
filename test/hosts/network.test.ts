import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NETWORK_FAULTS } from '../../products/torture/events.ts';
import { dropPackets, type Host, HostNetwork, whyNoHosts } from './network.ts';

const PORT = 7_000;
const obstacle = whyNoHosts();
const title = 'hosts of their own';

/** A server on a host that answers each connection with a word. */
async function serve(host: Host): Promise<void> {
  const program = `require('net').createServer((s) => s.end('hello')).listen(${PORT}, '${host.address}', () => console.log('up'))`;
  const [command, ...args] = host.command;
  const child = spawn(command!, [...args, process.execPath, '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
}

/** What a process on `host` hears from the server there, or within a second: nothing. */
function hears(host: Host, server: Host): string {
  const program = `const s = require('net').connect(${PORT}, '${server.address}'); s.setTimeout(1000, () => s.destroy()); s.on('error', () => {}); s.pipe(process.stdout)`;
  const [command, ...args] = host.command;
  return execFileSync(command!, [...args, process.execPath, '-e', program], { encoding: 'utf8' });
}

describe.skipIf(obstacle !== undefined)(obstacle === undefined ? title : `${title} [${obstacle}]`, () => {
  test('reach each other, and not while a fault is between them; a fault tells whether it dropped a packet', async () => {
    const network = HostNetwork.create(['a', 'b', 'c']);
    onTestFinished(() => network.remove());
    const [a, b, c] = network.hosts as [Host, Host, Host];
    await serve(a);
    expect([hears(b, a), hears(c, a)]).toEqual(['hello', 'hello']);

    const end = dropPackets([{ host: a, packets: ['-s', b.address] }]);
    expect([hears(b, a), hears(c, a)], 'what comes from b is dropped').toEqual(['', 'hello']);
    expect(end()).toBe(true);
    expect(hears(b, a), 'after the fault').toBe('hello');

    const all = dropPackets([{ host: a, packets: [] }]);
    expect([hears(b, a), hears(c, a)], 'a has vanished').toEqual(['', '']);
    expect(all()).toBe(true);

    expect(dropPackets([{ host: a, packets: ['-s', b.address] }])(), 'a fault that nobody met').toBe(false);
  });

  test('torture keeps its promises over a network that parts, and leaves no host behind', { timeout: 120_000 }, () => {
    const args = [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'main.ts'),
      'redlock',
      '--for',
      '20',
      '--json',
    ];
    const { stdout, stderr, pid } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stdout, stderr).toMatch(/^\{/);
    const { outcome, broken, faults } = JSON.parse(stdout);
    expect([outcome, broken], stderr).toEqual([expect.stringMatching(/kept|nothing/), {}]);
    const ofNetwork = NETWORK_FAULTS.filter((kind) => faults[kind]?.effective > 0);
    expect(ofNetwork.length, `of the network, in ${JSON.stringify(faults)}`).toBeGreaterThan(0);
    expect(execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })).not.toContain(`-${pid}-`);
  });
});

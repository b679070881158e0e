import { execFileSync } from 'node:child_process';
import { missing, program } from '../kit/programs.ts';

/** One of the networks that RFC 1918 leaves to everybody. It exists only inside of the namespaces. */
export const NET = '10.213.0';
/** The chain of packets that a fault drops. It is in the way of what comes in, and of what goes out. */
const CHAIN = 'holdfast';

/** Of the names of namespaces, with the pid of the process that made them. */
const PREFIX = 'holdfast-hosts-';

const ip = (...args: string[]): string =>
  execFileSync(program('hosts', 'ip'), args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Why this process cannot make hosts; undefined if it can. */
export function whyNoHosts(): string | undefined {
  const absent = missing('hosts');
  if (absent) return absent.message;
  const probe = `${PREFIX}${process.pid}-probe`;
  try {
    ip('netns', 'add', probe);
    tables([program('hosts', 'ip'), 'netns', 'exec', probe], '-L');
    ip('netns', 'del', probe);
    return undefined;
  } catch (error) {
    return `this system lets it make no network namespace: ${(error as Error).message.trim()}`;
  }
}

/** Removes what runs left behind that were killed. */
function removeOld(): void {
  for (const [name = ''] of ip('netns', 'list').matchAll(new RegExp(`${PREFIX}(\\d+)-\\S+`, 'g'))) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0]);
    try {
      process.kill(pid, 0);
    } catch {
      ip('netns', 'del', name);
    }
  }
}

/** One computer: a network namespace, joined to the others by a virtual cable and a switch. */
export interface Host {
  readonly name: string;
  readonly address: string;
  /** The command that runs another one there. */
  readonly command: readonly string[];
}

/** Computers on a network of their own that leads nowhere else. Only root may make one. */
export class HostNetwork {
  readonly hosts: readonly Host[];

  private constructor(hosts: readonly Host[]) {
    this.hosts = hosts;
  }

  /** The network that the process `pid` made, as a process sees it that runs on one of its hosts. */
  static of(pid: number, names: readonly string[]): HostNetwork {
    return new HostNetwork(
      names.map((name, i) => ({
        name,
        address: `${NET}.${i + 1}`,
        command: [program('hosts', 'ip'), 'netns', 'exec', `${PREFIX}${pid}-${name}`],
      })),
    );
  }

  static create(names: readonly string[]): HostNetwork {
    removeOld();
    const network = HostNetwork.of(process.pid, names);
    const space = (name: string): string => `${PREFIX}${process.pid}-${name}`;
    const hub = space('switch');
    ip('netns', 'add', hub);
    ip('-n', hub, 'link', 'add', 'switch', 'type', 'bridge');
    ip('-n', hub, 'link', 'set', 'switch', 'up');
    for (const [i, { name, address, command }] of network.hosts.entries()) {
      ip('netns', 'add', space(name));
      ip('-n', hub, 'link', 'add', `port${i}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space(name));
      ip('-n', hub, 'link', 'set', `port${i}`, 'master', 'switch', 'up');
      ip('-n', space(name), 'address', 'add', `${address}/24`, 'dev', 'eth0');
      ip('-n', space(name), 'link', 'set', 'lo', 'up');
      ip('-n', space(name), 'link', 'set', 'eth0', 'up');
      for (const args of [
        ['-N', CHAIN],
        ['-A', 'INPUT', '-i', 'eth0', '-j', CHAIN],
        ['-A', 'OUTPUT', '-o', 'eth0', '-j', CHAIN],
      ])
        tables(command, ...args);
    }
    return network;
  }

  /** Those whose name begins so. */
  named(prefix: string): readonly Host[] {
    return this.hosts.filter(({ name }) => name.startsWith(prefix));
  }

  /** Removes the namespaces that this process made, whose processes have ended. */
  remove(): void {
    for (const name of ['switch', ...this.hosts.map((host) => host.name)])
      ip('netns', 'del', `${PREFIX}${process.pid}-${name}`);
  }
}

function tables([file, ...command]: readonly string[], ...args: string[]): string {
  return execFileSync(file!, [...command, program('hosts', 'iptables'), '-w', ...args], {
    ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
  });
}

/** One rule of a fault: what `host` drops, in the words of iptables. */
export interface Drop {
  readonly host: Host;
  readonly packets: readonly string[];
}

/** Drops packets without a word, from now on. @returns what ends it, and tells whether a packet was dropped */
export function dropPackets(drops: readonly Drop[]): () => boolean {
  const rules = Map.groupBy(drops, ({ host }) => host);
  // All rules of a host by one call: the process that judges stands still for each.
  for (const [{ command }, some] of rules) {
    const lines = some.map(({ packets }) => ['-A', CHAIN, ...packets, '-j', 'DROP'].join(' '));
    const [file, ...args] = [...command, program('hosts', 'iptables-restore'), '--wait', '--noflush'];
    execFileSync(file!, args, { input: ['*filter', ...lines, 'COMMIT', ''].join('\n') });
  }
  return () => {
    let dropped = 0;
    for (const { command } of rules.keys()) {
      for (const line of tables(command, '-L', CHAIN, '-v', '-x', '-n').split('\n').slice(2))
        dropped += Number(line.trim().split(/\s+/)[0]);
      tables(command, '-F', CHAIN);
    }
    return dropped > 0;
  };
}

import { execFileSync } from 'node:child_process';
import { program } from '../kit/programs.ts';
import { type Host, NET } from './network.ts';

const on = ({ command: [first, ...rest] }: Host, name: string, ...args: string[]): string =>
  execFileSync(first!, [...rest, program('hosts', name), ...args], { encoding: 'utf8' });

/** A connection as its host sees it. */
export interface Flow {
  readonly port: string;
  readonly peer: string;
}

/** The connections of a host that both sides have made and none has ended. */
export function flowsOf(host: Host, address: string): Flow[] {
  const lines = on(host, 'ss', '-H', '-t', '-n', 'state', 'established', 'src', address).trim().split('\n');
  return lines.filter(Boolean).map((line) => {
    const [, , mine = '', other = ''] = line.trim().split(/\s+/);
    return { port: mine.split(':').at(-1)!, peer: other.split(':')[0]! };
  });
}

/** The address by which clients find a service: one of its hosts has it beside its own. */
export class MovingAddress implements Disposable {
  readonly address = `${NET}.250`;
  readonly #neighbours: readonly Host[];
  #at: Host | undefined;

  /** @param neighbours all that may know which host has it */
  constructor(neighbours: readonly Host[]) {
    this.#neighbours = neighbours;
  }

  /** The addresses of a host now. */
  of(host: Host): string[] {
    return host === this.#at ? [host.address, this.address] : [host.address];
  }

  moveTo(host: Host): void {
    this.leave();
    on(host, 'ip', 'address', 'add', `${this.address}/24`, 'dev', 'eth0');
    this.#at = host;
    // What a gratuitous ARP brings about.
    for (const each of this.#neighbours) on(each, 'ip', 'neighbour', 'flush', 'to', this.address);
  }

  /** No host has it then. @returns how many connections were open there */
  leave(): number {
    const host = this.#at;
    if (!host) return 0;
    const open = flowsOf(host, this.address).length;
    on(host, 'ip', 'address', 'del', `${this.address}/24`, 'dev', 'eth0');
    this.#at = undefined;
    return open;
  }

  [Symbol.dispose](): void {
    this.leave();
  }
}

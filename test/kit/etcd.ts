import type { Certificate } from './certificates.ts';
import { exchange, freePorts, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan, Servers } from './server.ts';

/** Flags of etcd without the dashes. */
export type EtcdSettings = Readonly<Record<string, string>>;

/** Where a member listens for clients and for the other members. */
export interface EtcdAddress {
  readonly host: string;
  readonly client: number;
  readonly peer: number;
}

async function plans(members: number, settings: EtcdSettings, certificate?: Certificate): Promise<ServerPlan[]> {
  const [clients, peers] = [await freePorts(members), await freePorts(members)];
  // Where it says how it is, without TLS.
  const health = certificate ? await freePorts(members) : clients;
  const addresses = clients.map((client, i) => ({ host: HOST, client, peer: peers[i]! }));
  return etcdPlans(addresses, settings, health, certificate);
}

/** The members of one cluster. @param health the ports at which each says how it is, without TLS */
export function etcdPlans(
  addresses: readonly EtcdAddress[],
  settings: EtcdSettings = {},
  health: readonly number[] = addresses.map(({ client }) => client),
  certificate?: Certificate,
): ServerPlan[] {
  const peers = addresses.map(({ host, peer }) => `http://${host}:${peer}`);
  return addresses.map(({ host, client: port }, index) => {
    const client = `${certificate ? 'https' : 'http'}://${host}:${port}`;
    const flags: EtcdSettings = {
      name: `n${index}`,
      'log-level': 'warn',
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peers[index]!,
      'initial-advertise-peer-urls': peers[index]!,
      'initial-cluster': peers.map((peer, member) => `n${member}=${peer}`).join(','),
      'initial-cluster-state': 'new',
      'heartbeat-interval': '50',
      // Also the least lease: 1.5 times this, in whole seconds.
      'election-timeout': '500',
      ...(certificate && {
        'cert-file': certificate.cert,
        'key-file': certificate.key,
        'listen-metrics-urls': `http://${host}:${health[index]}`,
      }),
      ...settings,
    };
    return {
      name: 'etcd',
      port,
      url: `etcd://${host}:${port}`,
      command: program('etcd', 'etcd'),
      args: (data) => ['--data-dir', data, ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])],
      ready: async () =>
        /"health":"?true/.test(
          await exchange(health[index]!, 'GET /health HTTP/1.0\r\n\r\n', undefined, undefined, host),
        ),
    };
  });
}

export async function startEtcd(settings: EtcdSettings = {}, certificate?: Certificate): Promise<Server> {
  return Server.start((await plans(1, settings, certificate))[0]!);
}

/** Members of one cluster. */
export async function startEtcdMembers(count = 3, settings: EtcdSettings = {}): Promise<Servers> {
  return Servers.start('etcd', await plans(count, settings));
}

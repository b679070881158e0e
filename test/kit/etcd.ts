import type { Certificate } from './certificates.ts';
import { exchange, freePorts, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan, Servers } from './server.ts';

/** Flags of etcd without the dashes. */
export type EtcdSettings = Readonly<Record<string, string>>;

async function plans(members: number, settings: EtcdSettings, certificate?: Certificate): Promise<ServerPlan[]> {
  const clients = await freePorts(members);
  // Where it says how it is, without TLS.
  const health = certificate ? await freePorts(members) : clients;
  const peers = (await freePorts(members)).map((port) => `http://${HOST}:${port}`);
  return clients.map((port, index) => {
    const client = `${certificate ? 'https' : 'http'}://${HOST}:${port}`;
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
        'listen-metrics-urls': `http://${HOST}:${health[index]}`,
      }),
      ...settings,
    };
    return {
      name: 'etcd',
      port,
      url: `etcd://${HOST}:${port}`,
      command: program('etcd', 'etcd'),
      args: (data) => ['--data-dir', data, ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])],
      ready: async () => /"health":"?true/.test(await exchange(health[index]!, 'GET /health HTTP/1.0\r\n\r\n')),
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

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exchange, freePorts, HOST } from './net.ts';
import { program } from './programs.ts';
import { Server, type ServerPlan, Servers } from './server.ts';

/** Lines of zoo.cfg. */
export type ZookeeperSettings = Readonly<Record<string, string>>;

async function plans(
  members: number,
  settings: ZookeeperSettings,
  jvm?: (member: number) => readonly string[],
): Promise<ServerPlan[]> {
  const [clients, links] = [await freePorts(members), await freePorts(members * 2)];
  const addresses = clients.map((client, n) => ({ host: HOST, client, links: [links[2 * n]!, links[2 * n + 1]!] }));
  return zookeeperPlans(addresses, settings, jvm);
}

/** Where a member listens for clients, and at two ports for the other members. */
export interface ZookeeperAddress {
  readonly host: string;
  readonly client: number;
  readonly links: readonly number[];
}

/** The members of one ensemble. `jvm`: flags of each member's JVM. */
export function zookeeperPlans(
  addresses: readonly ZookeeperAddress[],
  settings: ZookeeperSettings = {},
  jvm: (member: number) => readonly string[] = () => [],
): ServerPlan[] {
  const ensemble = addresses.map(({ host, links }, n) => [`server.${n + 1}`, `${host}:${links.join(':')}`] as const);
  return addresses.map(({ host, client: port }, index) => {
    const lines = (data: string): ZookeeperSettings => ({
      dataDir: data,
      clientPort: `${port}`,
      clientPortAddress: host,
      // Sessions expire in steps of this.
      tickTime: '1000',
      initLimit: '10',
      syncLimit: '5',
      minSessionTimeout: '500',
      maxSessionTimeout: '60000',
      maxClientCnxns: '0',
      // Or every member wants port 8080.
      'admin.enableServer': 'false',
      '4lw.commands.whitelist': '*',
      ...(addresses.length > 1 ? Object.fromEntries(ensemble) : {}),
      ...settings,
    });
    return {
      name: 'zookeeper',
      port,
      url: `zookeeper://${host}:${port}`,
      command: program('zookeeper', 'java'),
      args: (data) => [
        ...['-Xms32m', '-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
        ...jvm(index),
        ...['-Dzookeeper.admin.enableServer=false', '-cp', zookeeperClassPath()],
        ...['org.apache.zookeeper.server.quorum.QuorumPeerMain', join(data, 'zoo.cfg')],
      ],
      prepare(data) {
        const text = Object.entries(lines(data)).map(([name, value]) => `${name}=${value}\n`);
        writeFileSync(join(data, 'zoo.cfg'), text.join(''));
        writeFileSync(join(data, 'myid'), `${index + 1}\n`);
      },
      ready: async () =>
        /Mode: (standalone|leader|follower)/.test(await exchange(port, 'srvr', undefined, undefined, host)),
      within: 60_000,
    };
  });
}

/** Of the system's jar, which finds its libraries by itself, unless ZOOKEEPER_CLASSPATH names another. */
export const zookeeperClassPath = (): string =>
  process.env.ZOOKEEPER_CLASSPATH || program('zookeeper', '/usr/share/java/zookeeper.jar');

export async function startZookeeper(settings: ZookeeperSettings = {}): Promise<Server> {
  return Server.start((await plans(1, settings))[0]!);
}

/** Members of one ensemble. `jvm`: flags of each member's JVM. */
export async function startZookeeperMembers(
  count = 3,
  settings: ZookeeperSettings = {},
  jvm?: (member: number) => readonly string[],
): Promise<Servers> {
  return Servers.start('zookeeper', await plans(count, settings, jvm));
}

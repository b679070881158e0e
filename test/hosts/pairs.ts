import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { inMysql, inPostgres } from '../kit/fail-over.ts';
import { mariadbPlanAt } from '../kit/mariadb.ts';
import { copyFrom, postgresPlan } from '../kit/postgres.ts';
import type { Server, ServerPlan } from '../kit/server.ts';
import { until } from '../kit/wait.ts';
import { MovingAddress } from './moving.ts';
import type { Host } from './network.ts';
import { onHost, type Topology } from './sites.ts';

const POSTGRES = 5432;
const MARIADB = 3306;

/** A server that others follow, and one that follows: what an engine has to say for an address that moves between them. */
interface Kind {
  url(address: string): string;
  /** @param primary tells which host has what the other one copies */
  plan(host: Host, number: number, primary: () => Host): ServerPlan;
  /** The second begins to follow the first. From then on the first waits for it before it answers, if `waits`. */
  follow(primary: Host, standby: Host, waits: boolean): Promise<void>;
  /** It follows no more, has applied all that it received, and waits for nobody. */
  promote(standby: Host): Promise<void>;
}

/**
 * Two servers and the address of the one that is written. A fail-over moves the address, without a word to the server that had it; that one
 * comes back later, as a new copy of the other.
 */
export function pair(kind: Kind, hosts: readonly Host[], neighbours: readonly Host[], waits: boolean): Topology {
  const service = new MovingAddress(neighbours);
  let [primary, standby] = hosts as [Host, Host];
  let servers: ReadonlyMap<Host, Server>;
  return {
    service,
    url: kind.url(service.address),
    plans: hosts.map((host, i) => [
      onHost(
        host,
        kind.plan(host, i + 1, () => primary),
      ),
    ]),
    async join(running) {
      servers = new Map(hosts.map((host, i) => [host, running[i]!]));
      await kind.follow(primary, standby, waits);
      service.moveTo(primary);
    },
    async failOver(pause) {
      const open = service.leave();
      await pause();
      await kind.promote(standby);
      service.moveTo(standby);
      [primary, standby] = [standby, primary];
      await servers.get(standby)!.restart({ wipe: true });
      await kind.follow(primary, standby, waits);
      return open > 0;
    },
  };
}

const postgresAt = (host: Host): { url: string } => ({
  url: `postgres://postgres@${host.address}:${POSTGRES}/postgres`,
});
const waitFor = (whom: string): string[] => [
  `ALTER SYSTEM SET synchronous_standby_names = '${whom}'`,
  'SELECT pg_reload_conf()',
];

/** Streaming replication. A commit that waits is on the disk of the standby when it is answered. */
export const POSTGRES_PAIR: Kind = {
  url: (address) => `postgres://postgres@${address}:${POSTGRES}/postgres`,
  plan(host, _number, primary) {
    const { address } = host;
    const own = postgresPlan({ host: address, port: POSTGRES }, { listen_addresses: '*', fsync: 'off' });
    return {
      ...own,
      async prepare(data, folder) {
        if (host !== primary()) return copyFrom({ host: primary().address, port: POSTGRES }, data);
        await own.prepare!(data, folder);
        const everybody = 'host all all samenet trust\nhost replication all samenet trust\n';
        appendFileSync(join(data, 'pg_hba.conf'), everybody);
      },
    };
  },
  async follow(primary, _standby, waits) {
    if (waits) await inPostgres(postgresAt(primary), ...waitFor('*'));
    await until('the standby has all', async () => {
      const [row] = await inPostgres(postgresAt(primary), 'SELECT state, sync_state FROM pg_stat_replication');
      const { state, sync_state } = (row ?? {}) as Record<string, string>;
      return state === 'streaming' && (!waits || sync_state === 'sync');
    });
  },
  async promote(standby) {
    await inPostgres(postgresAt(standby), 'SELECT pg_promote()', ...waitFor(''));
  },
};

const mariadbAt = (host: Host): { url: string } => ({ url: `mysql://root@${host.address}:${MARIADB}/` });
const waiting = (on: 'ON' | 'OFF'): string => `SET GLOBAL rpl_semi_sync_master_enabled = ${on}`;

/** Waits until a replica has applied the binary log of another server as far as that is now. */
async function catchUp(replica: Host, primary: Host): Promise<void> {
  const [at] = (await inMysql(mariadbAt(primary), 'SHOW MASTER STATUS')) as [{ File: string; Position: number }];
  const wait = `SELECT MASTER_POS_WAIT('${at.File}', ${at.Position}, 30) AS events`;
  const [row] = (await inMysql(mariadbAt(replica), wait)) as [{ events: number | null }];
  if (row.events === null || row.events < 0) throw new Error(`${replica.name} does not follow ${primary.name}`);
}

/** Whether a replica has applied all that it received. */
async function hasApplied(replica: Host): Promise<boolean> {
  const [row] = (await inMysql(mariadbAt(replica), 'SHOW SLAVE STATUS')) as [Record<string, unknown>];
  if (row.Slave_SQL_Running !== 'Yes') throw new Error(`${replica.name} applies nothing: ${row.Last_SQL_Error}`);
  return row.Master_Log_File === row.Relay_Master_Log_File && row.Read_Master_Log_Pos === row.Exec_Master_Log_Pos;
}

/** A server leaves out of the log of another what it wrote itself under the same number, so each copy has a number of its own. */
const FIRST_COPY = 100;
let numbers = 0;

/** Semi-synchronous replication: a commit that waits is in the log of the replica before it is seen by anybody. */
export const MARIADB_PAIR: Kind = {
  url: (address) => `mysql://root@${address}:${MARIADB}/holdfast`,
  plan: (host, number) =>
    mariadbPlanAt(host.address, MARIADB, {
      ...{ 'bind-address': '0.0.0.0', 'server-id': `${number}`, 'innodb-flush-log-at-trx-commit': '2' },
      ...{ 'log-bin': 'binlog', 'log-slave-updates': 'ON', 'binlog-format': 'ROW', 'slave-net-timeout': '2' },
      ...{ 'rpl-semi-sync-slave-enabled': 'ON', 'rpl-semi-sync-master-wait-point': 'AFTER_SYNC' },
      // It never gives up waiting.
      'rpl-semi-sync-master-timeout': `${3_600_000}`,
    }),
  async follow(primary, standby, waits) {
    // Its log has all that it ever had, so a new server needs no copy.
    const begin = `MASTER_LOG_FILE='binlog.000001', MASTER_LOG_POS=4`;
    const again = 'MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=1';
    const change = `CHANGE MASTER TO MASTER_HOST='${primary.address}', MASTER_USER='root', ${begin}, ${again}`;
    await inMysql(mariadbAt(standby), `SET GLOBAL server_id = ${FIRST_COPY + ++numbers}`, change, 'START SLAVE');
    await catchUp(standby, primary);
    if (waits) await inMysql(mariadbAt(primary), waiting('ON'));
  },
  async promote(standby) {
    await inMysql(mariadbAt(standby), 'STOP SLAVE IO_THREAD');
    await until('the replica has applied all', () => hasApplied(standby));
    await inMysql(mariadbAt(standby), 'STOP SLAVE', 'RESET SLAVE ALL', waiting('OFF'));
  },
};

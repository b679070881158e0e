import { invalid, shown } from '../../core/index.ts';
import { CONNECT_LIMIT_MS, driver, type EngineUrl, openEngine } from '../engine.ts';
import { TLS_PARAMS, tlsOf } from '../tls.ts';
import { type Address, endpoints, pick, unreachable } from '../url.ts';

/** The bucket if the address names none. */
const BUCKET = 'holdfast';

/** The pauses before the client reconnects, ms. The client's default is two seconds: a lease shorter than that would expire during the pause. */
const RECONNECT = { reconnectTimeWait: 100, reconnectJitter: 50, reconnectJitterTLS: 50 };

export const natsUrl: EngineUrl = {
  schemes: ['nats'],
  example: 'nats://h1,h2,h3/bucket?replicas=3',
  ports: { 4222: 'nats' },
  denials: [/^authorization violation/i],
  params: ['prefix', 'replicas', 'synced', ...TLS_PARAMS],
  async open(address) {
    const [replicas, synced] = [replicasOf(address), syncOption(address)];
    const [{ connect }, { Kvm }] = [await driver('@nats-io/transport-node'), await driver('@nats-io/kv')];
    const { nats } = await import('../../backends/nats/index.ts');
    const { user, password: pass, path } = address;
    const tls = tlsOf(address);
    try {
      const connection = await connect({
        servers: endpoints(address, 4222),
        timeout: CONNECT_LIMIT_MS,
        maxReconnectAttempts: -1,
        ...RECONNECT,
        ...(user !== undefined && { user, pass: pass ?? '' }),
        ...(tls && { tls: texts(tls) }),
      });
      const end = (): Promise<void> => connection.close();
      try {
        const bucket = await new Kvm(connection).create(path || BUCKET, replicas);
        return openEngine(address, nats(bucket, { ...synced, ...pick(address, 'prefix') }), end);
      } catch (error) {
        await end();
        throw error;
      }
    } catch (error) {
      throw unreachable(address, error);
    }
  },
};

const texts = (tls: object): object =>
  Object.fromEntries(Object.entries(tls).map(([name, value]) => [name, String(value)]));

/** The replicas of a bucket that is created here. A bucket that exists stays as it is. */
function replicasOf({ params }: Address): { replicas?: number } {
  const given = params.get('replicas');
  if (given === null) return {};
  if (!/^[1-5]$/.test(given)) throw invalid(`replicas is ${shown(given)}; it must be from 1 to 5`);
  return { replicas: Number(given) };
}

function syncOption({ params }: Address): { synced?: boolean } {
  const given = params.get('synced');
  if (given !== null && given !== 'true' && given !== 'false') throw invalid('synced must be true or false');
  return given === null ? {} : { synced: given === 'true' };
}

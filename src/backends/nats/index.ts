export { type NatsOptions, nats } from './backend.ts';
export type { NatsEntry, NatsKv } from './client.ts';

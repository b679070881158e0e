export { type NatsOptions, nats } from './backend.ts';
export type { NatsEntry, NatsHearing, NatsKv } from './client.ts';

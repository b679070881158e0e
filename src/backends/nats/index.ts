export { type NatsEntry, type NatsKv, type NatsOptions, nats } from './backend.ts';

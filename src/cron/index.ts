export { type CronerJob, cronerTask } from './croner.ts';
export { type NodeCronContext, type NodeCronCoordinator, nodeCronCoordinator, nodeCronTask } from './node-cron.ts';
export type { TaskOptions } from './task.ts';

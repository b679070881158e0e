export { OnceCron, type OnceCronDecorator, type OnceCronOptions } from './once-cron.ts';
